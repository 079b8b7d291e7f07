package bench

import (
	"context"
	"fmt"
	"time"
)

// sweepRows and sweepDims are the sizes of the sweep; sweepFloats bounds their product.
var (
	sweepRows = []int{50, 2000, 20_000, 100_000, 250_000, 1_000_000}
	sweepDims = []int{100, 128, 384, 768, 1536}
)

const sweepFloats = 250_000 * 768

// Sweep searches vectors of all sizes and lengths with all filters and one or two at once.
func Sweep(ctx context.Context, c *Config) (*Report, error) {
	r := &Report{
		Title: "contextmem by size, dimensions and filter", Data: fmt.Sprintf("Seeded clustered vectors, up to %d numbers in all, through backend/local; p50 and recall@10.", sweepFloats),
		Columns: []string{"rows x dimensions"},
	}
	for _, s := range Shares {
		r.Columns = append(r.Columns, "filter "+s.Name)
	}
	r.Columns = append(r.Columns, "queries a second, 1 and 2 at once")
	for _, n := range sweepRows {
		if c.Rows > 0 && n != c.Rows {
			continue
		}
		for _, dim := range sweepDims {
			if n*dim > c.pick(sweepFloats, 200_000) {
				continue
			}
			if err := sweepOne(ctx, c, r, n, dim); err != nil {
				return nil, fmt.Errorf("%d x %d: %w", n, dim, err)
			}
		}
	}
	return r, nil
}

func sweepOne(ctx context.Context, c *Config, r *Report, n, dim int) error {
	dir, remove, err := c.scratch()
	if err != nil {
		return err
	}
	defer remove()
	v := Clusters(c.Seed, n, dim, c.pick(100, 50))
	l, err := OpenLocal(dir)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }() // scratch
	if err := l.Fill(ctx, n, v.Row, nil); err != nil {
		return err
	}
	var subjects []*Subject
	for _, s := range Shares {
		subjects = append(subjects, localSubject(ctx, l, v, Exact(v, s.Allows()), s))
	}
	times, err := c.measure(len(v.Queries), c.pick(500, 50), subjects...)
	if err != nil {
		return err
	}
	cells := []string{fmt.Sprintf("%d x %d", n, dim)}
	for _, t := range times {
		cells = append(cells, fmt.Sprintf("%s, %.3f", took(t.P50), t.Recall))
	}
	var rates []any
	for _, workers := range []int{1, 2} {
		rate, err := Throughput(workers, time.Duration(c.pick(300, 20))*time.Millisecond, subjects[0], len(v.Queries))
		if err != nil {
			return err
		}
		rates = append(rates, rate)
	}
	r.row(append(cells, fmt.Sprintf("%.0f, %.0f", rates...))...)
	return nil
}
