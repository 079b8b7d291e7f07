package vector

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/bitset"
)

// sum64 sums x. Its time is a lower bound for any scan of x in plain Go.
func sum64(x []uint64) (s uint64) {
	var a, b, c, d uint64
	for ; len(x) >= 8; x = x[8:] {
		a += x[0] + x[4]
		b += x[1] + x[5]
		c += x[2] + x[6]
		d += x[3] + x[7]
	}
	return a + b + c + d
}

// BenchmarkExact searches parts without an inverted file. Its sub-benchmark floor only reads the 8-bit rows once.
func BenchmarkExact(b *testing.B) {
	for _, shape := range []struct{ n, dim int }{{48, 128}, {2000, 128}, {20_000, 128}, {20_000, 384}, {100_000, 384}} {
		c := newClusters(1, shape.dim, 100, 1)
		vs, queries := c.take(shape.n), c.take(64)
		s := segmentOf(b, shape.dim, InnerProduct, vs, &WriteOptions{ExactRows: -1})
		for _, accept := range []float64{1, .1, .01} {
			b.Run(fmt.Sprintf("%dx%d/segment/accept=%v", shape.n, shape.dim, accept), func(b *testing.B) {
				var set *bitset.Set
				if accept < 1 {
					set = share(rand.New(rand.NewPCG(1, 1)), shape.n, accept)
				}
				benchSearch(b, s, set, queries)
			})
		}
		b.Run(fmt.Sprintf("%dx%d/mem/accept=1", shape.n, shape.dim), func(b *testing.B) {
			benchSearch(b, memOf(shape.dim, InnerProduct, vs), nil, queries)
		})
		b.Run(fmt.Sprintf("%dx%d/floor", shape.n, shape.dim), func(b *testing.B) {
			words := unsafe.Slice((*uint64)(unsafe.Pointer(&s.codes[0])), len(s.codes)/8)
			var x uint64
			for b.Loop() {
				x += sum64(words)
			}
			b.SetBytes(int64(len(s.codes)))
		})
	}
}

func benchSearch(b *testing.B, p part, accept *bitset.Set, queries [][]float32) {
	b.ReportAllocs()
	q := &Query{K: 10, Accept: accept}
	var dst []Hit
	var err error
	for i := 0; b.Loop(); i++ {
		q.Vector = queries[i%len(queries)]
		dst, err = p.Search(b.Context(), q, dst[:0])
		require.NoError(b, err)
	}
}

// benchSize returns size, or the value of an environment variable if it is set:
// CONTEXTMEM_BENCH_ROWS or CONTEXTMEM_BENCH_DIM.
func benchSize(b *testing.B, name string, size int) int {
	s := os.Getenv(name)
	if s == "" {
		return size
	}
	n, err := strconv.Atoi(s)
	require.NoError(b, err)
	return n
}

// flatRows returns n rows of c in one allocation.
func flatRows(c *clusters, n, dim int) func(i int) []float32 {
	flat := make([]float32, n*dim)
	for i := range n {
		copy(flat[i*dim:], c.next())
	}
	return func(i int) []float32 { return flat[i*dim : (i+1)*dim] }
}

// BenchmarkIVF searches segments with an inverted file, for two recalls and several filters.
func BenchmarkIVF(b *testing.B) {
	n, dims := benchSize(b, "CONTEXTMEM_BENCH_ROWS", 30_000), []int{128, 384}
	if dim := benchSize(b, "CONTEXTMEM_BENCH_DIM", 0); dim > 0 {
		dims = []int{dim}
	}
	for _, dim := range dims {
		c := newClusters(1, dim, max(64, n/400), 1.5)
		row := flatRows(c, n, dim)
		var file bytes.Buffer
		start := cpuTime(b)
		require.NoError(b, WriteSegment(&file, dim, InnerProduct, n, row, nil))
		build := cpuTime(b) - start
		s, err := OpenSegment(file.Bytes())
		require.NoError(b, err)
		queries := c.take(100)
		for _, accept := range []float64{1, .5, .1, .01} {
			var set *bitset.Set
			if accept < 1 {
				set = share(rand.New(rand.NewPCG(1, 1)), n, accept)
			}
			var truth [][]Hit
			for _, v := range queries {
				hits, err := s.Search(b.Context(), &Query{Vector: v, K: 10, Accept: set, Recall: 1}, nil)
				require.NoError(b, err)
				truth = append(truth, hits)
			}
			for _, recall := range []float32{.95, .98} {
				b.Run(fmt.Sprintf("%dx%d/accept=%v/recall=%v", n, dim, accept, recall), func(b *testing.B) {
					q := &Query{K: 10, Accept: set, Recall: recall}
					var dst []Hit
					i, found, want := 0, 0, 0
					start := cpuTime(b)
					for b.Loop() {
						q.Vector = queries[i%len(queries)]
						dst, err = s.Search(b.Context(), q, dst[:0])
						require.NoError(b, err)
						if i < len(queries) {
							found, want = found+common(dst, truth[i]), want+len(truth[i])
						}
						i++
					}
					b.ReportMetric(float64(found)/float64(want), "recall@10")
					b.ReportMetric(float64((cpuTime(b)-start).Nanoseconds())/float64(i), "cpu-ns/op")
					b.ReportMetric(build.Seconds(), "build-cpu-s")
				})
			}
		}
	}
}
