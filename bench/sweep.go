package bench

import (
	"context"
	"fmt"
	"time"
)

// sweepRows and sweepDims are the sizes of the sweep. sweepFloats bounds their product: the
// largest takes 1.5 GB of memory for the vectors and 4 GB of disk while its index is made.
var (
	sweepRows = []int{50, 2000, 20_000, 100_000, 250_000, 1_000_000}
	sweepDims = []int{100, 128, 384, 768, 1536}
)

const sweepFloats = 250_000 * 1536

// Sweep searches all numbers of rows and dimensions with all filters, by one or two concurrent callers.
// Config.Rows and Config.Dim restrict it to one point. Config.Keep keeps its index.
func Sweep(ctx context.Context, c *Config) (*Report, error) {
	r := &Report{
		Title: "contextmem by size, dimensions and filter", Data: fmt.Sprintf("Seeded clustered vectors, up to %d numbers in all, through backend/local; p50 / p99 and recall@10.", sweepFloats),
		Columns: []string{"rows x dimensions"},
	}
	for _, s := range Shares {
		r.Columns = append(r.Columns, "filter "+s.Name)
	}
	r.Columns = append(r.Columns, "queries a second, 1 and 2 at once", "build, CPU s")
	for _, n := range sweepRows {
		if c.Rows > 0 && n != c.Rows {
			continue
		}
		for _, dim := range sweepDims {
			if c.Dim > 0 && dim != c.Dim || n*dim > c.pick(sweepFloats, 200_000) {
				continue
			}
			if err := sweepOne(ctx, c, r, n, dim); err != nil {
				return nil, fmt.Errorf("%d x %d: %w", n, dim, err)
			}
		}
	}
	if len(r.Rows) == 0 {
		return nil, fmt.Errorf("no point of the sweep has %d rows (0: any) and length %d; there are rows %v, lengths %v", c.Rows, c.Dim, sweepRows, sweepDims)
	}
	return r, nil
}

func sweepOne(ctx context.Context, c *Config, r *Report, n, dim int) error {
	v := Clusters(c.Seed, n, dim, c.pick(100, 50))
	l, cpu, remove, err := c.index(ctx, fmt.Sprintf("sweep-%d", dim), n, v.Row, nil)
	if err != nil {
		return err
	}
	defer remove()
	defer func() { _ = l.Close() }() // scratch
	var allows []func(i int) bool
	for _, s := range Shares {
		allows = append(allows, s.Allows())
	}
	var subjects []*Subject
	for i, truth := range exactEach(v, allows...) {
		subjects = append(subjects, localSubject(ctx, l, v, truth, Shares[i]))
	}
	times, err := c.measure(len(v.Queries), c.pick(500, 50), subjects...)
	if err != nil {
		return err
	}
	cells := []string{fmt.Sprintf("%d x %d", n, dim)}
	for _, t := range times {
		cells = append(cells, fmt.Sprintf("%s / %s, %.3f", took(t.P50), took(t.P99), t.Recall))
	}
	var rates []any
	for _, workers := range []int{1, 2} {
		rate, err := Throughput(workers, time.Duration(c.pick(300, 20))*time.Millisecond, subjects[0], len(v.Queries))
		if err != nil {
			return err
		}
		rates = append(rates, rate)
	}
	r.row(append(cells, fmt.Sprintf("%.0f, %.0f", rates...), cpu)...)
	return nil
}
