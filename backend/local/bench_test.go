package local

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// benchPart is the partition that benchmarks use.
var benchPart = backend.Partition{Class: backend.Memory, Sub: "bench"}

const benchDim = 128

// benchChanges returns n memories of 25 terms, a minute apart with a gap every 20. Each
// memory has each of ten tags with probability 1/2.
func benchChanges(n int) []backend.Change {
	r := rand.New(rand.NewPCG(1, 2))
	vocabulary := make([]string, 8000)
	for i := range vocabulary {
		vocabulary[i] = fmt.Sprintf("w%x", r.Uint32())
	}
	zipf := rand.NewZipf(r, 1.1, 8, uint64(len(vocabulary)-1))
	start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	out := make([]backend.Change, n)
	for i := range out {
		var b strings.Builder
		for range 25 {
			b.WriteString(vocabulary[zipf.Uint64()])
			b.WriteByte(' ')
		}
		v := make([]float32, benchDim)
		for j := range v {
			v[j] = float32(r.NormFloat64()) / 11
		}
		tags := []uint64{1, 100 + uint64(i)}
		for t := range uint64(8) {
			if r.IntN(2) == 0 {
				tags = append(tags, 2+t)
			}
		}
		out[i] = backend.Change{
			Seq: uint64(i + 1), Kind: backend.PutChunks, Part: benchPart, Source: int64(i + 1), Tags: tags,
			Time: start.Add(time.Duration(i)*time.Minute + time.Duration(i/20)*time.Hour),
			Rows: []backend.Row{{Chunk: int64(i + 1), Text: b.String(), Vector: v, Extra: []byte(`{"s":"Ada","q":true}`)}},
		}
	}
	return out
}

func benchIndex(b *testing.B, n int) (*index, []backend.Change) {
	b.Helper()
	x, err := Open(b.TempDir(), nil)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, x.Close()) })
	ix := openTest(b, x).(*index)
	changes := benchChanges(n)
	require.NoError(b, ix.Apply(b.Context(), changes))
	return ix, changes
}

func BenchmarkApply(b *testing.B) {
	const n = 20_000
	changes := benchChanges(n)
	for b.Loop() {
		x, err := Open(b.TempDir(), nil)
		require.NoError(b, err)
		ix := openTest(b, x).(*index)
		require.NoError(b, ix.Apply(b.Context(), changes))
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkFlush(b *testing.B) {
	const n = 20_000
	changes := benchChanges(n)
	for b.Loop() {
		b.StopTimer()
		x, err := Open(b.TempDir(), nil)
		require.NoError(b, err)
		ix := openTest(b, x).(*index)
		require.NoError(b, ix.Apply(b.Context(), changes))
		b.StartTimer()
		require.NoError(b, ix.Flush(b.Context()))
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkOpen measures opening a workspace, without a search and with a first one.
// CONTEXTMEM_BENCH_ROWS adds a size.
func BenchmarkOpen(b *testing.B) {
	sizes := []int{50, 5000, 45_000}
	if s := os.Getenv("CONTEXTMEM_BENCH_ROWS"); s != "" {
		n, err := strconv.Atoi(s)
		require.NoError(b, err)
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		x, err := Open(b.TempDir(), nil)
		require.NoError(b, err)
		changes := benchChanges(n)
		ix := openTest(b, x).(*index)
		require.NoError(b, ix.Apply(b.Context(), changes))
		require.NoError(b, ix.Flush(b.Context()))
		ix.work.wait()
		require.NoError(b, ix.Close())
		b.Run(fmt.Sprintf("%d/alone", n), func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, openTest(b, x).(*index).Close())
			}
		})
		b.Run(fmt.Sprintf("%d/hits", n), func(b *testing.B) {
			for b.Loop() {
				ix := openTest(b, x).(*index)
				_, err := ix.SearchVectors(b.Context(), backend.VectorQuery{Part: benchPart, Vector: changes[0].Rows[0].Vector, K: 20})
				require.NoError(b, err)
				_, err = ix.SearchKeywords(b.Context(), backend.KeywordQuery{Part: benchPart, Text: changes[0].Rows[0].Text, K: 20})
				require.NoError(b, err)
				b.StopTimer() // large sections are still being verified
				require.NoError(b, ix.Close())
				b.StartTimer()
			}
		})
		require.NoError(b, x.Close())
	}
}

func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{50, 5000, 100_000} {
		ix, changes := benchIndex(b, n)
		half := backend.Filter{All: [][]uint64{{1}, {3}}}
		for _, filter := range []struct {
			name string
			f    backend.Filter
		}{{"none", backend.Filter{}}, {"half", half}} {
			b.Run(fmt.Sprintf("vectors/%d/filter=%s", n, filter.name), func(b *testing.B) {
				i := 0
				b.ReportAllocs()
				for b.Loop() {
					i++
					q := backend.VectorQuery{Part: benchPart, Vector: changes[i%n].Rows[0].Vector, K: 20, Filter: filter.f}
					_, err := ix.SearchVectors(b.Context(), q)
					require.NoError(b, err)
				}
			})
			b.Run(fmt.Sprintf("keywords/%d/filter=%s", n, filter.name), func(b *testing.B) {
				b.ReportAllocs()
				queries := benchQueries(changes)
				i := 0
				for b.Loop() {
					i++
					q := backend.KeywordQuery{Part: benchPart, Text: queries[i%len(queries)], K: 20, Filter: filter.f}
					_, err := ix.SearchKeywords(b.Context(), q)
					require.NoError(b, err)
				}
			})
		}
		b.Run(fmt.Sprintf("sessions/%d", n), func(b *testing.B) {
			queries := benchQueries(changes)
			i := 0
			for b.Loop() {
				i++
				_, err := ix.SearchSessions(b.Context(), backend.KeywordQuery{Part: benchPart, Text: queries[i%len(queries)], K: 200})
				require.NoError(b, err)
			}
		})
		b.Run(fmt.Sprintf("around800/%d", n), func(b *testing.B) {
			chunks := make([]int64, 800)
			for i := range chunks {
				chunks[i] = 1 + int64(i*7919%n)
			}
			for b.Loop() {
				_, err := ix.Neighbours(b.Context(), benchPart, chunks)
				require.NoError(b, err)
			}
		})
	}
}

// benchQueries returns queries of four terms of one memory each.
func benchQueries(changes []backend.Change) []string {
	out := make([]string, 64)
	for i := range out {
		words := strings.Fields(changes[i*37%len(changes)].Rows[0].Text)
		out[i] = strings.Join(words[3:7], " ")
	}
	return out
}
