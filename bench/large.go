package bench

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/contextmem/contextmem/bench/internal/hnsw"
	"github.com/contextmem/contextmem/internal/vector"
)

// Large searches 250,000 x 384 approximately, with and without filters, and compares with hnswlib.
func Large(ctx context.Context, c *Config) (*Report, error) {
	n, dim := c.rows(250_000, 21_000), c.pick(384, 128)
	v := Clusters(c.Seed, n, dim, c.pick(500, 50))
	truth := Exact(v, nil)
	r := &Report{
		Title: fmt.Sprintf("Approximate, %d x %d", n, dim), Data: describe(v, truth),
		Columns: append(append([]string{}, timingColumns...), "build, CPU s", "resident bytes a vector"),
	}

	var file bytes.Buffer
	start := begin()
	if err := vector.WriteSegment(&file, dim, vector.InnerProduct, n, v.Row, nil); err != nil {
		return nil, err
	}
	_, segmentCPU := start.since()
	segment, err := vector.OpenSegment(file.Bytes())
	if err != nil {
		return nil, err
	}
	l, localCPU, remove, err := c.index(ctx, fmt.Sprintf("large-%d", dim), n, v.Row, nil)
	if err != nil {
		return nil, err
	}
	defer remove()
	defer func() { _ = l.Close() }() // scratch
	mapped, err := OpenMapped(l.dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = mapped.Close() }() // nothing was written
	subject, mappedSubject := localSubject(ctx, l, v, truth, Shares[0]), localSubject(ctx, mapped, v, truth, Shares[0])
	mappedSubject.Name += ", mapped"
	perVector := make(map[string]float64)
	for name, of := range map[string]*Local{subject.Name: l, mappedSubject.Name: mapped} {
		m, err := residentLocal(ctx, of, v)
		if err != nil {
			return nil, err
		}
		each := func(bytes int64) float64 { return float64(bytes) / float64(n) }
		perVector[name] = each(m.index())
		r.note("%s: of the bytes a vector resident after %d queries %.0f are Go heap and %.0f mapped files; %.0f anonymous pages in all",
			name, len(v.Queries), each(m.Heap), each(m.Mapped), each(m.Anonymous))
	}

	plain := []*Subject{subject, mappedSubject}
	for _, recall := range []float32{.95, .98} {
		plain = append(plain, &Subject{Name: segmentName(recall), Truth: truth, Search: segmentSearch(ctx, segment, v, recall)})
	}
	extra := map[string][]string{
		subject.Name:       {localCPU, fmt.Sprintf("%.0f", perVector[subject.Name])},
		mappedSubject.Name: {"", fmt.Sprintf("%.0f", perVector[mappedSubject.Name])},
		segmentName(.95):   {seconds(segmentCPU), ""},
	}
	var g *graph
	if hnsw.Built && !c.Alone {
		if g, err = buildGraph(c, v); err != nil {
			return nil, err
		}
		defer g.Close()
		for _, recall := range []float64{.95, .98} {
			ef, err := g.tune(v, truth, recall)
			if err != nil {
				return nil, err
			}
			name := graphName(recall)
			extra[name] = []string{seconds(g.cpu), fmt.Sprintf("%.0f", float64(g.bytes)/float64(n))}
			r.note("%s: ef %d", name, ef)
			plain = append(plain, &Subject{Name: name, Truth: truth, Search: func(q int) ([]int, error) {
				g.SetEf(ef)
				return g.Search(v.Queries[q], TopK)
			}})
		}
	}
	times, err := c.measure(len(v.Queries), c.pick(3000, 100), plain...)
	if err != nil {
		return nil, err
	}
	by := named(times)
	for i := range times {
		more := extra[times[i].Name]
		if more == nil {
			more = []string{"", ""}
		}
		r.row(times[i].cells(more...)...)
	}
	r.target("recall@10", false, .95, by[localName].Recall, "", c.asked())
	r.target("resident bytes a vector", true, 120, perVector[subject.Name], "", c.asked())
	if g != nil {
		r.target("times hnswlib's p50, both at recall .95 (segment)", true, 1.2, ratio(by[segmentName(.95)].P50, by[graphName(.95)].P50), "x", c.asked())
		r.target("times hnswlib's p50, both at recall .98 (backend/local)", true, 1.2, ratio(by[localName].P50, by[graphName(.98)].P50), "x", c.asked())
		r.target("times hnswlib's p50, both at recall .98 (backend/local, mapped)", true, 1.2, ratio(by[mappedSubject.Name].P50, by[graphName(.98)].P50), "x", c.asked())
		r.target("build speed over hnswlib's for each CPU second (segment)", false, 8, ratio(g.cpu, segmentCPU), "x", c.asked())
		r.note("building contextmem, backend/local, includes everything that it does for a row: tail, files, merges")
	}

	var filtered []*Subject
	for _, s := range Shares[1:] {
		truth := Exact(v, s.Allows())
		of := localSubject(ctx, mapped, v, truth, s)
		of.Name += ", mapped"
		filtered = append(filtered, localSubject(ctx, l, v, truth, s), of)
	}
	times, err = c.measure(len(v.Queries), c.pick(3000, 100), filtered...)
	if err != nil {
		return nil, err
	}
	for i := range times {
		r.row(times[i].cells("", "")...)
	}
	by = named(times)
	for _, t := range []struct {
		share string
		most  time.Duration
	}{{"10%", 350 * time.Microsecond}, {"1%", 60 * time.Microsecond}} {
		got := by[localName+", filter "+t.share]
		r.target("filter "+t.share+", p50", true, float64(t.most.Microseconds()), float64(got.P50.Nanoseconds())/1e3, " µs", c.asked())
		r.target("filter "+t.share+", recall@10", false, .98, got.Recall, "", c.asked())
	}
	return r, concurrency(r, plain[0], len(v.Queries), c)
}

// concurrency adds the throughput of one and two concurrent callers to the report.
func concurrency(r *Report, s *Subject, n int, c *Config) error {
	for _, workers := range []int{1, 2} {
		rate, err := Throughput(workers, time.Duration(c.pick(2000, 50))*time.Millisecond, s, n)
		if err != nil {
			return err
		}
		r.note("%s, %d at once: %.0f queries a second", s.Name, workers, rate)
	}
	return nil
}

// residentLocal reopens the index, runs all queries and returns the memory that the index
// then takes.
func residentLocal(ctx context.Context, l *Local, v *Vectors) (m Memory, err error) {
	if err := l.ix.Close(); err != nil {
		return m, err
	}
	before := MeasureMemory(l.dir)
	if err := l.open(); err != nil {
		return m, err
	}
	for _, q := range v.Queries {
		if _, err := l.SearchVectors(ctx, q, Shares[0].Filter); err != nil {
			return m, err
		}
	}
	if err := l.Settle(ctx); err != nil {
		return m, err
	}
	return MeasureMemory(l.dir).since(before), nil
}

func segmentName(recall float32) string {
	return fmt.Sprintf("contextmem, segment, recall set to %.2f", recall)
}

func graphName(recall float64) string {
	return fmt.Sprintf("hnswlib, ef for recall %.2f", recall)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f", d.Seconds()) }
