package vector

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/contextmem/contextmem/internal/simd"
)

// calibration measures how many lists a search must probe. A search probes a list if
//
//	<query, centroid> + width * spread * |query - mean|
//
// exceeds the worst score wanted. For sample queries, calibration measures the width that
// reaches each true neighbour. The quantiles of these widths are the widths for
// recallPoints. A sample query is a row to which a share of another row is added: real
// queries are near their answers but not equal to them, and differ in the directions in
// which the data varies. Since future queries are unknown, the share that needs the greatest
// width decides.
type calibration struct {
	dim     int
	mean    []float32
	queries []calibrationQuery
}

type calibrationQuery struct {
	v     []float32
	q8    []int8
	scale float32
	bias  int32
	best  top
}

// calibrationCaution is a share of the misses that a recall allows. It is kept in reserve for chance,
// and for queries that resemble rows less than the sample queries do.
const calibrationCaution = .25

// calibrationMix lists the shares of a second row's difference from the mean that are added to sample queries.
var calibrationMix = [...]float32{0, .5, 1}

func newCalibration(s *sample, mean []float32, r *rand.Rand) *calibration {
	c, other := &calibration{dim: s.dim, mean: mean}, make([]float32, s.dim)
	for i := range min(calibrationQueries, len(s.scales)) {
		q := calibrationQuery{v: make([]float32, s.dim), q8: make([]int8, codeStride(s.dim))}
		s.get(r.IntN(len(s.scales)), q.v)
		s.get(r.IntN(len(s.scales)), other)
		for j, x := range other {
			q.v[j] += float32(calibrationMix[i%len(calibrationMix)] * (x - mean[j]))
		}
		q.scale, q.bias = quantiseQuery(q.q8, q.v)
		// One more than wanted, since a query that is a row finds itself.
		q.best.reset(calibrationK + 1)
		c.queries = append(c.queries, q)
	}
	return c
}

func distance(v, mean []float32) float32 {
	var sum float64
	for j, x := range v {
		d := float64(x - mean[j])
		sum += d * d
	}
	return float32(math.Sqrt(sum))
}

// see scores m rows for every sample query. The first of them is row at.
func (c *calibration) see(at, m int, row func(i int) []float32, workers int) {
	stride := codeStride(c.dim)
	codes, scales := alignedBytes(m*stride), make([]float32, m)
	parallel(m, workers, func(from, to int) {
		for i := from; i < to; i++ {
			yield(i)
			scales[i] = quantiseRow(codes[i*stride:(i+1)*stride], row(i))
		}
	})
	parallel(len(c.queries), workers, func(from, to int) {
		var dots [blockRows]int32
		for first := 0; first < m; first += blockRows {
			n := min(blockRows, m-first)
			for j := from; j < to; j++ {
				yield(j)
				q := &c.queries[j]
				simd.DotU8(dots[:n], codes[first*stride:], q.q8)
				for i, d := range dots[:n] {
					if x := float32(d-q.bias) * scales[first+i] * q.scale; x >= q.best.floor {
						q.best.push(Hit{Row: uint32(at + first + i), Score: x})
					}
				}
			}
		}
	})
}

// widths returns the widths for recallPoints, in ascending order.
func (c *calibration) widths(b *ivfBuilder) (widths [len(recallPoints)]float32) {
	var needed [len(calibrationMix)][]float32
	for i := range c.queries {
		group := &needed[i%len(needed)]
		*group = c.needed(&c.queries[i], b, calibrationMix[i%len(needed)] == 0, *group)
	}
	for _, group := range needed {
		slices.Sort(group)
		for i, p := range recallPoints {
			if len(group) > 0 {
				q := p + (1-p)*calibrationCaution
				widths[i] = max(widths[i], group[min(len(group)-1, int(q*float32(len(group))))])
			}
		}
	}
	return widths
}

// needed appends the widths that reach each of the query's true neighbours. If isRow is set, the
// query is a row, and needed skips the first neighbour, which is the query itself.
func (c *calibration) needed(q *calibrationQuery, b *ivfBuilder, isRow bool, dst []float32) []float32 {
	length := distance(q.v, c.mean)
	found := appendTop(nil, q.best.hits, calibrationK+1)
	if isRow && len(found) > 1 {
		found = found[1:]
	}
	found = found[:min(len(found), calibrationK)]
	centroid := make([]float32, c.dim)
	for _, h := range found {
		list := b.owner[h.Row]
		b.book.get(int(list), centroid)
		var near float32
		for j, x := range centroid {
			near += float32(x * q.v[j])
		}
		if reach := b.spreads[list] * length; reach > 0 {
			dst = append(dst, (found[len(found)-1].Score-near)/reach)
		}
	}
	return dst
}
