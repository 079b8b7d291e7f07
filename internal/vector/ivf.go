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
	// firstLists is the number of lists that are probed before the rest is weighed
	// against the scores found in them; more where a filter leaves little, so that
	// they can be expected to hold firstRows times the candidates.
	firstLists = 6
	firstRows  = 4
	// selectiveShare: when a filter leaves fewer than one row of this many, rows are
	// looked up in it before their score is looked at, which more of them pass.
	selectiveShare = 6
)

// gatherCost is the time to score a row picked by a filter over that to score one of a list that is
// scanned. Measured were 2 to 4 for records, in all and of a filter that is kept, and 4 to 10 for 8-bit
// rows that are scanned, by filter and cache; less is saved where lists need not be visited after all.
func (h *header) gatherCost() int {
	if h.kind == kindIVF1 {
		return 4
	}
	return 10
}

// few reports whether a filter that leaves so many rows would have most lists visited.
func (h *header) few(count int) bool { return count <= h.n/(4*h.gatherCost()) }

// bitSigmas says, for each of recallPoints, how many standard deviations above
// its estimate a row may score and still be looked at. The paper's 1.9 keeps all
// but 3% of the rows at the very boundary.
var bitSigmas = [len(recallPoints)]float32{.8, 1.1, 1.4, 1.9, 2.2, 3}

// gatherSigmas is bitSigmas where the accepted rows are gathered and read: no list is left out, so that
// the codes alone may miss what the recall allows. At .98 that was 12 to 18 rows of 1000, of filters
// that leave 1 to 6 %.
var gatherSigmas = [len(recallPoints)]float32{.5, .7, 1, 1.4, 1.8, 3}

// bitError is the standard deviation of an estimate over factor*|d|: the root of
// 1 - a², where a, the cosine of a residual and its code, is close to the root of
// 2/pi in all but a few dimensions.
var bitError = float32(math.Sqrt(1 - 2/math.Pi))

// ivf is the sections of an inverted file, and what a search of it needs.
type ivf struct {
	rows      []uint32
	positions []uint32
	records   []byte
	offsets   []uint32
	centroids []uint8
	scales    []float32
	spreads   []float32
	mean      []float32
	rotated   atomic.Pointer[[]float32] // mean, rotated; nil until the first search
	filters   filterCache
}

// probe is the buffers of a search of an inverted file.
type probe struct {
	base  []float32 // <query, centroid> of each list
	lists []Hit     // lists by what they may hold
	found []uint32  // positions that a filter, or a threshold, leaves
	most  []float32 // what these may score at most
	first top       // of lists, or of found
	rest  []Hit     // of found
	bound float32   // |query - mean|
	d     []float32
	d4    []int8
	bits  simd.BitQuery
	ests  [blockRows]float32
}

// interpolate returns the value for a recall from the values at recallPoints.
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

// approximate finds accepted rows, expected to be the given share of the best.
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
		sr.slack = sr.reach(s.typicalScale(), sr.square) / sr.scale // rows are taken for as long as the query
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

// typicalScale returns a scale that most 8-bit rows do not exceed by much.
func (s *Segment) typicalScale() float32 {
	n := s.h.n
	return max(s.scales[0], s.scales[n/4], s.scales[n/2], s.scales[n-n/4-1], s.scales[n-1])
}

// lean reports whether candidates behind 1-bit codes are scored by float32 rows that are
// read, so that nothing but the codes stays in memory.
func (s *Segment) lean() bool { return s.reader != nil && s.Coded() }

// keep is the number of candidates for k hits: more than k by 8 bits, whose order is not
// quite the order by float32; search.slack mostly leaves fewer.
func (s *Segment) keep(k int) int {
	if s.lean() {
		return k + k/4 + 4 // each costs a system call
	}
	return k + k/2 + 12
}

// ties answers a query that is zero to 8 bits, which all rows answer alike.
func (s *Segment) ties(sr *search) {
	for first := 0; first < s.h.n && !sr.best.full(); first += 64 {
		for w := sr.word(first, s.h.n); w != 0 && !sr.best.full(); w &= w - 1 {
			sr.rescore(s, uint32(first+bits.TrailingZeros64(w)))
		}
	}
}

// prepare scores the centroids and, where there are 1-bit codes, turns the query
// into bit planes.
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

// rotatedMean returns the rotated mean. Rotations keep differences: that of the query and the mean
// need not be rotated in every segment.
func (s *Segment) rotatedMean(r *rotation) []float32 {
	if m := s.ivf.rotated.Load(); m != nil {
		return *m
	}
	m := r.appendRotated(nil, s.ivf.mean[:s.h.dim])
	s.ivf.rotated.Store(&m)
	return m
}

// planes rounds p.d to -8..7 steps and sets p.bits so that an
// estimate is the upper bound of a row's score less the score of its centroid.
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

// probeLists visits lists in the order of what they may hold, until none left may
// hold a row better than those found. count rows are accepted. It reports true,
// having done nothing that counts, when it is cheaper to gather those.
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
			sr.cand.floor = floor // the rows that set it will be found again
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

// worstOf returns the last of some sorted hits, or one that precedes all.
func worstOf(hits []Hit) Hit {
	if len(hits) == 0 {
		return Hit{Score: float32(math.Inf(1))}
	}
	return hits[len(hits)-1]
}

// settle scores what was found: those first that may score most, so that most others need no
// second look. What is scored does not depend on the order in which it was found.
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

// scoreBest scores positions, sorted by what they may score, as long as that is enough.
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

// scoreAt offers the score of a position, by 8 bits unless the segment is lean, if its row is
// accepted.
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

// candidate keeps a row with its score in units. Not a number, the score of a row that cannot be read,
// is turned away.
func (s *search) candidate(h Hit) {
	s.cand.push(h)
	if s.near.limit == 0 || !(h.Score >= s.near.floor) {
		return
	}
	if s.near.push(h); s.near.full() {
		s.cand.floor = max(s.cand.floor, s.near.floor-s.slack)
	}
}

// ahead is how many rows before its turn a row picked out of order is prefetched:
// enough to hide the latency of memory, few enough for the line fill buffers.
const ahead = 8
