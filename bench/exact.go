package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"unsafe"

	"github.com/contextmem/contextmem/internal/vector"
)

// ExactScan searches 100,000 x 384 and compares with sqlite-vec, chromem-go, and a single
// read of as many bytes as the 8-bit rows have.
func ExactScan(ctx context.Context, c *Config) (*Report, error) {
	n, dim := c.rows(100_000, 2000), 384
	v := Clusters(c.Seed, n, dim, c.pick(200, 50))
	truth := Exact(v, nil)
	r := &Report{Title: fmt.Sprintf("Exact, %d x %d", n, dim), Data: describe(v, truth), Columns: timingColumns}

	var file bytes.Buffer
	if err := vector.WriteSegment(&file, dim, vector.InnerProduct, n, v.Row, &vector.WriteOptions{ExactRows: -1}); err != nil {
		return nil, err
	}
	segment, err := vector.OpenSegment(file.Bytes())
	if err != nil {
		return nil, err
	}
	subjects := []*Subject{
		{Name: floorName, Search: floorSearch(n * dim)},
		{Name: "contextmem, exact segment", Truth: truth, Search: segmentSearch(ctx, segment, v, 0)},
	}
	l, _, remove, err := c.index(ctx, "exact", n, v.Row, nil)
	if err != nil {
		return nil, err
	}
	defer remove()
	defer func() { _ = l.Close() }() // scratch
	subjects = append(subjects, localSubject(ctx, l, v, truth, Shares[0]))
	if !c.Alone {
		others, done, err := exactOthers(ctx, c, v, truth)
		if err != nil {
			return nil, err
		}
		defer done()
		subjects = append(subjects, others...)
	}
	times, err := c.measure(len(v.Queries), c.pick(1000, 100), subjects...)
	if err != nil {
		return nil, err
	}
	by := named(times)
	for i := range times {
		r.row(times[i].cells()...)
	}
	ours := by["contextmem, exact segment"]
	r.target("recall@10", false, .99, ours.Recall, "", c.asked())
	r.target("times the int8 floor", true, 1.3, ratio(ours.P50, by[floorName].P50), "x", c.asked())
	for _, t := range []struct {
		name string
		want float64
	}{{"sqlite-vec", 20}, {"chromem-go", 50}} {
		if o, ok := by[t.name]; ok {
			r.target("faster than "+t.name+" (exact segment, p50)", false, t.want, ratio(o.P50, ours.P50), "x", c.asked())
			r.note("%s against the index as the service drives it: %.1fx", t.name, ratio(o.P50, by[localName].P50))
		}
	}
	return r, nil
}

// exactOthers returns the contenders. done releases their resources.
func exactOthers(ctx context.Context, c *Config, v *Vectors, truth *Truth) (subjects []*Subject, done func(), err error) {
	dir, done, err := c.scratch()
	if err != nil {
		return nil, nil, err
	}
	few := c.pick(20, 10)
	s, err := NewSQLiteVec(ctx, dir, v)
	if err == nil {
		remove := done
		done = func() {
			_ = s.Close() // scratch
			remove()
		}
		subjects = append(subjects, &Subject{Name: "sqlite-vec", Truth: truth, Queries: few, Search: func(q int) ([]int, error) { return s.Search(ctx, v.Queries[q]) }})
	} else if !errors.Is(err, ErrNotBuilt) {
		done()
		return nil, nil, err
	}
	chrom, err := NewChromem(ctx, v)
	if err != nil {
		done()
		return nil, nil, err
	}
	return append(subjects, &Subject{Name: "chromem-go", Truth: truth, Queries: few, Search: func(q int) ([]int, error) { return chrom.Search(ctx, v.Queries[q]) }}), done, nil
}

const (
	floorName = "reading the int8 rows once"
	localName = "contextmem, backend/local"
)

func describe(v *Vectors, t *Truth) string {
	return fmt.Sprintf("%d seeded clustered vectors of %d dimensions, %d queries that are not among them, local intrinsic dimension %.0f.", v.N, v.Dim, len(v.Queries), t.LID())
}

func named(times []Timing) map[string]*Timing {
	out := make(map[string]*Timing, len(times))
	for i := range times {
		out[times[i].Name] = &times[i]
	}
	return out
}

// localSubject returns a subject that searches l as the service does.
func localSubject(ctx context.Context, l *Local, v *Vectors, t *Truth, s Share) *Subject {
	name := localName
	if s.tag != 0 {
		name += ", filter " + s.Name
	}
	return &Subject{Name: name, Truth: t, Search: func(q int) ([]int, error) { return l.SearchVectors(ctx, v.Queries[q], s.Filter) }}
}

// segmentSearch returns a search of a segment of package vector with a recall target; 0 is the default target.
func segmentSearch(ctx context.Context, s *vector.Segment, v *Vectors, recall float32) func(q int) ([]int, error) {
	var hits []vector.Hit
	return func(q int) ([]int, error) {
		var err error
		hits, err = s.Search(ctx, &vector.Query{Vector: v.Queries[q], K: TopK, Recall: recall}, hits[:0])
		out := make([]int, len(hits))
		for i, h := range hits {
			out[i] = int(h.Row)
		}
		return out, err
	}
}

// floorSearch returns a function that reads size bytes once, sequentially: a lower bound for any scan.
func floorSearch(size int) func(q int) ([]int, error) {
	words := make([]uint64, size/8)
	for i := range words {
		words[i] = uint64(i)
	}
	vectors := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
	var sum int
	return func(int) ([]int, error) {
		// Comparing with itself elsewhere would read twice; counting a byte that is rare reads once, by
		// the widest instructions that the standard library has.
		sum += bytes.Count(vectors, []byte{0xfe})
		_ = sum
		return nil, nil
	}
}
