package sqlite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// BenchmarkAccept1 measures one durable Accept of a memory. p50-us is the median in microseconds.
func BenchmarkAccept1(b *testing.B) {
	_, s := openTest(b)
	r := rand.New(rand.NewPCG(1, 2))
	var took []time.Duration
	n := 0
	for b.Loop() {
		in, _, _ := memory(r, n)
		n++
		start := time.Now()
		_, err := s.Accept(context.Background(), []backend.Incoming{in})
		require.NoError(b, err)
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
}

// BenchmarkPipeline256 measures all store calls for a memory, in batches of 256:
// Accept, Claim, Index, Finish, Changes.
func BenchmarkPipeline256(b *testing.B) {
	for _, size := range []int{0, 50_000} {
		b.Run(fmt.Sprintf("after=%d", size), func(b *testing.B) {
			_, s := openTest(b)
			r := rand.New(rand.NewPCG(1, 2))
			n := 0
			for ; n < size; n += 256 {
				ingest(b, s, r, n, n+256)
			}
			after := s.LastSeq()
			done := 0
			var changes time.Duration
			cpu := cpuTime()
			for b.Loop() {
				ingest(b, s, r, n, n+256)
				n, done = n+256, done+256
				start := time.Now()
				for after < s.LastSeq() {
					cs, err := s.Changes(context.Background(), after, 2048)
					require.NoError(b, err)
					after = cs[len(cs)-1].Seq
				}
				changes += time.Since(start)
			}
			b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/float64(done), "cpu-us/memory")
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(done), "us/memory")
			b.ReportMetric(float64(changes.Microseconds())/float64(done), "us-changes/memory")
		})
	}
}

// BenchmarkChunks10 measures reading the chunks of ten search hits, out of 20,000.
func BenchmarkChunks10(b *testing.B) {
	_, s := openTest(b)
	r := rand.New(rand.NewPCG(1, 2))
	for n := 0; n < 20_000; n += 500 {
		ingest(b, s, r, n, n+500)
	}
	nums := make([]int64, 10)
	b.ReportAllocs()
	cpu, calls := cpuTime(), 0
	for b.Loop() {
		calls++
		for i := range nums {
			nums[i] = 1 + r.Int64N(20_000)
		}
		hs, err := s.Chunks(context.Background(), nums, testTime)
		require.NoError(b, err)
		require.Len(b, hs, 10)
	}
	b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/float64(calls), "cpu-us/op")
}

// BenchmarkPlainSQLiteRow measures inserting one text row in its own transaction: the
// lower bound of a durable write.
func BenchmarkPlainSQLiteRow(b *testing.B) {
	c, err := openConn(filepath.Join(b.TempDir(), "plain.db"), connOptions{cacheBytes: DefaultCacheBytes})
	require.NoError(b, err)
	defer func() { require.NoError(b, c.close()) }()
	require.NoError(b, c.do("CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT NOT NULL)"))
	for b.Loop() {
		require.NoError(b, c.do("INSERT INTO t (text) VALUES (?)", "On day one Anna met Robert in the harbour."))
	}
}
