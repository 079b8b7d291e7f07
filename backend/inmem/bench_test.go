package inmem_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/backend/inmem"
)

const benchDim = 128

var benchPart = backend.Partition{Class: backend.Memory, Sub: "bench"}

// ingest takes n memories of two sentences from Accept to the indexes, in batches.
func ingest(b *testing.B, w backend.Workspace, rng *rand.Rand, n int) {
	b.Helper()
	ctx := b.Context()
	s := w.Store()
	for from := 0; from < n; from += 50 {
		in := make([]backend.Incoming, min(50, n-from))
		for i := range in {
			in[i].Source = backend.Source{Part: benchPart, ID: fmt.Sprint(from + i), Time: backendtest.Base, UpdatedAt: backendtest.Base}
		}
		_, err := s.Accept(ctx, in)
		require.NoError(b, err)
		claims, err := s.Claim(ctx, "w", backendtest.Base, backendtest.Base.Add(time.Hour), len(in), 0)
		require.NoError(b, err)
		indexed, finished := make([]backend.Indexed, len(claims)), make([]backend.Finished, len(claims))
		for i, c := range claims {
			text := backendtest.Text(rng, 2)
			indexed[i] = backend.Indexed{Num: c.Num, Token: "w", Chunks: []backend.Chunk{{Key: c.ID, Text: text, Vector: make([]float32, benchDim)}}}
			for j := range indexed[i].Chunks[0].Vector {
				indexed[i].Chunks[0].Vector[j] = rng.Float32()
			}
			finished[i] = backend.Finished{Num: c.Num, Token: "w", State: backend.Completed, Mentions: []backend.Mention{{Key: text[:4], Name: text[:4], Weight: 1}}}
		}
		_, err = s.Index(ctx, indexed)
		require.NoError(b, err)
		_, err = s.Finish(ctx, finished)
		require.NoError(b, err)
		changes, err := s.Changes(ctx, w.Indexes()[0].Applied(), 1000)
		require.NoError(b, err)
		require.NoError(b, w.Indexes()[0].Apply(ctx, changes))
	}
}

func BenchmarkIngest(b *testing.B) {
	const n = 1000
	for b.Loop() {
		w, err := inmem.New().OpenWorkspace(b.Context(), backendtest.UID("bench"))
		require.NoError(b, err)
		ingest(b, w, rand.New(rand.NewPCG(1, 2)), n)
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "items/s")
}

// remember takes the memories from..to of one person from Accept to the indexes. Each states facts about the person, whom it names by an alias.
func remember(tb testing.TB, w backend.Workspace, from, to int) {
	tb.Helper()
	ctx := tb.Context()
	s := w.Store()
	for ; from < to; from += 50 {
		in := make([]backend.Incoming, min(50, to-from))
		for i := range in {
			in[i].Source = backend.Source{Part: benchPart, ID: fmt.Sprint(from + i), Time: backendtest.Base.Add(time.Duration(from+i) * time.Minute), UpdatedAt: backendtest.Base}
		}
		_, err := s.Accept(ctx, in)
		require.NoError(tb, err)
		claims, err := s.Claim(ctx, "w", backendtest.Base, backendtest.Base.Add(time.Hour), len(in), 0)
		require.NoError(tb, err)
		require.Len(tb, claims, len(in))
		indexed, finished := make([]backend.Indexed, len(claims)), make([]backend.Finished, len(claims))
		for i, c := range claims {
			indexed[i] = backend.Indexed{Num: c.Num, Token: "w", Chunks: []backend.Chunk{{Key: c.ID, Text: "Ann has moved to town " + c.ID}}}
			n := from + i
			fact := func(predicate string, object int, functional, retracts bool) backend.Relation {
				return backend.Relation{FromKey: "ann", Predicate: predicate, Object: fmt.Sprint(object), KnownFrom: c.Time, Functional: functional, Retracts: retracts}
			}
			finished[i] = backend.Finished{
				Num: c.Num, Token: "w", State: backend.Completed,
				Mentions:  []backend.Mention{{Key: "ann", Name: "Ann", Weight: 1}, {Key: "ann lee", Name: "Ann Lee", Weight: 1}},
				Relations: []backend.Relation{fact("lives_in", n, true, false), fact("likes", n%200, false, n%7 == 0)},
				Aliases:   []backend.Alias{{From: "ann", Into: "ann lee", Likely: true, At: c.Time}},
			}
		}
		_, err = s.Index(ctx, indexed)
		require.NoError(tb, err)
		_, err = s.Finish(ctx, finished)
		require.NoError(tb, err)
		ann, err := s.EntitiesByKey(ctx, benchPart, []string{"ann"})
		require.NoError(tb, err)
		facts, err := s.Relations(ctx, backend.RelationQuery{Part: benchPart, Sources: []int64{claims[0].Num}, Entities: []int64{ann[0].Num}, AllTime: true, Limit: 10})
		require.NoError(tb, err)
		require.Len(tb, facts, 2)
		_, err = s.Mentioned(ctx, backend.MentionQuery{Part: benchPart, Keys: []string{"ann"}, Oldest: 8})
		require.NoError(tb, err)
		changes, err := s.Changes(ctx, w.Indexes()[0].Applied(), 1000)
		require.NoError(tb, err)
		require.NoError(tb, w.Indexes()[0].Apply(ctx, changes))
		for _, c := range claims { // what a process asks when it has nothing to do
			expired, _, err := s.Expire(ctx, backendtest.Base, 100)
			require.NoError(tb, err)
			require.Zero(tb, expired)
			counts, _, err := s.Backlog(ctx)
			require.NoError(tb, err)
			require.Len(tb, counts, 1)
			done, err := s.Compare(ctx, 1, []backend.Compared{{Source: backend.Version{Num: c.Num, Rev: 1}}})
			require.NoError(tb, err)
			require.Equal(tb, []bool{true}, done)
			_, err = s.Uncompared(ctx, 1, 0, 100)
			require.NoError(tb, err)
		}
	}
}

// BenchmarkRemember measures what a memory costs in workspaces that grow to n memories of one person.
func BenchmarkRemember(b *testing.B) {
	for _, n := range []int{1000, 4000, 16000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				w, err := inmem.New().OpenWorkspace(b.Context(), backendtest.UID("bench"))
				require.NoError(b, err)
				remember(b, w, 0, n)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n*b.N), "ns/item")
		})
	}
}

// TestRememberAllocatesEvenly holds the growth of a workspace near linear: what a memory makes a full store allocate is near what it makes a small
// store allocate. Allocations are counted, because they do not depend on what else the machine does.
// The test is not parallel, because the count is that of the process.
func TestRememberAllocatesEvenly(t *testing.T) {
	w, err := inmem.New().OpenWorkspace(t.Context(), backendtest.UID("bench"))
	require.NoError(t, err)
	allocated := func(from, to int) float64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		remember(t, w, from, to)
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc-before.TotalAlloc) / float64(to-from)
	}
	small := allocated(0, 2000)
	remember(t, w, 2000, 6000)
	full := allocated(6000, 8000)
	require.Less(t, full/small, 3.0, "bytes for each memory: %.0f among the first 2,000, %.0f after 6,000", small, full)
}

func BenchmarkSearch(b *testing.B) {
	ctx := b.Context()
	for _, n := range []int{1000, 5000} {
		w, err := inmem.New().OpenWorkspace(ctx, backendtest.UID("bench"))
		require.NoError(b, err)
		ingest(b, w, rand.New(rand.NewPCG(1, 2)), n)
		b.Run(fmt.Sprintf("vectors/%d", n), func(b *testing.B) {
			q := backend.VectorQuery{Part: benchPart, Vector: make([]float32, benchDim), K: 10}
			for b.Loop() {
				_, err := w.Vectors().SearchVectors(ctx, q)
				require.NoError(b, err)
			}
		})
		b.Run(fmt.Sprintf("keywords/%d", n), func(b *testing.B) {
			q := backend.KeywordQuery{Part: benchPart, Text: "who painted the lantern near Oslo", K: 10}
			for b.Loop() {
				_, err := w.Keywords().SearchKeywords(ctx, q)
				require.NoError(b, err)
			}
		})
	}
}
