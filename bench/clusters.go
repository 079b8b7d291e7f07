package bench

import (
	"math"
	"math/rand/v2"
)

// Vectors holds rows and queries of the same dimension, all scaled to unit length.
type Vectors struct {
	Dim     int
	N       int
	Flat    []float32 // row i is Flat[i*Dim : (i+1)*Dim]
	Queries [][]float32
}

// Row returns row i. It must not be changed.
func (v *Vectors) Row(i int) []float32 { return v.Flat[i*v.Dim : (i+1)*v.Dim : (i+1)*v.Dim] }

const (
	topics     = 64  // regions, each with its own directions of variation
	intrinsic  = 32  // directions in which the rows of a region vary
	topicShare = .55 // share of a cluster's centre that comes from its region
	noise      = .35 // length of the noise, which is equal in all dimensions
)

// Clusters returns n rows and queries made from a seed; equal arguments give equal
// vectors.
//
// The rows mimic embeddings of texts. There are 64 regions, each with clusters of unequal
// sizes: 200 rows on average, the k-th with a share proportional to 1/(k+8). The centres
// of the clusters share a component with their region. Around a centre, rows vary in 32
// directions of the region with falling strength (the j-th by 1/sqrt(j+1)), by an amount
// that differs from row to row (log-normal), plus noise in all dimensions. Everything is
// scaled to unit length. Queries are further draws with twice the noise: near the rows, but
// not among them. Experiments report the local intrinsic dimension of the answer.
func Clusters(seed uint64, n, dim, queries int) *Vectors {
	g := newGenerator(seed, n, dim)
	v := &Vectors{Dim: dim, N: n, Flat: make([]float32, n*dim), Queries: make([][]float32, queries)}
	for i := range n {
		g.draw(v.Flat[i*dim:(i+1)*dim], noise)
	}
	for i := range v.Queries {
		v.Queries[i] = make([]float32, dim)
		g.draw(v.Queries[i], 2*noise)
	}
	return v
}

type generator struct {
	r       *rand.Rand
	dim     int
	axes    [topics][]float32 // intrinsic rows of dim
	centres []float32
	topic   []int
	zipf    *rand.Zipf
	order   []int // clusters by size
}

func newGenerator(seed uint64, n, dim int) *generator {
	g := &generator{r: rand.New(rand.NewPCG(seed, uint64(dim))), dim: dim}
	var regions [topics][]float32
	for t := range topics {
		regions[t] = g.gaussian(dim, 1/math.Sqrt(float64(dim)))
		g.axes[t] = g.gaussian(intrinsic*dim, 1/math.Sqrt(float64(dim)))
		for j := range intrinsic {
			scale(g.axes[t][j*dim:(j+1)*dim], float32(1/math.Sqrt(float64(j+1))))
		}
	}
	clusters := max(topics, n/200)
	g.centres = g.gaussian(clusters*dim, (1-topicShare)/math.Sqrt(float64(dim)))
	g.topic = make([]int, clusters)
	for c := range clusters {
		g.topic[c] = c % topics
		for j, x := range regions[c%topics] {
			g.centres[c*dim+j] += topicShare * x
		}
	}
	g.order = g.r.Perm(clusters)
	g.zipf = rand.NewZipf(g.r, 1.0001, 8, uint64(clusters-1))
	return g
}

func (g *generator) gaussian(n int, sigma float64) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(g.r.NormFloat64() * sigma)
	}
	return out
}

func (g *generator) draw(dst []float32, noise float64) {
	c := g.order[g.zipf.Uint64()]
	copy(dst, g.centres[c*g.dim:(c+1)*g.dim])
	amount := .35 * math.Exp(.3*g.r.NormFloat64())
	axes := g.axes[g.topic[c]]
	for j := range intrinsic {
		z := float32(g.r.NormFloat64() * amount)
		for i, x := range axes[j*g.dim : (j+1)*g.dim] {
			dst[i] += z * x
		}
	}
	sigma := noise / math.Sqrt(float64(g.dim))
	for i := range dst {
		dst[i] += float32(g.r.NormFloat64() * sigma)
	}
	var square float64
	for _, x := range dst {
		square += float64(x) * float64(x)
	}
	scale(dst, float32(1/math.Sqrt(square)))
}

func scale(v []float32, f float32) {
	for i := range v {
		v[i] *= f
	}
}
