package vector

import (
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/contextmem/contextmem/internal/simd"
)

// codebook holds the centroids of an inverted file, quantised to 8 bits. Residuals are
// computed from the quantised centroids, so quantisation loses nothing. All centroids of a
// million rows fit into the second-level cache.
type codebook struct {
	dim    int
	codes  []uint8 // [lists][codeStride]
	scales []float32
	halves []float32 // half of the squared lengths
}

func newCodebook(dim, lists int) *codebook {
	return &codebook{
		dim:    dim,
		codes:  alignedBytes(lists * codeStride(dim)),
		scales: make([]float32, lists),
		halves: make([]float32, lists),
	}
}

// set sets centroid i to v.
func (c *codebook) set(i int, v []float32) {
	stride := codeStride(c.dim)
	c.scales[i] = quantiseRow(c.codes[i*stride:(i+1)*stride], v)
	c.halves[i] = 0
	w := make([]float32, c.dim)
	c.get(i, w)
	for _, x := range w {
		c.halves[i] += float32(x * x / 2)
	}
}

// copyFrom sets centroid i to centroid j of another codebook.
func (c *codebook) copyFrom(i int, from *codebook, j int) {
	stride := codeStride(c.dim)
	copy(c.codes[i*stride:(i+1)*stride], from.codes[j*stride:])
	c.scales[i], c.halves[i] = from.scales[j], from.halves[j]
}

// get writes centroid i to v.
func (c *codebook) get(i int, v []float32) {
	dequantise(v[:c.dim], c.codes[i*codeStride(c.dim):], c.scales[i])
}

// dequantise writes the row with the given codes and scale to v.
func dequantise(v []float32, codes []uint8, scale float32) {
	for j := range v {
		v[j] = float32(int32(codes[j])-simd.Bias) * scale
	}
}

// prober holds the buffers for finding nearest centroids. It is not safe for concurrent use.
type prober struct {
	q8   []int8
	dots [blockRows]int32
	near top
}

func newProber(dim int) *prober { return &prober{q8: make([]int8, codeStride(dim))} }

// search returns the centroid c with the least Euclidean distance, up to quantisation, to the vector v that
// is quantised in p.q8 with scale and bias. score is <v,c> - |c|²/2.
func (c *codebook) search(p *prober, scale float32, bias int32) (list int, score float32) {
	return c.searchIn(p, scale, bias, 0, len(c.scales), 0, negInf)
}

// searchIn is search among the centroids from..to-1 and the centroid list, which was found before with score.
func (c *codebook) searchIn(p *prober, scale float32, bias int32, from, to, list int, score float32) (int, float32) {
	stride := len(p.q8)
	for at := from; at < to; at += blockRows {
		m := min(blockRows, to-at)
		dots, scales, halves := p.dots[:m], c.scales[at:at+m], c.halves[at:at+m]
		simd.DotU8(dots, c.codes[at*stride:], p.q8)
		for i, d := range dots {
			if s := float32(float32(d-bias)*scales[i]*scale) - halves[i]; s > score {
				list, score = at+i, s
			}
		}
	}
	return list, score
}

// rank scores all centroids like search and pushes them to p.near.
func (c *codebook) rank(p *prober, scale float32, bias int32) {
	for at := 0; at < len(c.scales); at += blockRows {
		dots := p.dots[:min(blockRows, len(c.scales)-at)]
		simd.DotU8(dots, c.codes[at*len(p.q8):], p.q8)
		for i, d := range dots {
			p.near.push(Hit{Row: uint32(at + i), Score: float32(float32(d-bias)*c.scales[at+i]*scale) - c.halves[at+i]})
		}
	}
}

const (
	// trainRounds is the number of k-means rounds; more rounds hardly change recall.
	trainRounds = 6
	// trainRows is the number of sample rows per centroid.
	trainRows = 32
)

// train computes centroids of the sample by k-means (Lloyd 1982), starting from random rows.
// A centroid that loses all its rows is set to a random row.
func train(sample *sample, lists, workers int, r *rand.Rand, check func() error) (*codebook, error) {
	dim, n := sample.dim, len(sample.scales)
	c := newCodebook(dim, lists)
	v := make([]float32, dim)
	for i, at := range r.Perm(n)[:lists] {
		sample.get(at, v)
		c.set(i, v)
	}
	return c.improve(sample, make([]int, n), trainRounds, workers, r, check)
}

// improve runs some rounds of k-means. The centroids of its result may be in another order.
func (c *codebook) improve(sample *sample, owner []int, rounds, workers int, r *rand.Rand, check func() error) (*codebook, error) {
	for range rounds {
		g, err := newGroups(c, workers, r, check)
		if err != nil {
			return nil, err
		}
		if err := g.own(sample, owner, workers, check); err != nil {
			return nil, err
		}
		c = g.book
		c.recentre(sample, owner, r)
	}
	return c, nil
}

// recentre moves every centroid to the mean of its rows.
func (c *codebook) recentre(sample *sample, owner []int, r *rand.Rand) {
	dim, lists := c.dim, len(c.scales)
	sums, counts, v := make([]float32, lists*dim), make([]int, lists), make([]float32, dim)
	for i, list := range owner {
		sample.get(i, v)
		sum := sums[list*dim : (list+1)*dim]
		for j, x := range v {
			sum[j] += x
		}
		counts[list]++
	}
	for list, count := range counts {
		sum := sums[list*dim : (list+1)*dim]
		if count == 0 {
			sample.get(r.IntN(len(owner)), sum)
			count = 1
		}
		for j := range sum {
			sum[j] /= float32(count)
		}
		c.set(list, sum)
	}
}

// sample holds rows quantised to 8 bits.
type sample struct {
	dim    int
	codes  []uint8
	scales []float32
}

func newSample(dim, n int) *sample {
	return &sample{dim: dim, codes: make([]uint8, n*dim), scales: make([]float32, n)}
}

func (s *sample) set(i int, v []float32) {
	s.scales[i] = quantiseRow(s.codes[i*s.dim:(i+1)*s.dim], v)
}

func (s *sample) get(i int, v []float32) { dequantise(v, s.codes[i*s.dim:(i+1)*s.dim], s.scales[i]) }

// query writes row i to q, quantised as a query, and returns its bias.
func (s *sample) query(i int, q []int8) (bias int32) {
	for j, c := range s.codes[i*s.dim : (i+1)*s.dim] {
		x := int32(c) - simd.Bias
		q[j] = int8(x)
		bias += x
	}
	return bias * simd.Bias
}

// yieldRows is the number of rows after which a builder of a segment yields the processor to searches.
const yieldRows = 32

// yield lets other goroutines run if row is a multiple of yieldRows.
func yield(row int) {
	if row%yieldRows == 0 {
		runtime.Gosched()
	}
}

// parallel divides 0..n-1 into up to workers ranges, calls f with each in a goroutine, and waits.
func parallel(n, workers int, f func(from, to int)) {
	workers = min(workers, n)
	if workers <= 1 {
		f(0, n)
		return
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { f(w*n/workers, (w+1)*n/workers) })
	}
	wg.Wait()
}
