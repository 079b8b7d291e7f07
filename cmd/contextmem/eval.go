package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/eval"
)

func (a *app) evalCmd() *cobra.Command {
	var mode, out string
	var queries int
	var cats, compare bool
	c := &cobra.Command{Use: "eval FILE...", Short: "Measure recall on labelled questions", Args: takes(1, anyNumber),
		Long: `Eval puts the documents of labelled sets into a temporary directory, or a tenant of the server of --url that it deletes again, asks their
questions and prints how often the right ones were found. Package eval describes the format of a set.`,
		Example: `  contextmem eval questions.json --embedder static --output a.json
  contextmem eval --compare a.json b.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if compare {
				if len(args) != 2 {
					return usage("--compare wants two files that --output wrote")
				}
				return a.compare(args[0], args[1])
			}
			if err := check("mode", mode, "fast", "thinking", "auto"); err != nil {
				return err
			}
			var reports []*eval.Report
			for i, name := range args {
				set, err := eval.Load(name)
				if err != nil {
					return usage("%s: is no set of questions", name)
				}
				rep, err := a.measure(cmd.Context(), set, fmt.Sprintf("eval-%d-%d", os.Getpid(), i), contextmem.Mode(mode), eval.Options{MaxQueries: queries})
				if err != nil {
					return err
				}
				reports = append(reports, rep)
				if !a.asJSON {
					if err := rep.Print(a.out, cats); err != nil {
						return err
					}
				}
			}
			if a.asJSON {
				if err := a.show(reports, nil); err != nil {
					return err
				}
			}
			if out == "" {
				return nil
			}
			return whole(out, func(w io.Writer) error { return json.NewEncoder(w).Encode(reports) })
		}}
	f := c.Flags()
	f.StringVar(&mode, "mode", "fast", "fast, thinking or auto")
	f.StringVarP(&out, "output", "o", "", "file for the answers")
	f.IntVar(&queries, "queries", 0, "questions of each group; 0: all")
	f.BoolVar(&cats, "categories", false, "a row for each category")
	f.BoolVar(&compare, "compare", false, "compare two files that --output wrote, question by question")
	return c
}

func (a *app) measure(ctx context.Context, set *eval.Set, tenant string, mode contextmem.Mode, o eval.Options) (*eval.Report, error) {
	if a.url != "" {
		t := &eval.Remote{URL: a.url, Key: a.key, Tenant: tenant, Mode: string(mode)}
		if err := t.Create(ctx); err != nil {
			return nil, err
		}
		rep, err := eval.Run(ctx, t, set, o)
		return rep, errors.Join(err, t.Drop(context.WithoutCancel(ctx)))
	}
	opts, err := a.engine.options(a.streams.err)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "contextmem-eval-")
	if err != nil {
		return nil, errors.New("no temporary directory can be made")
	}
	defer os.RemoveAll(dir)
	svc, err := contextmem.Open(ctx, dir, opts)
	if err != nil {
		return nil, err
	}
	defer svc.Close()
	if _, err := svc.CreateTenant(ctx, contextmem.TenantSpec{ID: tenant}); err != nil {
		return nil, err
	}
	if err := svc.Tenant(tenant).WaitReady(ctx); err != nil {
		return nil, err
	}
	return eval.Run(ctx, &eval.InProcess{Tenant: svc.Tenant(tenant), Recall: contextmem.Recall{Mode: mode}}, set, o)
}

func (a *app) compare(first, second string) error {
	var sets [2][]*eval.Report
	for i, name := range []string{first, second} {
		b, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(b, &sets[i])
		}
		if err != nil {
			return usage("%s: is no file that --output wrote", name)
		}
	}
	if len(sets[0]) != len(sets[1]) {
		return usage("the files hold different sets")
	}
	for i := range sets[0] {
		fmt.Fprintf(a.out, "%s: second minus first\n", sets[0][i].Set)
		for _, d := range eval.Compare(sets[0][i], sets[1][i]) {
			fmt.Fprintf(a.out, "  %-8s %+.4f [%+.4f %+.4f]  p = %.4f\n", d.Metric, d.Mean, d.Low, d.High, d.P)
		}
	}
	return nil
}
