package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/contextmem/contextmem/embed/static"
)

// texts holds queries, and documents with their vectors by the default model.
type texts struct {
	v       *Vectors
	docs    []string
	queries []string
	what    string
}

func (c *Config) texts(ctx context.Context, n, queries int) (*texts, error) {
	docs, what, err := c.docs(n)
	if err != nil {
		return nil, err
	}
	model := static.New()
	t := &texts{v: &Vectors{Dim: model.Dim(), N: n, Flat: make([]float32, 0, n*model.Dim())}, docs: docs, what: what}
	for at := 0; at < n; at += Batch {
		vs, err := model.EmbedDocuments(ctx, docs[at:min(at+Batch, n)])
		if err != nil {
			return nil, err
		}
		for _, v := range vs {
			t.v.Flat = append(t.v.Flat, v...)
		}
	}
	for _, words := range Queries(c.Seed, docs, queries) {
		text := strings.Join(words, " ")
		q, err := model.EmbedQuery(ctx, text)
		if err != nil {
			return nil, err
		}
		t.queries = append(t.queries, text)
		t.v.Queries = append(t.v.Queries, q)
	}
	return t, nil
}

// hybrid searches by vector and by keywords, as a recall does before it fuses the two
// lists. It returns the rows found by vector.
func (t *texts) hybrid(ctx context.Context, l *Local, q int) ([]int, error) {
	if _, err := l.SearchKeywords(ctx, t.queries[q], Shares[0].Filter); err != nil {
		return nil, err
	}
	return l.SearchVectors(ctx, t.v.Queries[q], Shares[0].Filter)
}

// ColdOpen opens 250,000 chunks and asks one hybrid query.
func ColdOpen(ctx context.Context, c *Config) (*Report, error) {
	n := c.pick(250_000, 1000)
	t, err := c.texts(ctx, n, 50)
	if err != nil {
		return nil, err
	}
	l, _, remove, err := c.index(ctx, "open", n, t.v.Row, func(i int) string { return t.docs[i] })
	if err != nil {
		return nil, err
	}
	defer remove()
	dir := l.dir
	if err := l.Close(); err != nil {
		return nil, err
	}
	r := &Report{
		Title: fmt.Sprintf("Cold open to the first hybrid hit, %d chunks", n), Data: t.what + ", vectors of 128 dimensions by the default model.",
		Columns: []string{"files", "p50", "slowest", "CPU", "opened"},
	}
	for _, cold := range []bool{false, true} {
		var all []time.Duration
		var cpu time.Duration
		for q := range c.pick(20, 3) {
			if cold {
				if err := forget(dir); err != nil {
					return nil, err
				}
			}
			start := begin()
			l, err := OpenLocal(dir)
			if err != nil {
				return nil, err
			}
			rows, err := t.hybrid(ctx, l, q)
			wall, used := start.since()
			if err == nil && len(rows) == 0 {
				err = fmt.Errorf("query %d: nothing found", q)
			}
			if err == nil {
				err = l.Close()
			}
			if err != nil {
				return nil, err
			}
			all, cpu = append(all, wall), cpu+used
		}
		name := "in the page cache"
		if cold {
			name = "dropped from the page cache before"
		}
		p50, _ := Percentiles(all)
		r.row(name, took(p50), took(slices.Max(all)), took(cpu/time.Duration(len(all))), fmt.Sprint(len(all)))
		if !cold {
			r.target("open to the first hybrid hit, p50", true, 5, float64(p50.Microseconds())/1e3, " ms", c.Full)
		}
	}
	return r, nil
}

// forget makes the system drop its cached pages of the files below dir.
func forget(dir string) error {
	return filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := f.Sync(); err != nil {
			return err
		}
		return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
	})
}

// Million runs hybrid queries over 1,000,000 chunks with vectors by the default model.
func Million(ctx context.Context, c *Config) (*Report, error) {
	n := c.pick(1_000_000, 2000)
	t, err := c.texts(ctx, n, c.pick(500, 50))
	if err != nil {
		return nil, err
	}
	l, cpu, remove, err := c.index(ctx, "million", n, t.v.Row, func(i int) string { return t.docs[i] })
	if err != nil {
		return nil, err
	}
	defer remove()
	defer func() { _ = l.Close() }() // scratch
	if err := l.Reopen(); err != nil {
		return nil, err
	}
	if _, err := t.hybrid(ctx, l, 0); err != nil {
		return nil, err
	}
	if err := l.Settle(ctx); err != nil {
		return nil, err
	}
	truth := Exact(t.v, nil)
	r := &Report{
		Title: fmt.Sprintf("Hybrid, %d x %d", n, t.v.Dim), Data: t.what + fmt.Sprintf(", vectors by the default model, %d queries of 1 to 5 words.", len(t.queries)),
		Columns: timingColumns,
	}
	const both = "both, as recall asks the index"
	subjects := []*Subject{
		{Name: both, Truth: truth, Search: func(q int) ([]int, error) { return t.hybrid(ctx, l, q) }},
		{Name: "vectors alone", Truth: truth, Search: func(q int) ([]int, error) { return l.SearchVectors(ctx, t.v.Queries[q], Shares[0].Filter) }},
		{Name: "keywords alone", Search: func(q int) ([]int, error) { return l.SearchKeywords(ctx, t.queries[q], Shares[0].Filter) }},
	}
	times, err := c.measure(len(t.queries), c.pick(2000, 100), subjects...)
	if err != nil {
		return nil, err
	}
	for i := range times {
		r.row(times[i].cells()...)
	}
	got := named(times)[both]
	r.target("p50", true, 3, float64(got.P50.Microseconds())/1e3, " ms", c.Full)
	r.target("p99", true, 8, float64(got.P99.Microseconds())/1e3, " ms", c.Full)
	r.note("indexing, CPU s with background work: %s", cpu)
	m := MeasureMemory(l.dir)
	r.note("resident while serving: %.0f MB of mapped files, %.0f MB of heap (with the %.0f MB of rows and texts of the harness)", float64(m.Mapped)/1e6, float64(m.Heap)/1e6, float64(4*len(t.v.Flat))/1e6)
	return r, concurrency(r, subjects[0], len(t.queries), c)
}
