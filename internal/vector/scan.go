package vector

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/contextmem/contextmem/internal/bitset"
	"github.com/contextmem/contextmem/internal/simd"
)

var negInf = float32(math.Inf(-1))

const (
	// blockRows is the number of rows of a kernel call: enough to hide the call,
	// few enough that the sums stay in the first-level cache. A multiple of 64.
	blockRows = 256
	// sparseWord is the number of accepted rows of 64 up to which they are scored
	// one by one: the break-even was measured at 10 for rows in the first-level
	// cache and at 16 and more for rows in memory.
	sparseWord = 12
	// checkRows is the number of rows scanned between two looks at the context.
	checkRows = 16384
	// keepHits is the capacity above which a search's buffers are not pooled.
	keepHits = 1 << 16
)

// search is the state of one search of one part: the query in the forms that the
// kernels want, and the candidates so far. It is pooled; see begin and end.
type search struct {
	form
	accept *bitset.Set
	kept   *narrowFilter // of accept in the segment; nil: none
	k      int
	floor  float32 // Query.Floor; -Inf: none
	square float32 // squared length of q, once finite was asked
	// selective says that accept is not nil and turns away more than scores do.
	selective bool
	anyOrder  bool

	// cand holds 8-bit scores, in units of scale: the row's scale times the whole
	// number. The unit is left out of the comparisons as it is the same for all.
	cand top
	unit float32 // of the scores of cand, in an inverted file
	// near, in an approximate search, is the best k of cand: what is further below the worst of them
	// than rounding explains, slack, is no candidate.
	near  top
	slack float32
	best  top // float32 scores
	buf   rowBuf
	dots  [blockRows]int32
	probe probe
}

// form is a query in the forms that the kernels want. The next part is mostly asked the same
// query: they are kept for it.
type form struct {
	given   []float32 // Query.Vector
	metric  Metric
	q       []float32 // padded; normalised under Cosine
	q8      []int8    // padded; empty: not made yet
	scale   float32   // of q8
	bias    int32     // to take off each dot product of q8 and a row
	rotated []float32 // empty: not made yet
}

// set makes f the forms of a vector.
func (f *form) set(v []float32, metric Metric) {
	if f.metric == metric && slices.Equal(f.given, v) {
		return
	}
	dim := len(v)
	f.given, f.metric = append(f.given[:0], v...), metric
	f.q = slices.Grow(f.q[:0], floatStride(dim))[:floatStride(dim)]
	copy(f.q, v)
	clear(f.q[dim:])
	if metric == Cosine {
		normalise(f.q)
	}
	f.q8, f.rotated = f.q8[:0], f.rotated[:0]
}

// quantise sets q8, its scale and its bias; small parts do without.
func (f *form) quantise() {
	if dim := len(f.given); len(f.q8) == 0 {
		f.q8 = slices.Grow(f.q8, codeStride(dim))[:codeStride(dim)]
		f.scale, f.bias = quantiseQuery(f.q8, f.q[:dim])
	}
}

// rotate sets rotated.
func (f *form) rotate(r *rotation) {
	if len(f.rotated) == 0 {
		f.rotated = r.appendRotated(f.rotated, f.q[:len(f.given)])
	}
}

var searches = sync.Pool{New: func() any { return new(search) }}

// begin returns the state for a query; k is at least 1.
func begin(query *Query, metric Metric, k int) *search {
	s := searches.Get().(*search)
	s.accept, s.k, s.selective, s.anyOrder, s.floor = query.Accept, k, false, query.AnyOrder, query.Floor
	s.buf.err = nil
	s.set(query.Vector, metric)
	if s.floor <= 0 {
		s.floor = negInf
	}
	s.best.reset(k)
	s.near.limit = 0
	return s
}

// end gives the state back. Nothing of it may be used afterwards.
func (s *search) end() {
	s.accept, s.kept = nil, nil
	if cap(s.cand.hits) <= keepHits && cap(s.best.hits) <= keepHits && cap(s.probe.found) <= keepHits {
		searches.Put(s)
	}
}

// finite reports whether the query's squared length is a finite number; otherwise
// scores mean nothing.
func (s *search) finite() bool {
	var d [1]float32
	simd.DotF32(d[:], s.q, s.q)
	s.square = d[0]
	return s.square <= math.MaxFloat32
}

// candidates is the number of 8-bit candidates that are scored again for k hits:
// rounding moves rows near the k-th place only, so a quarter more is plenty for a
// large k. search.widen makes up for the cases where they are too few.
func candidates(k int) int { return k + k/4 + 54 }

// accepted returns how many of the rows below n the query accepts.
func (s *search) accepted(n int) int {
	if s.accept == nil {
		return n
	}
	full := s.fullWords(n)
	c := bits.OnesCount64(s.word(len(full)*64, n))
	for _, w := range full {
		c += bits.OnesCount64(w)
	}
	return c
}

// fullWords returns the words of the filter that speak of rows below n only; the
// row behind them begins the one word that may speak of others. There must be a
// filter.
func (s *search) fullWords(n int) []uint64 {
	words := s.accept.Words()
	return words[:min(len(words), n>>6)]
}

// word returns which of the 64 rows from first on are accepted and below n.
func (s *search) word(first, n int) uint64 {
	w := ^uint64(0)
	if s.accept != nil {
		words := s.accept.Words()
		if first>>6 >= len(words) {
			return 0
		}
		w = words[first>>6]
	}
	if left := n - first; left < 64 {
		w &= 1<<max(0, left) - 1
	}
	return w
}

// pick appends the accepted rows below n, count of them, to dst. There must be a filter. The
// first two rows of a word are taken without looking whether they are there, as in a narrow
// filter no processor could predict it.
func (s *search) pick(ctx context.Context, dst []uint32, n, count int) ([]uint32, error) {
	full := s.fullWords(n)
	at := len(dst)
	dst = slices.Grow(dst, count+2)[:at+count+2]
	for i := 0; i <= len(full); i++ {
		if i%checkRows == 0 && ctx.Err() != nil {
			return dst[:at], ctx.Err()
		}
		var w uint64
		if i < len(full) {
			w = full[i]
		} else {
			w = s.word(i*64, n)
		}
		first, rest := uint32(i*64), w&(w-1)
		two := dst[at : at+2]
		two[0] = first + uint32(bits.TrailingZeros64(w))
		two[1] = first + uint32(bits.TrailingZeros64(rest))
		have := bits.OnesCount64(w)
		if have > 2 {
			to := dst[at+2:]
			rest &= rest - 1
			for j := 0; rest != 0; j++ {
				to[j] = first + uint32(bits.TrailingZeros64(rest))
				rest &= rest - 1
			}
		}
		at += have
	}
	return dst[:at], nil
}

// scan offers the accepted rows of a run to the candidates. codes and scales are
// the run's own; first, a multiple of 64, is the number of its first row.
func (s *search) scan(ctx context.Context, codes []uint8, scales []float32, first int) error {
	stride, n := len(s.q8), len(scales)
	for at := 0; at < n; at += blockRows {
		if at%checkRows == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		m := min(blockRows, n-at)
		if s.acceptsAll(first+at, m) {
			s.dense(codes[at*stride:], scales[at:at+m], uint32(first+at))
			continue
		}
		for sub := at; sub < at+m; sub += 64 {
			end := min(sub+64, n)
			w := s.word(first+sub, first+end)
			if w != 0 {
				s.masked(codes[sub*stride:], scales[sub:end], uint32(first+sub), w)
			}
		}
	}
	return nil
}

// acceptsAll reports whether the m rows from first on, a multiple of 64, all pass.
func (s *search) acceptsAll(first, m int) bool {
	if s.accept == nil {
		return true
	}
	for sub := 0; sub < m; sub += 64 {
		n := min(64, m-sub)
		if s.word(first+sub, first+sub+n) != ^uint64(0)>>(64-n) {
			return false
		}
	}
	return true
}

// dense scores up to blockRows rows, all of them accepted.
func (s *search) dense(codes []uint8, scales []float32, first uint32) {
	dots := s.dots[:len(scales)]
	simd.DotU8(dots, codes, s.q8)
	bias, floor := s.bias, s.cand.floor
	for i, d := range dots {
		if x := float32(d-bias) * scales[i]; x >= floor {
			s.cand.push(Hit{Row: first + uint32(i), Score: x})
			floor = s.cand.floor
		}
	}
}

// masked scores those of up to 64 rows whose bit is set in w.
func (s *search) masked(codes []uint8, scales []float32, first uint32, w uint64) {
	stride, dots := len(s.q8), s.dots[:len(scales)]
	if bits.OnesCount64(w) > sparseWord {
		simd.DotU8(dots, codes, s.q8)
	} else {
		for m := w; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m)
			simd.DotU8(dots[i:i+1], codes[i*stride:], s.q8)
		}
	}
	for ; w != 0; w &= w - 1 {
		i := bits.TrailingZeros64(w)
		if x := float32(dots[i]-s.bias) * scales[i]; x >= s.cand.floor {
			s.cand.push(Hit{Row: first + uint32(i), Score: x})
		}
	}
}

// floats gives rows for scoring again, padded with zeros: in place, or in buf where they
// have to be read. It returns nil, and has noted why, when that fails.
type floats interface {
	floatRow(row uint32, buf *rowBuf) []float32
	// floatRun returns the rows from a multiple of chunkRows on, so many of them or all that are
	// left, in place or in buf.
	floatRun(first uint32, buf *rowBuf) []float32
}

// rowBuf is the room for a row that has to be read.
type rowBuf struct {
	row    []float32
	halves []uint16 // before they are float32
	err    error    // the first
}

// score returns a row's float32 score; not a number when the row cannot be read.
func (s *search) score(f floats, row uint32) float32 { return s.dot(f.floatRow(row, &s.buf)) }

// dot returns the float32 score of a row that was read; nil: it could not.
func (s *search) dot(v []float32) float32 {
	if v == nil {
		return float32(math.NaN())
	}
	var d [1]float32
	simd.DotF32(d[:], v, s.q)
	return d[0]
}

// rescore offers a row's float32 score.
func (s *search) rescore(f floats, row uint32) {
	s.best.push(Hit{Row: row, Score: s.score(f, row)})
}

// boundSigmas is how many standard deviations of the quantisation error a row may
// be off and still be found. The sum of hundreds of independent roundings is
// close to normal: beyond four there are 3 rows in 100,000, and only rows that
// already lie at the boundary matter.
const boundSigmas = 4

// reach returns how far the 8-bit score of a row with the given scale and squared length is
// expected to be off its float32 score at most: rounding errors are uniform within a step, so the
// difference has the variance (scale²|q|² + s.scale²|row|²)/12.
func (s *search) reach(scale, square float32) float32 {
	return boundSigmas * float32(math.Sqrt(float64((scale*scale*s.square+s.scale*s.scale*square)/12)))
}

// refine offers the float32 scores of the candidates, best first, without those whose 8-bit score
// says that they are not among the best.
func (s *search) refine(p rows) {
	slices.SortFunc(s.cand.hits, Compare)
	longest := float32(0) // squared length of the rows so far
	for _, h := range s.cand.hits {
		floor := max(s.best.floor, s.floor)
		if longest > 0 && h.Score*s.scale+s.reach(p.rowScale(h.Row), longest) < floor {
			continue
		}
		row := p.floatRow(h.Row, &s.buf)
		if row == nil {
			return // the search fails
		}
		var square, dot [1]float32
		simd.DotF32(dot[:], row, s.q)
		simd.DotF32(square[:], row, row)
		longest = max(longest, square[0])
		s.best.push(Hit{Row: h.Row, Score: dot[0]})
	}
}

// all offers the float32 scores of all accepted rows below n; for parts and
// filters that leave so few that quantised candidates would not save anything.
func (s *search) all(f floats, n int) {
	if s.accept == nil {
		var scores [chunkRows]float32
		for first := 0; first < n; first += len(scores) {
			run := scores[:min(len(scores), n-first)]
			simd.DotF32(run, f.floatRun(uint32(first), &s.buf), s.q)
			if s.best.limit > n { // all of them
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

// rows is a part as exact search sees it.
type rows interface {
	floats
	// scanAll offers the 8-bit scores of the accepted rows below n to s.cand.
	scanAll(ctx context.Context, s *search, n int) error
	// rowScale returns the 8-bit scale of a row.
	rowScale(row uint32) float32
}

// exact finds the best accepted rows below n.
func (s *search) exact(ctx context.Context, p rows, n int) error {
	m := candidates(s.k)
	if n <= m || s.accept != nil && s.accepted(n) <= m {
		if s.anyOrder && n <= s.k {
			s.best.limit = n + 1 // never full: no heap is needed
		}
		s.all(p, n)
		return ctx.Err()
	}
	s.quantise()
	s.cand.reset(m)
	if err := p.scanAll(ctx, s, n); err != nil {
		return err
	}
	for _, h := range s.cand.hits {
		s.rescore(p, h.Row)
	}
	return s.widen(ctx, p, n)
}

// widen scans again when rows that just missed the candidates could beat the
// worst hit. The second scan keeps everything within reach of the worst hit.
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
	// Rows beyond this many are ties to 8 bits; the first of them win.
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
