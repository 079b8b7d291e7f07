package vector

import (
	"context"
	"fmt"
	"math"
)

// Score appends the float32 score of each of rows to dst, in their order. It is the score that
// Search gives to a hit. If there is no such row, or the query's length is not finite, the
// score is NaN. Score returns ErrDimension, or the error of ctx.
func (m *Mem) Score(ctx context.Context, q []float32, rows []uint32, dst []float32) ([]float32, error) {
	return score(ctx, m, m.dim, m.Len(), m.metric, q, rows, dst)
}

// Score is [Mem.Score] for a segment. It also returns an error if rows cannot be read.
func (s *Segment) Score(ctx context.Context, q []float32, rows []uint32, dst []float32) ([]float32, error) {
	return score(ctx, s, s.h.dim, s.h.n, s.h.metric, q, rows, dst)
}

func score(ctx context.Context, f floats, dim, n int, metric Metric, q []float32, rows []uint32, dst []float32) ([]float32, error) {
	if len(q) != dim {
		return dst, fmt.Errorf("%w: query has %d, want %d", ErrDimension, len(q), dim)
	}
	s := begin(&Query{Vector: q}, metric, 1)
	defer s.end()
	finite := s.finite()
	for i, row := range rows {
		if i%checkScored == 0 && ctx.Err() != nil {
			return dst, ctx.Err()
		}
		v := float32(math.NaN())
		if finite && int(row) < n {
			v = s.score(f, row)
		}
		dst = append(dst, v)
	}
	return dst, s.buf.err
}

// checkScored is the number of rows scored between two checks of the context.
const checkScored = 1024
