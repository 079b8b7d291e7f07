package inmem_test

import (
	"fmt"
	"math/rand/v2"
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
