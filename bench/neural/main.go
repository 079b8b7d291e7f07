//go:build unix

// Command neural is contextmem's side of compare.py: it loads a model and answers
// requests line by line with vectors or scores and the processor time they took.
//
//	neural embed|rerank DIRECTORY
//
// A request is {"query": ..., "texts": [...], "repeat": n}; query is for rerank alone. The
// answer is {"seconds": per repetition, "vectors": [[...]]} or {"seconds": ..., "scores": [...]}.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	embed "github.com/contextmem/contextmem/embed/neural"
	rerank "github.com/contextmem/contextmem/rerank/neural"
)

type request struct {
	Query  string   `json:"query"`
	Texts  []string `json:"texts"`
	Repeat int      `json:"repeat"`
}

type answer struct {
	Seconds float64     `json:"seconds"`
	Vectors [][]float32 `json:"vectors,omitempty"`
	Scores  []float64   `json:"scores,omitempty"`
}

// model answers the texts of a request once.
type model func(context.Context, request) (answer, error)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "neural:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	if len(args) != 2 {
		return errors.New("usage: neural embed|rerank DIRECTORY")
	}
	m, err := load(args[0], args[1])
	if err != nil {
		return err
	}
	requests, answers := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var r request
		if err := requests.Decode(&r); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		a, err := timed(ctx, m, r)
		if err != nil {
			return err
		}
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
}

func load(kind, dir string) (model, error) {
	switch kind {
	case "embed":
		e, err := embed.Load(dir, nil)
		return func(ctx context.Context, r request) (answer, error) {
			vs, err := e.EmbedDocuments(ctx, r.Texts)
			return answer{Vectors: vs}, err
		}, err
	case "rerank":
		x, err := rerank.Load(dir, &rerank.Options{Threads: 1})
		return func(ctx context.Context, r request) (answer, error) {
			scores, err := x.Rerank(ctx, r.Query, r.Texts)
			return answer{Scores: scores}, err
		}, err
	}
	return nil, fmt.Errorf("%q is neither embed nor rerank", kind)
}

// timed answers r r.Repeat times and measures the processor time.
func timed(ctx context.Context, m model, r request) (a answer, err error) {
	n := max(1, r.Repeat)
	start, err := processorTime()
	if err != nil {
		return a, err
	}
	for range n {
		if a, err = m(ctx, r); err != nil {
			return a, err
		}
	}
	end, err := processorTime()
	a.Seconds = (end - start).Seconds() / float64(n)
	return a, err
}

// processorTime returns the processor time of the process, in user and kernel mode.
func processorTime() (time.Duration, error) {
	var u unix.Rusage
	err := unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), err
}
