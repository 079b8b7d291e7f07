// Command personas measures, over conversations with labelled questions, whether recall ranks current statements before outdated ones.
//
//	go run ./examples/personas [-pairs] [-judge change|none|labels] [-embedder e5-bge|static] FILE...
//
// The folder data has two such files (CC0, written for this project). With -judge labels the labels of the conversations answer in place of
// a language model.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/embed/static"
	"github.com/contextmem/contextmem/eval/persona"
	"github.com/contextmem/contextmem/judge"
	"github.com/contextmem/contextmem/judge/llm"
	change "github.com/contextmem/contextmem/models/change-multilingual"
	both "github.com/contextmem/contextmem/models/e5-bge"
)

func main() {
	switch _, err := run(context.Background(), os.Args[1:], os.Stdout); {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "personas:", err)
		os.Exit(1)
	}
}

// run measures according to args, writes tables to w and returns the measures over all questions.
func run(ctx context.Context, args []string, w io.Writer) (sum persona.Summary, err error) {
	fs := flag.NewFlagSet("personas", flag.ContinueOnError)
	pairs := fs.Bool("pairs", false, "a memory for each message of the user with its answer; else one for each message")
	by := fs.String("judge", "change", "what says which statement replaces which: change, none, or labels in place of a language model")
	embedder := fs.String("embedder", "e5-bge", "e5-bge or static")
	mode := fs.String("mode", "fast", "fast, thinking or auto")
	fails := fs.Bool("fails", false, "print the questions with something stale first")
	fs.Usage = func() {
		fmt.Fprintln(fs.Output(), "Usage: personas [flags] FILE...\nA file has conversations of one person with labelled questions, such as data/p1a.json beside the program.")
		fs.PrintDefaults()
	}
	if err := fs.Parse(args); err != nil {
		return sum, err
	}
	var all []*persona.Persona
	for _, name := range fs.Args() {
		p, err := persona.Load(name)
		if err != nil {
			return sum, err
		}
		all = append(all, p)
	}
	if len(all) == 0 {
		return sum, errors.New("name one or more files")
	}
	o := &contextmem.Options{Reranker: contextmem.NoReranker}
	switch *embedder {
	case "e5-bge":
		if o.Embedder, err = both.New(); err != nil {
			return sum, err
		}
	case "static":
		o.Embedder = static.New()
	default:
		return sum, fmt.Errorf("-embedder: no model is called %q", *embedder)
	}
	small, err := change.New()
	if err != nil {
		return sum, err
	}
	switch *by {
	case "change":
		o.Judge = small
	case "none":
		o.Judge = judge.None
	case "labels":
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return sum, err
		}
		srv := &http.Server{Handler: persona.Labels(all...), ReadHeaderTimeout: time.Minute}
		done := make(chan error, 1)
		go func() { done <- srv.Serve(l) }()
		defer func() { _ = srv.Close(); <-done }()
		if o.Judge, err = llm.New(llm.Config{BaseURL: "http://" + l.Addr().String() + "/v1", Model: "labels", Fallback: small}); err != nil {
			return sum, err
		}
	default:
		return sum, fmt.Errorf("-judge: change, none or labels, not %q", *by)
	}
	dir, err := os.MkdirTemp("", "contextmem-personas-")
	if err != nil {
		return sum, err
	}
	defer os.RemoveAll(dir)
	svc, err := contextmem.Open(ctx, dir, o)
	if err != nil {
		return sum, err
	}
	defer svc.Close()
	if _, err := svc.EnsureTenant(ctx, contextmem.TenantSpec{ID: "personas"}); err != nil {
		return sum, err
	}
	var answers []persona.Answer
	var categories []string
	for _, p := range all {
		some, err := persona.Run(ctx, svc.Tenant("personas").Sub(p.ID), p, *pairs, contextmem.Mode(*mode))
		if err != nil {
			return sum, fmt.Errorf("%s: %w", p.ID, err)
		}
		answers = append(answers, some...)
		if err := persona.Summarise(some).Print(w, p.ID); err != nil {
			return sum, err
		}
		for _, a := range some {
			if c := a.Question.Category; !slices.Contains(categories, c) {
				categories = append(categories, c)
			}
			if *fails && a.StaleFirst {
				if _, err := fmt.Fprintf(w, "  %s %s %q wants %v, stale %v, got %v\n", a.Question.Category, a.Question.ID, a.Question.Text, a.Question.Relevant, a.Question.Stale, a.Found[:min(5, len(a.Found))]); err != nil {
					return sum, err
				}
			}
		}
	}
	for _, c := range categories {
		if err := persona.Summarise(answers, c).Print(w, c); err != nil {
			return sum, err
		}
	}
	if err := persona.Summarise(answers, "update", "retract").Print(w, "update and retract"); err != nil {
		return sum, err
	}
	sum = persona.Summarise(answers)
	return sum, sum.Print(w, "all")
}
