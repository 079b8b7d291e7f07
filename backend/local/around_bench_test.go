package local

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// BenchmarkAround measures the calls, other than searches, that the first recall of memories makes to a partition that was just opened: whether
// it is small, and the chunks around the best ones. Memories are in named sessions of 40, or in sessions by time. blocks is the number of blocks.
func BenchmarkAround(b *testing.B) {
	const n = 250_000
	for _, named := range []bool{true, false} {
		for _, blocks := range []int{1, 3} {
			b.Run(fmt.Sprintf("named=%v/blocks=%d", named, blocks), func(b *testing.B) {
				x, err := Open(b.TempDir(), nil)
				require.NoError(b, err)
				ix := openTest(b, x).(*index)
				start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
				size := n * 3 / 4 // so that no merge is due
				for from, left := 0, blocks; from < n; from, left, size = from+size, left-1, size/4 {
					if left == 1 {
						size = n - from
					}
					changes := make([]backend.Change, size)
					for i := range changes {
						at := from + i
						c := backend.Change{Seq: uint64(at + 1), Kind: backend.PutChunks, Part: benchPart, Source: int64(at + 1), Tags: []uint64{uint64(at)},
							Time: start.Add(time.Duration(at)*time.Minute + time.Duration(at/20)*time.Hour),
							Rows: []backend.Row{{Chunk: int64(at + 1), Text: "one two three", Extra: []byte(`{"s":"Ada","q":true}`)}}}
						if named {
							c.Session = fmt.Sprint("chat", at/40)
						}
						changes[i] = c
					}
					require.NoError(b, ix.Apply(b.Context(), changes))
					require.NoError(b, ix.Flush(b.Context()))
					ix.work.wait()
				}
				require.Len(b, ix.files, blocks)
				require.NoError(b, ix.Close())
				chunks := make([]int64, 50)
				for i := range chunks {
					chunks[i] = int64(1 + i*n/50)
				}
				var used time.Duration
				for b.Loop() {
					before := cpuTime()
					ix := openTest(b, x).(*index)
					small, err := ix.Survey(b.Context(), backend.SurveyQuery{Part: benchPart, Text: "one", Most: 2000}, new(backend.Survey))
					require.NoError(b, err)
					require.False(b, small)
					_, err = ix.Neighbours(b.Context(), benchPart, chunks)
					require.NoError(b, err)
					used += cpuTime() - before
					b.StopTimer()
					require.NoError(b, ix.Close())
					b.StartTimer()
				}
				b.ReportMetric(float64(used.Microseconds())/1000/float64(b.N), "cpu-ms/op")
				require.NoError(b, x.Close())
			})
		}
	}
}

// BenchmarkMentions measures the lookup of a question's entities, which the first recall of knowledge makes in a partition that was just
// opened. Each of 20,000 sources has eight mentions, out of 60,000 entities, of which a few are frequent.
func BenchmarkMentions(b *testing.B) {
	const n, of = 20_000, 60_000
	x, err := Open(b.TempDir(), nil)
	require.NoError(b, err)
	ix := openTest(b, x).(*index)
	part := backend.Partition{Class: backend.Knowledge, Sub: "bench"}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		mentions := make([]backend.MentionRef, 8)
		for j := range mentions {
			r := rng.Float64()
			e := int64(of * r * r * r)
			mentions[j] = backend.MentionRef{Chunk: int64(i + 1), Entity: e + 1, Key: fmt.Sprint("entity ", e), Weight: 1}
		}
		require.NoError(b, ix.Apply(b.Context(), []backend.Change{
			{Seq: uint64(2*i + 1), Kind: backend.PutChunks, Part: part, Source: int64(i + 1), Rows: []backend.Row{{Chunk: int64(i + 1), Text: "one"}}},
			{Seq: uint64(2*i + 2), Kind: backend.PutGraph, Part: part, Source: int64(i + 1), Mentions: mentions},
		}))
	}
	require.NoError(b, ix.Flush(b.Context()))
	require.NoError(b, ix.Close())
	var used time.Duration
	for b.Loop() {
		before := cpuTime()
		ix := openTest(b, x).(*index)
		named, err := ix.MatchEntities(b.Context(), part, []string{"entity 7"})
		require.NoError(b, err)
		require.Len(b, named, 1)
		used += cpuTime() - before
		b.StopTimer()
		require.NoError(b, ix.Close())
		b.StartTimer()
	}
	b.ReportMetric(float64(used.Microseconds())/1000/float64(b.N), "cpu-ms/op")
	require.NoError(b, x.Close())
}
