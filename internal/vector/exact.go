package vector

import (
	"context"
	"math/bits"

	"github.com/contextmem/contextmem/internal/simd"
)

// all pushes all accepted rows below n with their float32 scores to s.best. It serves parts and
// filters with so few rows that a scan of 8-bit rows would save nothing.
func (s *search) all(f floats, n int) {
	if s.accept == nil {
		var scores [chunkRows]float32
		for first := 0; first < n; first += len(scores) {
			run := scores[:min(len(scores), n-first)]
			simd.DotF32(run, f.floatRun(uint32(first), &s.buf), s.q)
			if s.best.limit > n { // all rows are hits
				floor := s.best.floor
				for i, x := range run {
					if x >= floor {
						s.best.hits = append(s.best.hits, Hit{Row: uint32(first + i), Score: x})
					}
				}
				continue
			}
			for i, x := range run {
				s.best.push(Hit{Row: uint32(first + i), Score: x})
			}
		}
		return
	}
	each := func(first int, w uint64) {
		for ; w != 0; w &= w - 1 {
			s.rescore(f, uint32(first+bits.TrailingZeros64(w)))
		}
	}
	full := s.fullWords(n)
	for i, w := range full {
		each(i*64, w)
	}
	each(len(full)*64, s.word(len(full)*64, n))
}

// rows is the interface through which exact reads a part.
type rows interface {
	floats
	// scanAll pushes the accepted rows below n with their 8-bit scores to s.cand.
	scanAll(ctx context.Context, s *search, n int) error
	// rowScale returns the 8-bit scale of a row, and maxScale the greatest of all rows.
	rowScale(row uint32) float32
	maxScale() float32
}

// exact finds the best accepted rows below n.
func (s *search) exact(ctx context.Context, p rows, n int) error {
	m := candidates(s.k)
	if n <= m || s.accept != nil && s.accepted(n) <= m {
		if s.anyOrder && n <= s.k {
			s.best.limit = n + 1 // more than all rows, so push never needs a heap
		}
		s.all(p, n)
		return ctx.Err()
	}
	s.quantise()
	s.cand.reset(m)
	if s.floor > negInf && s.scale > 0 {
		// A row of d numbers with a scale is at most as long as d times 128 steps of it.
		scale := p.maxScale()
		longest := float32(len(s.given)) * 128 * 128 * scale * scale
		if floor := (s.floor - s.reach(scale, longest)) / s.scale; floor > negInf { // not NaN
			s.cand.floor = floor
		}
	}
	if err := p.scanAll(ctx, s, n); err != nil {
		return err
	}
	for _, h := range s.cand.hits {
		s.rescore(p, h.Row)
	}
	return s.widen(ctx, p, n)
}

// widen scans again if rows that just missed the candidates could beat the worst hit. The
// second scan keeps all rows within reach of the worst hit.
func (s *search) widen(ctx context.Context, p rows, n int) error {
	if !s.cand.full() || !s.best.full() {
		return nil
	}
	worst := s.cand.hits[0].Row
	row := p.floatRow(worst, &s.buf)
	if row == nil {
		return nil // the search fails
	}
	var square [1]float32
	simd.DotF32(square[:], row, row)
	floor := (s.best.floor - s.reach(p.rowScale(worst), square[0])) / s.scale
	if !(floor <= s.cand.floor) {
		return nil
	}
	// If there are more rows than this, their 8-bit scores are equal, and the first rows win.
	s.cand.reset(max(16*s.cand.limit, 4096))
	s.cand.floor = floor
	if err := p.scanAll(ctx, s, n); err != nil {
		return err
	}
	s.best.reset(s.k)
	for _, h := range s.cand.hits {
		s.rescore(p, h.Row)
	}
	return nil
}
