package vector

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/contextmem/contextmem/internal/simd"
)

const (
	// firstLists is the number of lists that a search probes before it compares the
	// bounds of the others with the scores found. With a selective filter it probes
	// more: so many that they are expected to hold firstRows times the candidates.
	firstLists = 6
	firstRows  = 4
	// selectiveShare decides whether a row is checked first against the filter or
	// against the floor. If the filter accepts fewer than one of selectiveShare rows,
	// the filter comes first, since it rejects more rows.
	selectiveShare = 6
)

// gatherCost is the time to score one accepted row on its own, divided by the time to score one row in a scan
// of a list. The measured ratio is 2 to 4 for records and 4 to 10 for 8-bit rows, depending on the filter and
// the cache. The values here are the greatest measured, since a search that probes lists can skip some of them.
func (h *header) gatherCost() int {
	if h.kind == kindIVF1 {
		return 4
	}
	return 10
}

// few reports whether a filter accepts so few rows that gathering them is cheaper than probing lists.
func (h *header) few(count int) bool { return count <= h.n/(4*h.gatherCost()) }

// bitSigmas gives, for each of recallPoints, the number of standard deviations that is added to
// the estimated score of a row to get its upper bound. The paper's 1.9 keeps all but 3% of the
// rows at the very boundary.
var bitSigmas = [len(recallPoints)]float32{.8, 1.1, 1.4, 1.9, 2.2, 3}

// gatherSigmas is bitSigmas for a search that gathers the accepted rows. It skips no list, so the codes alone may
// cause all misses that the recall allows. At .98 they missed 12 to 18 rows of 1000, for filters that accept
// 1 to 6 %.
var gatherSigmas = [len(recallPoints)]float32{.5, .7, 1, 1.4, 1.8, 3}

// bitError is the standard deviation of an estimate divided by factor*|d|. It is the root of
// 1 - a², where a is the cosine of a residual and its code. Unless there are only a few
// dimensions, a is close to the root of 2/pi.
var bitError = float32(math.Sqrt(1 - 2/math.Pi))

// ivf holds the sections of an inverted file, and caches of its searches.
type ivf struct {
	rows      []uint32
	positions []uint32
	records   []byte
	offsets   []uint32
	centroids []uint8
	scales    []float32
	spreads   []float32
	mean      []float32
	rotated   atomic.Pointer[[]float32] // the rotated mean; nil before the first search
	filters   filterCache
}

// probe holds the buffers of a search of an inverted file.
type probe struct {
	base  []float32 // <query, centroid> of each list
	lists []Hit     // lists to probe, by the upper bound of their rows' scores
	found []uint32  // positions that pass the filter or the threshold
	most  []float32 // upper bounds of the scores of found
	first top       // the best of lists, or of found
	rest  []Hit     // those of found that are not in first
	bound float32   // |query - mean|
	d     []float32
	d4    []int8
	bits  simd.BitQuery
	ests  [blockRows]float32
}

// interpolate returns the value at a recall, interpolated between the values at recallPoints.
func interpolate(recall float32, values *[len(recallPoints)]float32) float32 {
	last := len(recallPoints) - 1
	if recall <= recallPoints[0] {
		return values[0]
	}
	for i := range last {
		if a, b := recallPoints[i], recallPoints[i+1]; recall <= b {
			return values[i] + (values[i+1]-values[i])*(recall-a)/(b-a)
		}
	}
	return values[last]
}

// approximate searches the inverted file. The expected share of the true best rows that it finds is recall.
func (s *Segment) approximate(ctx context.Context, sr *search, recall float32) error {
	n := s.h.n
	keep := s.keep(sr.k)
	count := 0
	if sr.kept = s.cachedFilter(sr); sr.kept != nil {
		count = len(sr.kept.positions)
	} else {
		count = sr.accepted(n)
	}
	if count <= keep {
		sr.all(s, n)
		return ctx.Err()
	}
	sr.selective = count <= n/selectiveShare
	sr.quantise()
	if sr.scale == 0 {
		s.ties(sr)
		return ctx.Err()
	}
	sr.cand.reset(keep)
	sr.near.reset(sr.k)
	sr.unit, sr.slack = sr.scale, 0
	if s.lean() {
		sr.unit = 1
	} else {
		sr.slack = sr.reach(s.typicalScale(), sr.square) / sr.scale // assumes that rows are as long as the query
	}
	if sr.floor > negInf {
		sr.cand.floor = sr.floor/sr.unit - sr.slack
	}
	few := s.h.few(count)
	sigmas := &bitSigmas
	if few && s.lean() {
		sigmas = &gatherSigmas
	}
	s.prepare(sr, interpolate(recall, sigmas))
	if !few {
		var err error
		if few, err = s.probeLists(ctx, sr, interpolate(recall, &s.h.widths), count); err != nil {
			return err
		}
	}
	if few {
		if err := s.gather(ctx, sr, count); err != nil {
			return err
		}
	}
	if !s.lean() {
		sr.refine(s)
		return nil
	}
	for _, h := range sr.cand.hits {
		sr.best.push(h)
	}
	return nil
}

// typicalScale returns a scale that few 8-bit rows exceed by much.
func (s *Segment) typicalScale() float32 {
	n := s.h.n
	return max(s.scales[0], s.scales[n/4], s.scales[n/2], s.scales[n-n/4-1], s.scales[n-1])
}

// lean reports whether candidates found by 1-bit codes are scored by float32 rows that are read
// from s.reader. Only the codes then stay in memory.
func (s *Segment) lean() bool { return s.reader != nil && s.Coded() }

// keep returns the maximal number of candidates for k hits. It is more than k, since the order of
// 8-bit scores differs a little from that of float32 scores. search.slack mostly keeps fewer.
func (s *Segment) keep(k int) int {
	if s.lean() {
		return k + k/4 + 4 // each costs a system call
	}
	return k + k/2 + 12
}

// ties answers a query that is quantised to zero, for which all rows have equal scores.
func (s *Segment) ties(sr *search) {
	for first := 0; first < s.h.n && !sr.best.full(); first += 64 {
		for w := sr.word(first, s.h.n); w != 0 && !sr.best.full(); w &= w - 1 {
			sr.rescore(s, uint32(first+bits.TrailingZeros64(w)))
		}
	}
}

// prepare scores the centroids. If the segment has 1-bit codes, it also converts the query to bit planes.
func (s *Segment) prepare(sr *search, sigmas float32) {
	p, lists := &sr.probe, s.h.lists
	p.base = slices.Grow(p.base[:0], lists)[:lists]
	for at := 0; at < lists; at += blockRows {
		m := min(blockRows, lists-at)
		dots, scales, base := sr.dots[:m], s.ivf.scales[at:at+m], p.base[at:at+m]
		simd.DotU8(dots, s.ivf.centroids[at*len(sr.q8):], sr.q8)
		for i, d := range dots {
			base[i] = float32(d-sr.bias) * scales[i] * sr.scale
		}
	}
	q, mean := sr.q[:s.h.dim], s.ivf.mean[:s.h.dim]
	if s.h.kind == kindIVF1 {
		rot := rotationOf(s.h.dim)
		sr.rotate(rot)
		q, mean = sr.rotated, s.rotatedMean(rot)
	}
	p.d = slices.Grow(p.d[:0], len(q))[:len(q)]
	var square float32
	for j, x := range q {
		x -= mean[j]
		p.d[j] = x
		square += float32(x * x)
	}
	p.bound = float32(math.Sqrt(float64(square)))
	if s.h.kind == kindIVF1 {
		s.planes(p, sigmas)
	}
}

// rotatedMean returns the rotated mean. A rotation is linear, so the difference of query and mean is the
// difference of their rotations, and the query need not be rotated again for every segment.
func (s *Segment) rotatedMean(r *rotation) []float32 {
	if m := s.ivf.rotated.Load(); m != nil {
		return *m
	}
	m := r.appendRotated(nil, s.ivf.mean[:s.h.dim])
	s.ivf.rotated.Store(&m)
	return m
}

// planes rounds p.d to -8..7 steps and sets p.bits. The estimates of p.bits are then upper bounds of
// a row's score minus the score of its centroid.
func (s *Segment) planes(p *probe, sigmas float32) {
	step := scaleOf(p.d) * 127 / 7.5
	inv := inverse(step)
	p.d4 = slices.Grow(p.d4[:0], len(p.d))[:len(p.d)]
	sum := 0
	for j, x := range p.d {
		u := min(int8(round8(x, inv)), 7)
		p.d4[j] = u
		sum += int(u)
	}
	p.bits.Set(p.d4, recordStride(s.h.dim))
	p.bits.Weigh(2*step, sigmas*bitError*p.bound-step*float32(sum))
}

// probeLists visits lists in descending order of the bounds of their rows' scores, until no
// remaining bound exceeds the floor. count is the number of accepted rows. If it is
// cheaper to gather these rows, probeLists discards its candidates and returns gather true.
func (s *Segment) probeLists(ctx context.Context, sr *search, width float32, count int) (gather bool, err error) {
	p := &sr.probe
	reach := width * p.bound
	first := min(max(firstLists, firstRows*sr.cand.limit*s.h.lists/count), s.h.lists)
	p.first.reset(first)
	for list, base := range p.base {
		if x := base + reach*s.ivf.spreads[list]; x >= p.first.floor {
			p.first.push(Hit{Row: uint32(list), Score: x})
		}
	}
	p.lists = appendTop(p.lists[:0], p.first.hits, first)
	for _, l := range p.lists {
		s.visit(sr, int(l.Row))
	}
	last, floor := worstOf(p.lists), sr.cand.floor*sr.unit
	for list, base := range p.base {
		h := Hit{Row: uint32(list), Score: base + reach*s.ivf.spreads[list]}
		if h.Score > floor && Compare(h, last) > 0 {
			p.lists = append(p.lists, h)
		}
	}
	rest := p.lists[min(first, len(p.lists)):]
	if sr.accept != nil {
		left := 0
		for _, l := range rest {
			left += int(s.ivf.offsets[l.Row+1] - s.ivf.offsets[l.Row])
		}
		if left > s.h.gatherCost()*count {
			floor := sr.cand.floor
			sr.cand.reset(sr.cand.limit)
			sr.near.reset(sr.k)
			sr.cand.floor = floor // gathering will find again the rows that set it
			return true, nil
		}
	}
	slices.SortFunc(rest, Compare)
	for _, l := range rest {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if l.Score <= sr.cand.floor*sr.unit {
			break
		}
		s.visit(sr, int(l.Row))
	}
	return false, nil
}

// worstOf returns the last of some sorted hits. If there are none, it returns a hit that is better than all others.
func worstOf(hits []Hit) Hit {
	if len(hits) == 0 {
		return Hit{Score: float32(math.Inf(1))}
	}
	return hits[len(hits)-1]
}

// settle scores the positions of p.found. It starts with the greatest bounds p.most, and then skips
// the positions whose bound does not exceed the floor. The result does not depend on the order of p.found.
func (s *Segment) settle(sr *search) {
	p := &sr.probe
	p.first.reset(sr.k + sr.k/4 + 4)
	p.first.floor = sr.cand.floor * sr.unit
	for i, m := range p.most {
		if m > negInf && m >= p.first.floor {
			p.first.push(Hit{Row: p.found[i], Score: m})
		}
	}
	slices.SortFunc(p.first.hits, Compare)
	s.scoreBest(sr, p.first.hits)
	last, floor := worstOf(p.first.hits), sr.cand.floor*sr.unit
	p.rest = p.rest[:0]
	for i, m := range p.most {
		if m > floor {
			if h := (Hit{Row: p.found[i], Score: m}); Compare(h, last) > 0 {
				p.rest = append(p.rest, h)
			}
		}
	}
	slices.SortFunc(p.rest, Compare)
	s.scoreBest(sr, p.rest)
}

// scoreBest scores positions in descending order of their bounds, until a bound does not exceed the floor.
func (s *Segment) scoreBest(sr *search, sorted []Hit) {
	for _, h := range sorted[:min(ahead, len(sorted))] {
		s.prefetch(h.Row, len(sr.q8))
	}
	for i, h := range sorted {
		if h.Score <= sr.cand.floor*sr.unit {
			return
		}
		if i+ahead < len(sorted) {
			s.prefetch(sorted[i+ahead].Row, len(sr.q8))
		}
		s.scoreAt(sr, int(h.Row))
	}
}

// prefetch loads the 8-bit row of a position and its scale into the caches of the processor.
func (s *Segment) prefetch(position uint32, stride int) {
	if s.lean() {
		return
	}
	at := int(position)
	simd.Prefetch(s.codes[at*stride : (at+1)*stride])
	simd.Prefetch(bytesOf(s.scales[at : at+1]))
}

// scoreAt scores the row at a position and pushes it to the candidates, if it is accepted. The score is that
// of the 8-bit row, or of the float32 row if the segment is lean.
func (s *Segment) scoreAt(sr *search, position int) {
	row := s.ivf.rows[position]
	if int(row) >= s.h.n || sr.accept != nil && !sr.accept.Has(row) {
		return
	}
	if s.lean() {
		sr.candidate(Hit{Row: row, Score: sr.dot(s.readRow(sr, position, row))})
		return
	}
	var d [1]int32
	simd.DotU8(d[:], s.codes[position*len(sr.q8):], sr.q8)
	sr.candidate(Hit{Row: row, Score: float32(d[0]-sr.bias) * s.scales[position]})
}

// candidate pushes a row with its score in units. It rejects NaN, the score of a row that cannot be read.
func (s *search) candidate(h Hit) {
	s.cand.push(h)
	if s.near.limit == 0 || !(h.Score >= s.near.floor) {
		return
	}
	if s.near.push(h); s.near.full() {
		s.cand.floor = max(s.cand.floor, s.near.floor-s.slack)
	}
}

// ahead is the number of rows by which prefetching is ahead of scoring. It is large enough to
// hide the latency of memory and small enough for the line fill buffers.
const ahead = 8
