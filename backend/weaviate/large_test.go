package weaviate

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/backend/inmem"
)

// TestLargePartitionFindsTheBest checks that a partition with more matches than the first round reads returns the hits
// of an exhaustive search: from the cluster, since it is too large for the cache, and from the cache, which is filled in the background.
func TestLargePartitionFindsTheBest(t *testing.T) {
	t.Parallel()
	t.Run("cluster", func(t *testing.T) { testLargePartition(t, false) })
	t.Run("cache", func(t *testing.T) { testLargePartition(t, true) })
}

func testLargePartition(t *testing.T, cached bool) {
	t.Parallel()
	ctx := t.Context()
	seen := &graphqlCounter{}
	o := Options{Client: &http.Client{Transport: seen}, CacheBytes: 100_000}
	if cached {
		o.CacheBytes = 0
	}
	x, set := openSet(t, prefixOf(t.Name()), []string{sharedServer(t).URL(0)}, o)
	ix := set.Indexes()[0].(*index)
	require.NoError(t, ix.Lead(ctx, alwaysLeads(true)))
	want, err := inmem.New().OpenIndexes(ctx, backendtest.UID("oracle"))
	require.NoError(t, err)
	seq := uint64(0)
	apply := func(c backend.Change) {
		t.Helper()
		seq++
		c.Seq = seq
		for _, s := range []backend.IndexSet{set, want} {
			require.NoError(t, s.Indexes()[0].Apply(ctx, []backend.Change{c}))
		}
	}
	rng := rand.New(rand.NewPCG(3, 4))
	parts := []backend.Partition{testPart, {Class: backend.Memory, Sub: "beside"}}
	const chunks = 3000
	for i := range int64(chunks / 100 * 2) {
		c := backend.Change{Kind: backend.PutChunks, Part: parts[i%2], Source: i + 1, Tags: []uint64{uint64(i) % 3, 40}}
		for j := range int64(100) {
			text := backendtest.Text(rng, 1+rng.IntN(3))
			if i%2 == 0 && j == 50 {
				text += fmt.Sprintf(" A rare%d thing.", i%6)
			}
			c.Rows = append(c.Rows, backend.Row{Chunk: i*100 + j + 1, Ordinal: int(j), Text: text, Vector: backendtest.Vector(fmt.Sprint(i, j), testDim)})
		}
		apply(c)
	}
	const k = 20
	compare := func(docs int) {
		t.Helper()
		for _, f := range []backend.Filter{{}, {All: [][]uint64{{1, 2}, {40}}}, {Not: []uint64{0}}} {
			for _, text := range []string{"Anna painted the violin near Oslo", "Bruno repaired a rare2 lantern near Kyoto", "rare4 Anna Bruno Carla Dmitri Elena Farid Greta Hugo"} {
				for op, name := range []string{"any", "all"} {
					q := backend.KeywordQuery{Part: testPart, Text: text, Operator: backend.Operator(op), K: k, Filter: f}
					got, best := must(t)(set.Keywords().SearchKeywords(ctx, q)), must(t)(want.Keywords().SearchKeywords(ctx, q))
					require.True(t, op != 0 || len(best) == k)
					require.Len(t, got, len(best))
					for i, h := range got {
						assert.InDelta(t, best[i].Score, h.Score, 1e-4, "%s of %q: place %d", name, text, i)
					}
				}
				v := backend.VectorQuery{Part: testPart, Vector: backendtest.Vector(text, testDim), K: k, Filter: f}
				near := must(t)(want.Vectors().SearchVectors(ctx, v))
				requireHits(t, must(t)(set.Vectors().SearchVectors(ctx, v)), near, "near "+text)
				some := backend.ScoreQuery{Part: testPart, Vector: v.Vector}
				for _, h := range near {
					some.Chunks = append(some.Chunks, h.Chunk)
				}
				requireHits(t, must(t)(ix.ScoreChunks(ctx, some)), near, "scores for "+text)
			}
		}
		terms, n, _, err := set.Keywords().Terms(ctx, testPart, "Anna")
		require.NoError(t, err)
		assert.Equal(t, docs, n)
		assert.Positive(t, terms[0].DF)
	}
	compare(chunks)
	ix.fills.running.Wait()
	before := seen.n.Load()
	compare(chunks)
	if !cached {
		assert.Nil(t, x.partitions.find(partitionKey{of: ix, part: testPart}))
		assert.Greater(t, seen.n.Load(), before)
		return
	}
	apply(backend.Change{Kind: backend.PutTags, Part: testPart, Source: 1, Tags: []uint64{2, 40}})
	apply(backend.Change{Kind: backend.Drop, Part: testPart, Source: 3})
	apply(backend.Change{Kind: backend.PutChunks, Part: testPart, Source: 500, Tags: []uint64{1, 40}, Rows: []backend.Row{{Chunk: 50_000, Text: "Anna painted a rare4 lantern near Kyoto", Vector: backendtest.Vector("Anna painted the violin near Oslo", testDim)}}})
	before = seen.n.Load()
	compare(chunks - 100 + 1)
	assert.Equal(t, before, seen.n.Load(), "the cluster was asked")
	require.NoError(t, set.Close())
	assert.Zero(t, x.partitions.bytes)
}

// TestWordsOfMemoriesAreSearchedHere checks that keywords of memories are searched in the other Indexers as soon as those have the changes
// that the cluster has, and in the cluster until then.
func TestWordsOfMemoriesAreSearchedHere(t *testing.T) {
	t.Parallel()
	ctx, seen, feed := t.Context(), &graphqlCounter{}, testFeed(30)
	x, set := openSet(t, prefixOf(t.Name()), []string{sharedServer(t).URL(0)}, Options{Client: &http.Client{Transport: seen}})
	x.wordsHere = true
	want, err := inmem.New().OpenIndexes(ctx, backendtest.UID("oracle"))
	require.NoError(t, err)
	compare := func() (asked bool) {
		t.Helper()
		x.partitions.drop(set.Indexes()[0].(*index))
		before := seen.n.Load()
		for _, f := range []backend.Filter{{}, {All: [][]uint64{{1, 77}}}} {
			q := backend.KeywordQuery{Part: testPart, Text: "number5 shelf6 lantern", K: maxResults, Filter: f}
			best := must(t)(want.Keywords().SearchKeywords(ctx, q))
			require.NotEmpty(t, best)
			requireHits(t, must(t)(set.Keywords().SearchKeywords(ctx, q)), best, "words")
		}
		terms, docs, average, err := want.Keywords().Terms(ctx, testPart, "shelf6 lantern")
		require.NoError(t, err)
		gotTerms, gotDocs, gotAverage, err := set.Keywords().Terms(ctx, testPart, "shelf6 lantern")
		require.NoError(t, err)
		assert.Equal(t, []any{docs, len(terms)}, []any{gotDocs, len(gotTerms)})
		assert.InDelta(t, average, gotAverage, 1e-3)
		return seen.n.Load() > before
	}
	half := len(feed) / 2
	require.NoError(t, want.Indexes()[0].Apply(ctx, feed))
	for _, s := range set.Indexes()[1:] {
		require.NoError(t, s.Apply(ctx, feed[:half]))
	}
	require.NoError(t, set.Indexes()[0].Apply(ctx, feed))
	require.Equal(t, backend.Memory, testPart.Class)
	assert.True(t, compare(), "the other index lacks changes")
	for _, s := range set.Indexes()[1:] {
		require.NoError(t, s.Apply(ctx, feed[half:]))
	}
	assert.False(t, compare(), "the cluster was asked")
}
