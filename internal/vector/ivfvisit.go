package vector

import (
	"github.com/contextmem/contextmem/internal/simd"
)

// visit scores the accepted rows of a list.
func (s *Segment) visit(sr *search, list int) {
	from, to := int(s.ivf.offsets[list]), int(s.ivf.offsets[list+1])
	if s.lean() {
		s.visitLean(sr, from, to, sr.probe.base[list])
		return
	}
	for at := from; at < to; at += blockRows {
		if end := min(at+blockRows, to); s.h.kind == kindIVF1 {
			s.visitBits(sr, at, end, sr.probe.base[list])
		} else {
			s.visitCodes(sr, at, end)
		}
	}
}

// visitCodes scores up to blockRows positions by their 8-bit rows.
func (s *Segment) visitCodes(sr *search, from, to int) {
	dots, scales, rows := sr.dots[:to-from], s.scales[from:to], s.ivf.rows[from:to]
	simd.DotU8(dots, s.codes[from*len(sr.q8):], sr.q8)
	bias, floor := sr.bias, sr.cand.floor
	if sr.selective {
		for i, row := range rows {
			if sr.accept.Has(row) {
				sr.offer(row, float32(dots[i]-bias)*scales[i], s.h.n)
			}
		}
		return
	}
	for i, d := range dots {
		if x := float32(d-bias) * scales[i]; x >= floor {
			sr.offer(rows[i], x, s.h.n)
			floor = sr.cand.floor
		}
	}
}

// offer adds an accepted row with its 8-bit score to the candidates.
func (s *search) offer(row uint32, score float32, n int) {
	if int(row) < n && (s.accept == nil || s.accept.Has(row)) {
		s.candidate(Hit{Row: row, Score: score})
	}
}

// visitBits estimates the scores of up to blockRows positions by their 1-bit codes. It scores those
// whose bound exceeds the floor by their 8-bit rows.
func (s *Segment) visitBits(sr *search, from, to int, base float32) {
	p := &sr.probe
	ests := p.ests[:to-from]
	simd.EstimateBits(ests, s.ivf.records[from*recordStride(s.h.dim):], &p.bits)
	floor := sr.cand.floor*sr.unit - base
	rows, found := s.ivf.rows[from:to], p.found[:0]
	for i, x := range ests {
		if x > floor && (sr.accept == nil || sr.accept.Has(rows[i])) {
			s.prefetch(uint32(from+i), len(sr.q8)) // all are prefetched before the first is scored
			found = append(found, uint32(i))
		}
	}
	p.found = found
	for _, i := range found {
		if ests[i] > sr.cand.floor*sr.unit-base {
			s.scoreAt(sr, from+int(i))
		}
	}
}

// visitLean estimates the scores of the positions of a list by their 1-bit codes. It scores those whose
// bound exceeds the floor, in descending order of their bounds.
func (s *Segment) visitLean(sr *search, from, to int, base float32) {
	p := &sr.probe
	p.found, p.most = p.found[:0], p.most[:0]
	floor := sr.cand.floor - base
	for at := from; at < to; at += blockRows {
		ests := p.ests[:min(blockRows, to-at)]
		simd.EstimateBits(ests, s.ivf.records[at*recordStride(s.h.dim):], &p.bits)
		for i, x := range ests {
			if x > floor {
				row := s.ivf.rows[at+i]
				if int(row) < s.h.n && (sr.accept == nil || sr.accept.Has(row)) {
					p.found, p.most = append(p.found, uint32(at+i)), append(p.most, base+x)
				}
			}
		}
	}
	s.settle(sr)
}
