package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/eval"
	both "github.com/contextmem/contextmem/models/e5-bge"
)

// hitsKept is the number of hits kept per question.
const hitsKept = 50

// collect asks the questions of the sets and writes a row for each.
func collect(ctx context.Context, to string, sets []string) (err error) {
	model, err := both.New()
	if err != nil {
		return err
	}
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	defer func() { err = errors.Join(err, w.Flush(), f.Close()) }()
	lines := json.NewEncoder(w)
	for _, name := range sets {
		set, err := eval.Load(name)
		if err != nil {
			return err
		}
		if err := collectSet(ctx, lines, set, &contextmem.Options{Embedder: model, Reranker: contextmem.NoReranker}); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func collectSet(ctx context.Context, lines *json.Encoder, set *eval.Set, opts *contextmem.Options) (err error) {
	dir, err := os.MkdirTemp("", "contextmem-fit-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	svc, err := contextmem.Open(ctx, dir, opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, svc.Close()) }()
	if _, err := svc.CreateTenant(ctx, contextmem.TenantSpec{ID: "fit"}); err != nil {
		return err
	}
	tenant := svc.Tenant("fit")
	if err := tenant.WaitReady(ctx); err != nil {
		return err
	}
	fill := eval.InProcess{Tenant: tenant}
	for _, g := range set.Groups {
		if err := fill.Fill(ctx, set.Lane, g); err != nil {
			return err
		}
		for _, q := range g.Queries {
			if len(q.Relevant) == 0 {
				continue
			}
			row, err := ask(ctx, tenant.Sub(g.ID), set, &q)
			if err != nil {
				return err
			}
			if err := lines.Encode(row); err != nil {
				return err
			}
		}
	}
	return nil
}

// ask asks a question and keeps the best hit of each source.
func ask(ctx context.Context, sub contextmem.Sub, set *eval.Set, q *eval.Query) (*question, error) {
	r := contextmem.Recall{Query: q.Text, MaxResults: hitsKept, Class: contextmem.ClassKnowledge, Mode: contextmem.ModeFast}
	if set.Lane == "memory" {
		r.Class = contextmem.ClassMemory
	}
	res, err := sub.Recall(ctx, r)
	if err != nil {
		return nil, err
	}
	row := &question{Set: set.Name, Lane: set.Lane}
	for _, grade := range q.Relevant {
		row.Grades = append(row.Grades, grade)
	}
	slices.Sort(row.Grades)
	seen := map[string]bool{}
	for _, c := range res.Chunks {
		if seen[c.SourceID] || c.Explain == nil {
			continue
		}
		seen[c.SourceID] = true
		e := c.Explain
		row.Hits = append(row.Hits, hit{Grade: q.Relevant[c.SourceID], Score: c.Score,
			Parts: [numParts]float64{e.Semantic, e.Keyword, e.Context, e.Speaker, e.Time, e.Entity}})
	}
	return row, nil
}
