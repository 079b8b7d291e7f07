package local

import (
	"context"

	"github.com/contextmem/contextmem/backend"
)

var _ backend.WordFinder = (*index)(nil)

// FindWords implements [backend.WordFinder]. It reads the terms of each chunk, which are far fewer than the chunks of a frequent term.
func (x *index) FindWords(ctx context.Context, part backend.Partition, terms []string, chunks []int64, has []bool) error {
	rows, known, at := make([]uint32, 0, len(chunks)), make([]bool, len(chunks)), make([]int, 0, len(chunks))
	return x.read(ctx, part, facetRows, func(p *partition) error {
		rows, at = rows[:0], at[:0] // read may call this function again
		for i, c := range chunks {
			row, ok := p.row(c)
			if has[i] = !ok; ok {
				rows, at = append(rows, row), append(at, i)
			}
		}
		found, known := make([]bool, len(rows)), known[:len(rows)]
		clear(known)
		for _, v := range p.views(nil, p.live) {
			if err := v.Part.FindAny(terms, rows, found, known); err != nil {
				return err
			}
		}
		for j, i := range at {
			has[i] = found[j] || !known[j]
		}
		return nil
	})
}
