// Package eval measures how good recall is on labelled questions: recall and
// nDCG at several depths, reciprocal rank, latency and the size of the context,
// with confidence intervals, and a paired test between two runs.
//
// A set is JSON, optionally gzipped:
//
//	{"name": "...", "lane": "memory" | "knowledge", "groups": [
//	  {"id": "...", "docs": [{"id", "title", "text", "time"}],
//	   "queries": [{"id", "text", "cat", "rel": {"<doc id>": grade}}]}]}
//
// A group is one sub-tenant; its questions see only its documents.
package eval

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Doc is a document or memory.
type Doc struct {
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
	Text  string `json:"text"`
	Time  string `json:"time,omitempty"` // in any usual format
}

// Query is a question with its relevant documents.
type Query struct {
	ID       string             `json:"id"`
	Text     string             `json:"text"`
	Category string             `json:"cat,omitempty"`
	Relevant map[string]float64 `json:"rel"` // doc id -> grade above 0
}

// Group is a sub-tenant with its questions.
type Group struct {
	ID      string  `json:"id"`
	Docs    []Doc   `json:"docs"`
	Queries []Query `json:"queries"`
}

// Set is a labelled set.
type Set struct {
	Name   string  `json:"name"`
	Lane   string  `json:"lane"` // memory or knowledge
	Groups []Group `json:"groups"`
}

// maxSetBytes bounds a set after decompression.
const maxSetBytes = 1 << 30

// Load reads a set from a file.
func Load(name string) (*Set, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		z, err := gzip.NewReader(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		defer z.Close()
		r = z
	}
	return Read(io.LimitReader(r, maxSetBytes))
}

// Read reads a set and checks it.
func Read(r io.Reader) (*Set, error) {
	s := new(Set)
	if err := json.NewDecoder(r).Decode(s); err != nil {
		return nil, fmt.Errorf("read a set: %w", err)
	}
	if s.Lane == "" {
		s.Lane = "knowledge"
	}
	if s.Lane != "memory" && s.Lane != "knowledge" {
		return nil, fmt.Errorf("set %q: lane %q is neither memory nor knowledge", s.Name, s.Lane)
	}
	for _, g := range s.Groups {
		ids := map[string]bool{}
		for _, d := range g.Docs {
			if d.ID == "" || ids[d.ID] {
				return nil, fmt.Errorf("set %q, group %q: a document has no id, or one that stands twice", s.Name, g.ID)
			}
			ids[d.ID] = true
		}
		for _, q := range g.Queries {
			if q.Text == "" || len(q.Relevant) == 0 {
				return nil, fmt.Errorf("set %q, group %q: question %q has no text or no relevant document", s.Name, g.ID, q.ID)
			}
			for id := range q.Relevant {
				if !ids[id] {
					return nil, fmt.Errorf("set %q, group %q: question %q names a document that is not there", s.Name, g.ID, q.ID)
				}
			}
		}
	}
	return s, nil
}

// Hit is one recalled chunk, or a standing instruction that the system returned beside the chunks.
type Hit struct {
	DocID       string
	Chars       int
	Instruction bool // no chunk: it has no rank, and counts in Answer.Returned alone
}

// Target is the system that is measured.
type Target interface {
	// Fill puts the documents of a group into a fresh sub-tenant and waits until they are completed.
	Fill(ctx context.Context, lane string, g Group) error
	// Ask recalls up to n chunks for a question in the group's sub-tenant, best first, and the standing instructions that come with them.
	Ask(ctx context.Context, lane, group, question string, n int) ([]Hit, error)
}

// Answer is the outcome of one question.
type Answer struct {
	Query    string        `json:"query"`
	Category string        `json:"category,omitempty"`
	Recall   [4]float64    `json:"recall"`   // at Depths
	NDCG     float64       `json:"ndcg"`     // at 10, linear gains
	MRR      float64       `json:"mrr"`      // at 10
	Returned float64       `json:"returned"` // share of the relevant documents among the first 10 or the standing instructions
	Latency  time.Duration `json:"latency"`
	Chars    int           `json:"chars"` // of the context that was returned
}

// Depths are the ranks at which recall is measured.
var Depths = [4]int{1, 2, 5, 10}

// Report is the outcome of a run over a set.
type Report struct {
	Set     string        `json:"set"`
	Docs    int           `json:"docs"`
	Fill    time.Duration `json:"fill"`
	Answers []Answer      `json:"answers"`
}

// Options changes a run.
type Options struct {
	Results     int // chunks asked for; default 20
	Concurrency int // questions at once; default 1
	MaxQueries  int // of each group; 0: all
}

// Run fills the target and asks every question.
func Run(ctx context.Context, t Target, s *Set, o Options) (*Report, error) {
	if o.Results == 0 {
		o.Results = 20
	}
	o.Concurrency = max(1, o.Concurrency)
	rep := &Report{Set: s.Name}
	for _, g := range s.Groups {
		start := time.Now()
		if err := t.Fill(ctx, s.Lane, g); err != nil {
			return nil, fmt.Errorf("set %q, group %q: %w", s.Name, g.ID, err)
		}
		rep.Fill += time.Since(start)
		rep.Docs += len(g.Docs)
		qs := g.Queries
		if o.MaxQueries > 0 {
			qs = qs[:min(len(qs), o.MaxQueries)]
		}
		answers := make([]Answer, len(qs))
		errs := make([]error, o.Concurrency)
		var wg sync.WaitGroup
		for w := range o.Concurrency {
			wg.Go(func() {
				for i := w; i < len(qs) && errs[w] == nil; i += o.Concurrency {
					answers[i], errs[w] = ask(ctx, t, s.Lane, g.ID, qs[i], o.Results)
				}
			})
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			return nil, fmt.Errorf("set %q, group %q: %w", s.Name, g.ID, err)
		}
		rep.Answers = append(rep.Answers, answers...)
	}
	return rep, nil
}

func ask(ctx context.Context, t Target, lane, group string, q Query, n int) (Answer, error) {
	start := time.Now()
	hits, err := t.Ask(ctx, lane, group, q.Text, n)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Query: group + "/" + q.ID, Category: q.Category, Latency: time.Since(start)}
	var ids, instructions []string
	for _, h := range hits {
		a.Chars += h.Chars
		if h.Instruction {
			instructions = append(instructions, h.DocID)
		} else if !slices.Contains(ids, h.DocID) {
			ids = append(ids, h.DocID)
		}
	}
	a.score(ids, q.Relevant)
	a.Returned = share(append(ids[:min(10, len(ids)):min(10, len(ids))], instructions...), q.Relevant)
	return a, nil
}
