package vector

import (
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/contextmem/contextmem/internal/simd"
)

// codebook is the centroids of an inverted file. A centroid is what its 8-bit
// form says: residuals are taken from that, so nothing is lost by not keeping
// more, and all centroids of a million rows fit the second-level cache.
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

// set makes v centroid i.
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

// copyFrom makes centroid i what centroid j of another codebook is.
func (c *codebook) copyFrom(i int, from *codebook, j int) {
	stride := codeStride(c.dim)
	copy(c.codes[i*stride:(i+1)*stride], from.codes[j*stride:])
	c.scales[i], c.halves[i] = from.scales[j], from.halves[j]
}

// get writes centroid i to v.
func (c *codebook) get(i int, v []float32) {
	dequantise(v[:c.dim], c.codes[i*codeStride(c.dim):], c.scales[i])
}

// dequantise writes the row that codes and scale stand for to v.
func dequantise(v []float32, codes []uint8, scale float32) {
	for j := range v {
		v[j] = float32(int32(codes[j])-simd.Bias) * scale
	}
}

// prober finds nearest centroids; one for each goroutine.
type prober struct {
	q8   []int8
	dots [blockRows]int32
	near top
}

func newProber(dim int) *prober { return &prober{q8: make([]int8, codeStride(dim))} }

// search returns the centroid with the least Euclidean distance to the vector that p.q8, its scale and
// its bias stand for, up to quantisation, and <v,c> - |c|²/2.
func (c *codebook) search(p *prober, scale float32, bias int32) (list int, score float32) {
	return c.searchIn(p, scale, bias, 0, len(c.scales), 0, negInf)
}

// searchIn is search among the centroids from..to-1 and one that was found before.
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

// rank offers the centroids, as search scores them, to p.near.
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
	// trainRounds is the number of k-means rounds; later ones hardly move recall.
	trainRounds = 6
	// trainRows is the number of sample rows for each centroid.
	trainRows = 32
)

// train returns centroids of the sample by k-means (Lloyd 1982) from random rows.
// A centroid that loses all its rows restarts at a random row.
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

// improve returns the codebook after some rounds of k-means, its centroids in any order.
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

// sample is rows kept as 8 bits, a quarter of their size.
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

// query writes row i to q as a query and returns its bias.
func (s *sample) query(i int, q []int8) (bias int32) {
	for j, c := range s.codes[i*s.dim : (i+1)*s.dim] {
		x := int32(c) - simd.Bias
		q[j] = int8(x)
		bias += x
	}
	return bias * simd.Bias
}

// yieldRows is the number of rows after which the building of a segment yields the processor to searches.
const yieldRows = 32

// yield lets other goroutines run, once in yieldRows rows.
func yield(row int) {
	if row%yieldRows == 0 {
		runtime.Gosched()
	}
}

// parallel calls f for parts of 0..n-1 in up to workers goroutines and waits.
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
