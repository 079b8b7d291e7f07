package vector

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/bitset"
	"github.com/contextmem/contextmem/internal/simd"
)

// clusters draws vectors from a mixture of Gaussians whose centres are in turn drawn around
// fewer centres. The variance of the coordinates decreases like that of principal components
// of text embeddings, so few directions dominate, and neighbours lie in many lists. With
// noise 1 there is as much noise as structure.
type clusters struct {
	r       *rand.Rand
	centres [][]float32
	falloff []float64
	noise   float64
	unit    bool
}

func newClusters(seed uint64, dim, count int, noise float64) *clusters {
	c := &clusters{r: rand.New(rand.NewPCG(seed, uint64(dim))), noise: noise, unit: true}
	var total float64
	for j := range dim {
		c.falloff = append(c.falloff, 1/math.Sqrt(float64(4+j)))
		total += 1 / float64(4+j)
	}
	for j := range c.falloff {
		c.falloff[j] /= math.Sqrt(total)
	}
	var topics [][]float32
	for range max(1, count/16) {
		topics = append(topics, c.around(make([]float32, dim), 1))
	}
	for i := range count {
		c.centres = append(c.centres, c.around(topics[i%len(topics)], .8))
	}
	return c
}

func (c *clusters) around(centre []float32, spread float64) []float32 {
	v := make([]float32, len(centre))
	for i := range v {
		v[i] = centre[i] + float32(c.r.NormFloat64()*spread*c.falloff[i])
	}
	return v
}

func (c *clusters) next() []float32 {
	v := c.around(c.centres[c.r.IntN(len(c.centres))], c.noise)
	if c.unit {
		normalise(v)
	}
	return v
}

func (c *clusters) take(n int) [][]float32 {
	vs := make([][]float32, n)
	for i := range vs {
		vs[i] = c.next()
	}
	return vs
}

// oracle answers by the definition of a search: it scores every accepted row and sorts.
type oracle struct {
	metric Metric
	rows   [][]float32 // padded, normalised under Cosine
}

func newOracle(vs [][]float32, metric Metric) *oracle {
	o := &oracle{metric: metric}
	for _, v := range vs {
		o.rows = append(o.rows, o.pad(v))
	}
	return o
}

func (o *oracle) pad(v []float32) []float32 {
	p := make([]float32, floatStride(len(v)))
	copy(p, v)
	if o.metric == Cosine {
		normalise(p)
	}
	return p
}

// all returns all accepted rows, best first.
func (o *oracle) all(q *Query) []Hit {
	query := o.pad(q.Vector)
	hits := make([]Hit, 0, len(o.rows))
	for i, row := range o.rows {
		if q.Accept != nil && !q.Accept.Has(uint32(i)) {
			continue
		}
		var d [1]float32
		simd.DotF32(d[:], row, query)
		if d[0] == d[0] {
			hits = append(hits, Hit{uint32(i), d[0]})
		}
	}
	slices.SortFunc(hits, Compare)
	return hits
}

// brute returns the best q.K rows.
func (o *oracle) brute(q *Query) []Hit {
	hits := o.all(q)
	return hits[:min(q.K, len(hits))]
}

func brute(vs [][]float32, metric Metric, q *Query) []Hit { return newOracle(vs, metric).brute(q) }

// part is the interface of Mem and Segment.
type part interface {
	Search(ctx context.Context, q *Query, dst []Hit) ([]Hit, error)
	Score(ctx context.Context, q []float32, rows []uint32, dst []float32) ([]float32, error)
	Vector(row uint32, buf []float32) []float32
	Len() int
	Dim() int
	Metric() Metric
}

func memOf(dim int, metric Metric, vs [][]float32) *Mem {
	m := NewMem(dim, metric)
	for _, v := range vs {
		m.Append(v)
	}
	return m
}

func segmentBytes(t testing.TB, dim int, metric Metric, vs [][]float32, opts *WriteOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, WriteSegment(&b, dim, metric, len(vs), func(i int) []float32 { return vs[i] }, opts))
	return b.Bytes()
}

func segmentOf(t testing.TB, dim int, metric Metric, vs [][]float32, opts *WriteOptions) *Segment {
	t.Helper()
	s, err := OpenSegment(segmentBytes(t, dim, metric, vs, opts))
	require.NoError(t, err)
	require.NoError(t, s.Verify())
	return s
}

// parts returns the rows as a Mem and as an exact segment.
func parts(t *testing.T, dim int, metric Metric, vs [][]float32) map[string]part {
	return map[string]part{
		"mem":     memOf(dim, metric, vs),
		"segment": segmentOf(t, dim, metric, vs, &WriteOptions{ExactRows: -1}),
	}
}

// common returns the number of rows that are in both.
func common(a, b []Hit) (n int) {
	rows := map[uint32]bool{}
	for _, h := range a {
		rows[h.Row] = true
	}
	for _, h := range b {
		if rows[h.Row] {
			n++
		}
	}
	return n
}

// share returns a set of about the given share of n rows.
func share(r *rand.Rand, n int, p float64) *bitset.Set {
	s := bitset.New(n)
	for i := range n {
		if r.Float64() < p {
			s.Add(uint32(i))
		}
	}
	return s
}

func TestExactEqualsBruteForce(t *testing.T) {
	t.Parallel()
	for _, dim := range dimensions(1, 3, 16, 64, 100, 128, 384, 1000, 4096) {
		for _, metric := range []Metric{InnerProduct, Cosine} {
			t.Run(fmt.Sprintf("dim=%d,metric=%d", dim, metric), func(t *testing.T) {
				t.Parallel()
				c := newClusters(uint64(dim), dim, 20, 1)
				c.unit = metric == InnerProduct && dim%2 == 0
				n := min(3000, 1_500_000/dim)
				vs := c.take(n)
				for name, p := range parts(t, dim, metric, vs) {
					compareWithBrute(t, name, p, vs, c)
				}
			})
		}
	}
}

func compareWithBrute(t *testing.T, name string, p part, vs [][]float32, c *clusters) {
	t.Helper()
	require.Equal(t, len(vs), p.Len())
	o := newOracle(vs, p.Metric())
	found, want := 0, 0
	for _, k := range []int{1, 10, 150, len(vs) + 5} {
		for _, accept := range []float64{1, .5, .1, .01, 0} {
			q := &Query{Vector: c.next(), K: k}
			if accept < 1 {
				q.Accept = share(c.r, len(vs), accept)
			}
			hits, err := p.Search(t.Context(), q, nil)
			require.NoError(t, err)
			truth := o.brute(q)
			require.Len(t, hits, len(truth), "%s: K=%d accept=%v", name, k, accept)
			require.True(t, slices.IsSortedFunc(hits, Compare), "%s: not in order", name)
			scores := map[uint32]float32{}
			for _, h := range truth {
				scores[h.Row] = h.Score
			}
			for _, h := range hits {
				if score, ok := scores[h.Row]; ok {
					require.Equal(t, score, h.Score, "%s: score of row %d", name, h.Row)
					found++
				}
			}
			want += len(truth)
		}
	}
	assert.GreaterOrEqual(t, float64(found), .999*float64(want), "%s: recall", name)
	compareScores(t, name, p, o, c.next())
}

func compareScores(t *testing.T, name string, p part, o *oracle, v []float32) {
	t.Helper()
	rows := []uint32{uint32(p.Len() - 1), 0, uint32(p.Len()), uint32(p.Len() / 2)}
	got, err := p.Score(t.Context(), v, rows, []float32{7})
	require.NoError(t, err)
	want := map[uint32]float32{}
	for _, h := range o.brute(&Query{Vector: v, K: p.Len()}) {
		want[h.Row] = h.Score
	}
	require.Len(t, got, 1+len(rows))
	for i, row := range rows {
		if row == uint32(p.Len()) {
			require.True(t, math.IsNaN(float64(got[1+i])), "%s: a row that is not there", name)
			continue
		}
		require.Equal(t, want[row], got[1+i], "%s: row %d", name, row)
	}
	_, err = p.Score(t.Context(), append(v, 1), rows, nil)
	require.ErrorIs(t, err, ErrDimension)
}

// TestExactNearTies searches rows with equal 8-bit scores, and equal rows. The second scan must
// find the best ones, and of equal scores the lower row.
func TestExactNearTies(t *testing.T) {
	t.Parallel()
	const dim, n = 64, 2000
	r := rand.New(rand.NewPCG(11, 12))
	base := newClusters(13, dim, 1, 1).next()
	vs := make([][]float32, n)
	for i := range vs {
		vs[i] = slices.Clone(base)
		vs[i][i%dim] += float32(r.IntN(100)) * 2e-6
	}
	for name, p := range parts(t, dim, InnerProduct, vs) {
		q := &Query{Vector: base, K: 10}
		hits, err := p.Search(t.Context(), q, nil)
		require.NoError(t, err)
		require.Equal(t, brute(vs, InnerProduct, q), hits, name)
	}
	for i := range vs {
		vs[i] = base
	}
	for name, p := range parts(t, dim, InnerProduct, vs) {
		q := &Query{Vector: base, K: 10}
		hits, err := p.Search(t.Context(), q, nil)
		require.NoError(t, err)
		require.Equal(t, brute(vs, InnerProduct, q), hits, name)
	}
}

func TestSearchEdges(t *testing.T) {
	t.Parallel()
	const dim = 20
	c := newClusters(1, dim, 4, 1)
	vs := c.take(300)
	for name, p := range parts(t, dim, InnerProduct, vs) {
		for _, k := range []int{0, -3} {
			hits, err := p.Search(t.Context(), &Query{Vector: vs[0], K: k}, nil)
			require.NoError(t, err, name)
			assert.Empty(t, hits, name)
		}
		_, err := p.Search(t.Context(), &Query{Vector: vs[0][:dim-1], K: 1}, nil)
		require.ErrorIs(t, err, ErrDimension, name)

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = p.Search(ctx, &Query{Vector: vs[0], K: 1}, nil)
		require.ErrorIs(t, err, context.Canceled, name)

		dst := []Hit{{Row: 7, Score: 9}}
		dst, err = p.Search(t.Context(), &Query{Vector: vs[5], K: 3}, dst)
		require.NoError(t, err, name)
		require.Len(t, dst, 4, name)
		assert.Equal(t, Hit{Row: 7, Score: 9}, dst[0], name)

		// Sets that are longer and shorter than the part.
		more := bitset.New(1000)
		more.Fill()
		hits, err := p.Search(t.Context(), &Query{Vector: vs[5], K: 1000, Accept: more}, nil)
		require.NoError(t, err, name)
		assert.Len(t, hits, 300, name)
		fewer := bitset.New(70)
		fewer.Fill()
		hits, err = p.Search(t.Context(), &Query{Vector: vs[5], K: 1000, Accept: fewer}, nil)
		require.NoError(t, err, name)
		assert.Len(t, hits, 70, name)

		assert.Equal(t, vs[299], p.Vector(299, nil), name)
		assert.Nil(t, p.Vector(300, nil), name)
		assert.Equal(t, dim, p.Dim(), name)
	}
	for name, p := range parts(t, dim, Cosine, nil) {
		hits, err := p.Search(t.Context(), &Query{Vector: vs[0], K: 5}, nil)
		require.NoError(t, err, name)
		assert.Empty(t, hits, name)
	}
}

// TestOddValues uses zero rows, zero queries, subnormal and huge values, and NaN. Nothing may
// panic, and rows with ordinary scores must be found.
func TestOddValues(t *testing.T) {
	t.Parallel()
	const dim = 70
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, metric := range []Metric{InnerProduct, Cosine} {
		t.Run(fmt.Sprint(metric), func(t *testing.T) {
			c := newClusters(2, dim, 4, 1)
			vs := c.take(400)
			vs[3] = make([]float32, dim)
			for i, x := range []float32{nan, inf, -inf, 1e-42, 3e38} {
				vs[10+i] = slices.Clone(vs[10+i])
				vs[10+i][i] = x
			}
			for name, p := range parts(t, dim, metric, vs) {
				q := &Query{Vector: vs[100], K: 5}
				hits, err := p.Search(t.Context(), q, nil)
				require.NoError(t, err)
				rows := map[uint32]bool{}
				for _, h := range hits {
					rows[h.Row] = true
					assert.False(t, math.IsNaN(float64(h.Score)), name)
				}
				assert.True(t, rows[100], "%s: %v", name, hits)
				for _, v := range [][]float32{make([]float32, dim), vs[10], vs[11], vs[13], vs[14]} {
					_, err := p.Search(t.Context(), &Query{Vector: v, K: 200}, nil)
					require.NoError(t, err, name)
				}
				zero, err := p.Search(t.Context(), &Query{Vector: make([]float32, dim), K: 3}, nil)
				require.NoError(t, err, name)
				require.Len(t, zero, 3, name)
				assert.Zero(t, zero[0].Score, name)
			}
		})
	}
}

func TestMemWhileAppending(t *testing.T) {
	t.Parallel()
	const dim, n = 32, 3000
	c := newClusters(3, dim, 10, 1)
	vs, queries := c.take(n), c.take(4)
	m := NewMem(dim, InnerProduct)
	var wg sync.WaitGroup
	for _, v := range queries {
		wg.Go(func() {
			for m.Len() < n {
				before := m.Len()
				q := &Query{Vector: v, K: 5}
				hits, err := m.Search(t.Context(), q, nil)
				if !assert.NoError(t, err) {
					return
				}
				after := m.Len()
				assert.GreaterOrEqual(t, len(hits), min(5, before))
				for _, h := range hits {
					assert.Less(t, int(h.Row), after)
					assert.Equal(t, vs[h.Row], m.Vector(h.Row, nil))
				}
			}
		})
	}
	for i, v := range vs {
		require.Equal(t, uint32(i), m.Append(v))
	}
	wg.Wait()
	hits, err := m.Search(t.Context(), &Query{Vector: queries[0], K: 5}, nil)
	require.NoError(t, err)
	assert.Equal(t, brute(vs, InnerProduct, &Query{Vector: queries[0], K: 5}), hits)
}

func TestMemRefusesShapes(t *testing.T) {
	t.Parallel()
	assert.Panics(t, func() { NewMem(0, Cosine) })
	assert.Panics(t, func() { NewMem(MaxDim+1, Cosine) })
	assert.Panics(t, func() { NewMem(4, Metric(9)) })
	assert.Panics(t, func() { NewMem(4, Cosine).Append(make([]float32, 3)) })
}

func TestTop(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(21, 22))
	for range 300 {
		limit, n := 1+r.IntN(40), r.IntN(200)
		var tp top
		tp.reset(limit)
		var all []Hit
		for i := range n {
			h := Hit{Row: uint32(i), Score: float32(r.IntN(20))}
			all = append(all, h)
			tp.push(h)
		}
		slices.SortFunc(all, Compare)
		got := appendTop(nil, tp.hits, limit)
		require.Equal(t, all[:min(limit, n)], append([]Hit{}, got...))
	}
}
