// Command eval measures recall on labelled sets: metrics with confidence
// intervals, latency, and a paired comparison of two runs.
//
//	go run ./examples/eval questions.json                  # fast mode, default settings
//	go run ./examples/eval -mode thinking -out t.json questions.json.gz
//	go run ./examples/eval -compare a.json b.json          # paired test of two saved runs
//	go run ./examples/eval -url http://127.0.0.1:8080 -key KEY questions.json
//
// The format of a set is described in package eval.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/embed/static"
	"github.com/contextmem/contextmem/eval"
	bge "github.com/contextmem/contextmem/models/bge-small-en"
	both "github.com/contextmem/contextmem/models/e5-bge"
	e5 "github.com/contextmem/contextmem/models/multilingual-e5-small"
	reranker "github.com/contextmem/contextmem/models/reranker-en"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	switch err := run(ctx, os.Args[1:]); {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "eval:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	fs := flag.NewFlagSet("eval", flag.ContinueOnError)
	mode := fs.String("mode", "fast", "fast, thinking or auto")
	alpha := fs.String("alpha", "", "0 to 1, or auto; empty: the default")
	out := fs.String("out", "", "save the answers to this file")
	model := fs.String("embedder", "e5-bge", "e5-bge, e5 (multilingual-e5-small), bge (bge-small-en) or static (static-en-128)")
	rerank := fs.String("reranker", "reranker-en", "reranker-en or none, in modes thinking and auto")
	dir := fs.String("dir", "", "directory of the deployment; empty: a temporary one")
	url := fs.String("url", "", "measure a server instead")
	key := fs.String("key", "", "API key of the server")
	infer := fs.Bool("infer", false, "have memories inferred from, in the process: standing instructions count in R@10+I")
	cats := fs.Bool("cats", false, "a row for each category")
	queries := fs.Int("queries", 0, "questions of each group; 0: all")
	compare := fs.Bool("compare", false, "compare two saved runs")
	fs.Usage = func() {
		fmt.Fprintln(fs.Output(), "Usage: eval [flags] SET...\n       eval -compare OLD NEW\nA set is a JSON file of documents and labelled questions, such as data/tiny.json beside the program.")
		fs.PrintDefaults()
	}
	if err := fs.Parse(args); err != nil {
		return err
	}
	if *compare {
		if fs.NArg() != 2 {
			return errors.New("-compare needs two files")
		}
		return diff(fs.Arg(0), fs.Arg(1))
	}
	if fs.NArg() == 0 {
		return errors.New("name one or more sets")
	}
	var opts contextmem.Options
	if err := choose(&opts, *model, *rerank); err != nil {
		return err
	}
	q := contextmem.Recall{Mode: contextmem.Mode(*mode)}
	switch *alpha {
	case "":
	case "auto":
		q.Alpha = contextmem.AutoAlpha()
	default:
		v, err := strconv.ParseFloat(*alpha, 64)
		if err != nil {
			return fmt.Errorf("-alpha: %w", err)
		}
		q.Alpha = contextmem.FixedAlpha(v)
	}
	var reports []*eval.Report
	for i, name := range fs.Args() {
		set, err := eval.Load(name)
		if err != nil {
			return err
		}
		rep, err := measure(ctx, set, fmt.Sprintf("eval-%d-%d", os.Getpid(), i), &opts, *dir, *url, *key, q, *infer, *alpha, eval.Options{MaxQueries: *queries})
		if err != nil {
			return err
		}
		if err := rep.Print(os.Stdout, *cats); err != nil {
			return err
		}
		reports = append(reports, rep)
	}
	if *out == "" {
		return nil
	}
	b, err := json.Marshal(reports)
	if err != nil {
		return err
	}
	return os.WriteFile(*out, b, 0o644)
}

// choose sets the models of the options.
func choose(o *contextmem.Options, embedder, rerank string) (err error) {
	switch embedder {
	case "e5-bge":
		o.Embedder, err = both.New()
	case "e5":
		o.Embedder, err = e5.New()
	case "bge":
		o.Embedder, err = bge.New()
	case "static":
		o.Embedder = static.New()
	default:
		err = fmt.Errorf("-embedder: no model is called %q", embedder)
	}
	if err != nil {
		return err
	}
	switch rerank {
	case "reranker-en":
		o.Reranker, err = reranker.New()
	case "none":
		o.Reranker = contextmem.NoReranker
	default:
		err = fmt.Errorf("-reranker: no model is called %q", rerank)
	}
	return err
}

func measure(ctx context.Context, set *eval.Set, tenant string, opts *contextmem.Options, dir, url, key string, q contextmem.Recall, infer bool, alpha string, o eval.Options) (*eval.Report, error) {
	if url != "" {
		t := &eval.Remote{URL: url, Key: key, Tenant: tenant, Mode: string(q.Mode), Alpha: alpha}
		if err := t.Create(ctx); err != nil {
			return nil, err
		}
		rep, err := eval.Run(ctx, t, set, o)
		return rep, errors.Join(err, t.Drop(context.WithoutCancel(ctx)))
	}
	if dir == "" {
		tmp, err := os.MkdirTemp("", "contextmem-eval-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(tmp)
		dir = tmp
	}
	svc, err := contextmem.Open(ctx, dir, opts)
	if err != nil {
		return nil, err
	}
	defer svc.Close()
	if _, err := svc.CreateTenant(ctx, contextmem.TenantSpec{ID: tenant}); err != nil {
		return nil, err
	}
	tn := svc.Tenant(tenant)
	if err := tn.WaitReady(ctx); err != nil {
		return nil, err
	}
	return eval.Run(ctx, &eval.InProcess{Tenant: tn, Recall: q, Infer: infer}, set, o)
}

func diff(a, b string) error {
	x, err := load(a)
	if err != nil {
		return err
	}
	y, err := load(b)
	if err != nil {
		return err
	}
	for i := range min(len(x), len(y)) {
		fmt.Printf("%s: second minus first\n", x[i].Set)
		for _, d := range eval.Compare(x[i], y[i]) {
			fmt.Printf("  %-8s %+.4f [%+.4f %+.4f]  p = %.4f\n", d.Metric, d.Mean, d.Low, d.High, d.P)
		}
	}
	return nil
}

func load(name string) ([]*eval.Report, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var rs []*eval.Report
	if err := json.Unmarshal(b, &rs); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return rs, nil
}
