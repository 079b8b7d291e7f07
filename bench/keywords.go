package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/inmem"
)

// Keywords ranks 244,000 short documents by BM25 and compares with bleve and SQLite FTS5.
func Keywords(ctx context.Context, c *Config) (*Report, error) {
	docs, what, err := c.docs(c.pick(244_000, 2000))
	if err != nil {
		return nil, err
	}
	queries := Queries(c.Seed, docs, c.pick(1000, 50))
	r := &Report{
		Title:   fmt.Sprintf("BM25, top %d of %d", TopK, len(docs)),
		Data:    what + fmt.Sprintf("; %d queries of 1 to 5 words drawn from them.", len(queries)),
		Columns: append(append([]string{}, timingColumns...), "build, CPU s"),
	}
	l, cpu, remove, err := c.index(ctx, "keywords", len(docs), nil, func(i int) string { return docs[i] })
	if err != nil {
		return nil, err
	}
	defer remove()
	defer func() { _ = l.Close() }() // scratch
	texts := make([]string, len(queries))
	for i, q := range queries {
		texts[i] = strings.Join(q, " ")
	}
	subjects := []*Subject{
		{Name: localName, Search: func(q int) ([]int, error) { return l.SearchKeywords(ctx, texts[q], Shares[0].Filter) }},
	}
	builds := map[string]string{localName: cpu}
	if !c.Alone {
		others, done, err := keywordOthers(ctx, c, docs, queries, builds)
		if err != nil {
			return nil, err
		}
		defer done()
		subjects = append(subjects, others...)
	}
	times, err := c.measure(len(queries), c.pick(3000, 100), subjects...)
	if err != nil {
		return nil, err
	}
	same, asked, err := agreement(ctx, l, docs, texts[:min(len(texts), 20)])
	if err != nil {
		return nil, err
	}
	by := named(times)
	by[localName].Recall = same
	for i := range times {
		r.row(times[i].cells(builds[times[i].Name])...)
	}
	r.target("recall@10 against an exhaustive scorer", false, 1, same, "", c.Full)
	ours := by[localName]
	if o, ok := by["bleve"]; ok {
		r.target("p50 faster than bleve", false, 8, ratio(o.P50, ours.P50), "x", c.Full)
		r.target("p99 faster than bleve", false, 10, ratio(o.P99, ours.P99), "x", c.Full)
	}
	if o, ok := by["SQLite FTS5"]; ok {
		r.target("p50 faster than FTS5", false, 50, ratio(o.P50, ours.P50), "x", c.Full)
	}
	r.note("recall of contextmem over %d queries against the exhaustive scorer of backend/inmem; the other engines have their own words and formulas, so theirs is not judged", asked)
	return r, concurrency(r, subjects[0], len(queries), c)
}

// keywordOthers returns the contenders and records their build times in builds. done
// releases their resources.
func keywordOthers(ctx context.Context, c *Config, docs []string, queries [][]string, builds map[string]string) (subjects []*Subject, done func(), err error) {
	dir, done, err := c.scratch()
	if err != nil {
		return nil, nil, err
	}
	add := func(name string, queries int, end func() error, start elapsed, search func(q int) ([]int, error)) {
		_, took := start.since()
		builds[name] = seconds(took)
		remove := done
		done = func() {
			_ = end() // scratch
			remove()
		}
		subjects = append(subjects, &Subject{Name: name, Queries: queries, Search: search})
	}
	start := begin()
	b, err := NewBleve(ctx, dir, docs)
	if err != nil {
		done()
		return nil, nil, err
	}
	add("bleve", 0, b.Close, start, func(q int) ([]int, error) { return b.Search(ctx, queries[q]) })
	start = begin()
	f, err := NewFTS5(ctx, dir, docs)
	if err == nil {
		add("SQLite FTS5", len(queries)/5, f.Close, start, func(q int) ([]int, error) { return f.Search(ctx, queries[q]) })
	} else if !errors.Is(err, ErrNotBuilt) {
		done()
		return nil, nil, err
	}
	return subjects, done, nil
}

// agreement returns the share of the exhaustive scorer's hits that the index finds. A
// document of equal score counts as the same hit.
func agreement(ctx context.Context, l *Local, docs, queries []string) (float64, int, error) {
	all := inmem.New()
	defer func() { _ = all.Close() }()
	x, err := all.OpenIndexes(ctx, workUID)
	if err != nil {
		return 0, 0, err
	}
	index := x.Indexes()[0]
	for i, d := range docs {
		err := index.Apply(ctx, []backend.Change{{
			Seq: uint64(i + 1), Kind: backend.PutChunks, Part: l.part, Source: int64(i + 1),
			Rows: []backend.Row{{Chunk: int64(i + 1), Text: d}},
		}})
		if err != nil {
			return 0, 0, err
		}
	}
	sum, asked := 0.0, 0
	for _, text := range queries {
		q := backend.KeywordQuery{Part: l.part, Text: text, K: TopK}
		want, err := x.Keywords().SearchKeywords(ctx, q)
		if err != nil {
			return 0, 0, err
		}
		got, err := l.ix.Keywords().SearchKeywords(ctx, q)
		if err != nil {
			return 0, 0, err
		}
		if len(want) == 0 {
			continue
		}
		asked++
		last := want[len(want)-1].Score * (1 - tie)
		good := 0
		for _, h := range got {
			if h.Score >= last {
				good++
			}
		}
		sum += float64(min(good, len(want))) / float64(len(want))
	}
	if asked == 0 {
		return 0, 0, errors.New("no query has an answer")
	}
	return sum / float64(asked), asked, nil
}
