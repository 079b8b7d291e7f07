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
	// blockRows is the number of rows of a kernel call. It is large enough for the cost of
	// the call not to matter, and small enough for the sums to stay in the first-level
	// cache. It is a multiple of 64.
	blockRows = 256
	// sparseWord is the number of accepted rows of 64 up to which they are scored
	// one by one. The measured break-even is 10 for rows in the first-level cache, and
	// 16 or more for rows in memory.
	sparseWord = 12
	// checkRows is the number of rows scanned between two checks of the context.
	checkRows = 16384
	// keepHits is the capacity above which a search's buffers are not pooled.
	keepHits = 1 << 16
)

// search is the state of one search of one part: the query in the forms that the
// kernels need, and the candidates so far. It is pooled; see begin and end.
type search struct {
	form
	accept *bitset.Set
	kept   *narrowFilter // the segment's cached filter for accept; nil: none
	k      int
	floor  float32 // Query.Floor; -Inf: none
	square float32 // squared length of q, set by finite
	// selective reports whether accept is checked before the floor; see selectiveShare.
	selective bool
	anyOrder  bool

	// cand holds 8-bit scores in units of the query's scale: the row's scale times the
	// integer dot product. Comparisons need no other unit, since the scale is the same for all.
	cand top
	unit float32 // in an inverted file, the unit of the scores of cand
	// near holds the best k of cand in an approximate search. A row whose score is more than slack, a bound
	// of the rounding error, below the worst of near is no candidate.
	near  top
	slack float32
	best  top // float32 scores
	buf   rowBuf
	dots  [blockRows]int32
	probe probe
}

// form holds a query in the forms that the kernels need. A pooled search keeps them, since the next
// search is mostly for the same query in another part.
type form struct {
	given   []float32 // Query.Vector
	metric  Metric
	q       []float32 // padded; normalised under Cosine
	q8      []int8    // padded; empty: not made yet
	scale   float32   // of q8
	bias    int32     // to subtract from each dot product of q8 and a row
	rotated []float32 // empty: not computed yet
}

// set sets f to the forms of a vector, unless it has them already.
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

// quantise sets q8, scale and bias. Searches of small parts do not need them.
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

// begin returns a pooled search for a query. k is at least 1.
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

// end returns s to the pool. The caller must not use s afterwards.
func (s *search) end() {
	s.accept, s.kept = nil, nil
	if cap(s.cand.hits) <= keepHits && cap(s.best.hits) <= keepHits && cap(s.probe.found) <= keepHits {
		searches.Put(s)
	}
}

// finite reports whether the query's squared length is finite. If it is not, scores mean nothing.
func (s *search) finite() bool {
	var d [1]float32
	simd.DotF32(d[:], s.q, s.q)
	s.square = d[0]
	return s.square <= math.MaxFloat32
}

// candidates returns the number of 8-bit candidates that are scored again for k hits.
// Rounding changes the rank only of rows near the k-th, so a quarter more is enough for a
// large k. If they are too few, search.widen scans again.
func candidates(k int) int { return k + k/4 + 54 }

// accepted returns the number of accepted rows below n.
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

// fullWords returns those words of the filter whose 64 rows are all below n. At most one more
// word has rows below n. There must be a filter.
func (s *search) fullWords(n int) []uint64 {
	words := s.accept.Words()
	return words[:min(len(words), n>>6)]
}

// word returns a bit set of those of the 64 rows from first on that are accepted and below n.
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

// pick appends the count accepted rows below n to dst. There must be a filter. pick writes the first
// two rows of each word without a branch on whether they exist. With a narrow filter such a
// branch would be mispredicted too often.
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

// scan scores the accepted rows of a run by 8 bits and adds them to the candidates. codes and scales
// are those of the run. first is the number of its first row, a multiple of 64.
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

// acceptsAll reports whether all m rows from first on are accepted. first is a multiple of 64.
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

// dense scores up to blockRows rows, all of which are accepted.
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

// masked scores up to 64 rows, of which those with a bit in w are accepted.
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

// floats returns float32 rows, padded with zeros. They lie in the part, or in buf if they had to
// be read. If reading fails, the methods set buf.err and return nil.
type floats interface {
	floatRow(row uint32, buf *rowBuf) []float32
	// floatRun returns the rows first to first+chunkRows-1, or fewer at the end. first is a multiple of
	// chunkRows.
	floatRun(first uint32, buf *rowBuf) []float32
}

// rowBuf is the buffer for a row that has to be read.
type rowBuf struct {
	row    []float32
	halves []uint16 // the row as 16-bit numbers, before conversion
	err    error    // the first error
}

// score returns a row's float32 score, or NaN if the row cannot be read.
func (s *search) score(f floats, row uint32) float32 { return s.dot(f.floatRow(row, &s.buf)) }

// dot returns the float32 score of a row, or NaN if v is nil because the row could not be read.
func (s *search) dot(v []float32) float32 {
	if v == nil {
		return float32(math.NaN())
	}
	var d [1]float32
	simd.DotF32(d[:], v, s.q)
	return d[0]
}

// rescore pushes a row with its float32 score to s.best.
func (s *search) rescore(f floats, row uint32) {
	s.best.push(Hit{Row: row, Score: s.score(f, row)})
}

// boundSigmas is the number of standard deviations of the quantisation error by which an 8-bit
// score may be too low for the row to be still found. The error is the sum of hundreds of
// independent roundings and close to normal: 3 rows in 100,000 exceed four standard
// deviations, and of these only rows at the boundary matter.
const boundSigmas = 4

// reach returns the assumed bound of the difference of the 8-bit and the float32 score of a row with
// the given scale and squared length. Rounding errors are uniform within a step, so the difference
// has the variance (scale²|q|² + s.scale²|row|²)/12.
func (s *search) reach(scale, square float32) float32 {
	return boundSigmas * float32(math.Sqrt(float64((scale*scale*s.square+s.scale*s.scale*square)/12)))
}

// refine pushes the candidates with their float32 scores to s.best, best first. It skips those whose
// 8-bit score is so low that they cannot be among the best.
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
