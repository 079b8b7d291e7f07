package move

import (
	"bytes"
	"context"
	"iter"
)

// unleased is the registry without the records of leases.
type unleased struct{ View }

// Each implements View.
func (u unleased) Each(ctx context.Context, t *Table) iter.Seq2[Row, error] {
	return withoutLeases(u.View, ctx, t)
}

type unleasedPlace struct{ Place }

// Each implements View.
func (u unleasedPlace) Each(ctx context.Context, t *Table) iter.Seq2[Row, error] {
	return withoutLeases(u.Place, ctx, t)
}

func withoutLeases(v View, ctx context.Context, t *Table) iter.Seq2[Row, error] {
	if t != Records {
		return v.Each(ctx, t)
	}
	return func(yield func(Row, error) bool) {
		for row, err := range v.Each(ctx, t) {
			if err == nil && bytes.Equal(row[0].([]byte), leaseKind) {
				continue
			}
			if !yield(row, err) {
				return
			}
		}
	}
}
