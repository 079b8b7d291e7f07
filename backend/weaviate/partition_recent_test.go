package weaviate

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/internal/testtool"
)

// TestNodesSelectCandidates searches partitions whose terms do not fit into the cache. As soon as all but recent chunks are in
// segments of the node its BM25 selects the candidates, and the hits are those of an exhaustive search. What was put
// since is found at once, though the node does not select it; what was removed is not. Cached counts are at most .5 % of the partition off. Scores
// follow from the node's explanations, or, without a dictionary, from terms that are read. Another process does the same as soon as it has read the dictionary.
func TestNodesSelectCandidates(t *testing.T) {
	t.Parallel()
	t.Run("explained", func(t *testing.T) { testNodesSelect(t, true) })
	t.Run("read", func(t *testing.T) { testNodesSelect(t, false) })
}

func testNodesSelect(t *testing.T, explained bool) {
	t.Parallel()
	ctx := t.Context()
	w, err := testtool.StartWeaviate(serverProgram(t), t.TempDir(), 1, map[string]string{"PERSISTENCE_MEMTABLES_FLUSH_DIRTY_AFTER_SECONDS": "1"})
	require.NoError(t, err)
	defer w.Stop()
	x, set := openSet(t, prefixOf(t.Name()), w.URLs(), Options{CacheBytes: 1_200_000})
	x.partitions.settle = time.Hour
	ix := set.Indexes()[0].(*index)
	require.NoError(t, ix.Lead(ctx, alwaysLeads(true)))
	want, err := inmem.New().OpenIndexes(ctx, backendtest.UID("oracle"))
	require.NoError(t, err)
	seq := uint64(0)
	var feed []backend.Change
	apply := func(some ...backend.Change) {
		t.Helper()
		for i := range some {
			seq++
			some[i].Seq = seq
		}
		feed = append(feed, some...)
		for _, s := range append(set.Indexes(), want.Indexes()[0]) {
			require.NoError(t, s.Apply(ctx, some))
		}
	}
	rng := rand.New(rand.NewPCG(3, 4))
	word := rand.NewZipf(rng, 1.1, 5, 4000)
	sentence := func(n int) string {
		words := make([]string, n)
		for i := range words {
			words[i] = fmt.Sprint("word", word.Uint64())
		}
		return strings.Join(words, " ")
	}
	parts := []backend.Partition{{Class: backend.Knowledge, Sub: "a"}, {Class: backend.Knowledge, Sub: "b"}}
	put := func(part backend.Partition, source int64, text string) backend.Change {
		return backend.Change{Kind: backend.PutChunks, Part: part, Source: source, Tags: []uint64{uint64(source) % 3}, Rows: []backend.Row{{Chunk: source, Text: text}}}
	}
	const chunks = 3000
	for i := int64(1); i <= 2*chunks; i += 500 {
		var some []backend.Change
		for source := i; source < i+500; source++ {
			some = append(some, put(parts[source%2], source, sentence(25)))
		}
		apply(some...)
	}
	find := func(of backend.IndexSet, q backend.KeywordQuery) []backend.Hit {
		t.Helper()
		hits, err := of.Keywords().SearchKeywords(ctx, q)
		require.NoError(t, err)
		return hits
	}
	selects := func(part backend.Partition) bool {
		return ix.useRecent(ctx, part, func(*partitionRecent) {})
	}
	query := func(part backend.Partition, f backend.Filter) backend.KeywordQuery {
		return backend.KeywordQuery{Part: part, Text: "word0 word1 " + sentence(6), K: 100, Filter: f}
	}
	// compare returns the shares of the 10 best, and of all, that are found. Scores must be right up to what removed chunks that are
	// still counted make of them.
	compare := func(n int) (first, all float64) {
		t.Helper()
		for i := range n {
			for _, f := range []backend.Filter{{}, {All: [][]uint64{{1, 2}}}} {
				q := query(parts[i%2], f)
				if e := x.partitions.find(partitionKey{of: ix, part: q.Part, dim: dictionaryDim}); e != nil && !explained {
					x.partitions.discard(e)
				}
				got, best := find(set, q), find(want, q)
				have := map[int64]backend.Hit{}
				for _, h := range got {
					have[h.Chunk] = h
				}
				require.Len(t, got, len(best))
				for j, h := range best {
					g, ok := have[h.Chunk]
					if ok {
						require.InEpsilon(t, h.Score, g.Score, .02)
					}
					ok = ok || h.Score-got[j].Score < 1e-3 // another one of the same score
					if ok && j < 10 {
						first += 1. / 10 / float64(2*n)
					}
					if ok {
						all += 1 / float64(len(best)) / float64(2*n)
					}
				}
			}
		}
		return first, all
	}
	for _, part := range parts {
		find(set, query(part, backend.Filter{}))
		require.False(t, selects(part), "what was put before may be in the node's memory alone")
	}
	for _, part := range parts {
		ix.fills.running.Wait()
		for end := time.Now().Add(slowly); !hasDictionary(ix, part) && time.Now().Before(end); { // a busy node may not answer all of a read
			ix.fills.hurryUnlessUnfit()
			find(set, query(part, backend.Filter{}))
			ix.fills.running.Wait()
		}
		require.True(t, hasDictionary(ix, part), "the dictionary does not fit")
		require.Nil(t, x.partitions.find(partitionKey{of: ix, part: part}), "the terms fit")
	}
	first, all := compare(10)
	assert.InDelta(t, 1, first, 1e-9)
	assert.InDelta(t, 1, all, .03) // no more than 10,000 are ranked

	x.partitions.settle = 6 * time.Second
	for _, part := range parts { // begin anew
		if e := x.partitions.find(partitionKey{of: ix, part: part, dim: recentDim}); e != nil {
			x.partitions.discard(e)
		}
	}
	require.Eventually(t, func() bool { return selects(parts[0]) && selects(parts[1]) }, slowly, time.Second)
	first, all = compare(40)
	t.Logf("%.4f of the 10 best and %.4f of 100 were found", first, all)
	assert.Greater(t, first, .99)
	assert.Greater(t, all, .99)

	// Recent changes.
	text := "word0 word1 word2 word3 word4 word5"
	var some []backend.Change
	for i := range int64(150) { // more than a node selects
		some = append(some, put(parts[0], 10_000+i, text+" "+sentence(20)))
	}
	apply(some...)
	apply(put(parts[0], 20_000, text+" "+text+" "+text))
	require.True(t, selects(parts[0]))
	q := backend.KeywordQuery{Part: parts[0], Text: text, K: 100}
	requireSame := func(set backend.IndexSet) {
		t.Helper()
		got, best := find(set, q), find(want, q)
		require.Len(t, got, len(best))
		for i := range best {
			require.InEpsilon(t, best[i].Score, got[i].Score, .02)
		}
		require.Equal(t, best[0].Chunk, got[0].Chunk)
	}
	requireSame(set)
	require.Equal(t, int64(20_000), find(set, q)[0].Chunk)

	// Another process lets the node select as soon as it has read the dictionary, and with it what is recent.
	x2, other := openSet(t, prefixOf(t.Name()), w.URLs(), Options{CacheBytes: 1_200_000})
	x2.partitions.settle = x.partitions.settle
	ix2 := other.Indexes()[0].(*index)
	for _, s := range other.Indexes()[1:] {
		require.NoError(t, s.Apply(ctx, feed))
	}
	require.NoError(t, ix2.Refresh(ctx))
	require.Equal(t, seq, ix2.Applied())
	require.Eventually(t, func() bool { // a busy node may not answer all of a read
		find(other, q)
		ix2.fills.running.Wait()
		ix2.fills.hurryUnlessUnfit()
		return hasDictionary(ix2, parts[0])
	}, slowly, 20*time.Millisecond)
	require.True(t, ix2.useRecent(ctx, parts[0], func(*partitionRecent) {}))
	requireSame(other)
	require.Equal(t, int64(20_000), find(other, q)[0].Chunk)
	apply(backend.Change{Kind: backend.Drop, Part: parts[0], Source: 20_000})
	requireSame(set)
	require.NotEqual(t, int64(20_000), find(set, q)[0].Chunk)
	q.Part = parts[1]
	requireSame(set)
	for _, h := range find(set, q) {
		require.Equal(t, int64(1), h.Source%2, "a chunk of another partition")
	}

	// Removed chunks are counted for some time.
	df := func(of backend.IndexSet) (df, docs int) {
		terms, docs, _, err := of.Keywords().Terms(ctx, parts[1], "word0")
		require.NoError(t, err)
		return terms[0].DF, docs
	}
	wantDF, wantDocs := df(want)
	gotDF, gotDocs := df(set)
	require.Equal(t, []int{wantDF, wantDocs}, []int{gotDF, gotDocs})
	for i := range int64(31) { // twice as many as may be counted
		apply(backend.Change{Kind: backend.Drop, Part: parts[1], Source: 2*i + 1})
		wantDF, wantDocs = df(want)
		gotDF, gotDocs = df(set)
		require.LessOrEqual(t, gotDF-wantDF, wantDocs/driftShare)
		require.GreaterOrEqual(t, gotDF, wantDF)
		require.LessOrEqual(t, gotDocs-wantDocs, wantDocs/driftShare)
	}
	require.True(t, selects(parts[1]))
	ix.fills.running.Wait()
	apply(backend.Change{Kind: backend.PutTags, Part: parts[1], Source: 101, Tags: []uint64{2}})
	require.False(t, selects(parts[1]), "the node may have stored it anew")
}
