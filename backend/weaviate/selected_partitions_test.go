package weaviate

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/testtool"
)

// manyPartitions is the number of chunks of each partition of partitionsFeed. Of the words "few1", "few2" and so on of a partition, as many chunks have each as its
// number says. All chunks have "everywhere".
var (
	manyPartitions = []int64{300, 700, 1200, 2400}
	fewHave        = []int64{1, 2, 7, 30, 70, 150}
)

// partitionsFeed is a feed of several partitions of one tenant.
type partitionsFeed struct {
	*largeFeed
	parts   []backend.Partition
	sources []map[int64]bool // by partition: those that are there
	next    int64
	// miscounted is how far scores may be off, as a share of them, since removed chunks are still counted.
	miscounted float32
}

func newPartitionsFeed(t *testing.T) *partitionsFeed {
	t.Helper()
	f := &partitionsFeed{largeFeed: newLargeFeed(t), next: 1, miscounted: .001}
	for i := range manyPartitions {
		f.parts = append(f.parts, backend.Partition{Class: backend.Knowledge, Sub: fmt.Sprint("part", i)})
		f.sources = append(f.sources, map[int64]bool{})
	}
	return f
}

// putSome puts n chunks of a partition, of which the first ones have rare words.
func (f *partitionsFeed) putSome(t *testing.T, part int, n int64) {
	t.Helper()
	f.part = f.parts[part]
	for i := range n {
		text := "everywhere " + f.sentence(20+f.rng.IntN(10))
		for _, few := range fewHave {
			if i < few {
				text += fmt.Sprint(" few", few)
			}
		}
		f.put(t, f.next, text)
		f.sources[part][f.next] = true
		f.next++
	}
}

// dropSome drops one of share chunks of a partition.
func (f *partitionsFeed) dropSome(t *testing.T, part int, share int) {
	t.Helper()
	f.part = f.parts[part]
	var there []int64
	for source := range f.sources[part] {
		there = append(there, source)
	}
	slices.Sort(there)
	for _, source := range there {
		if f.rng.IntN(share) == 0 {
			f.add(t, backend.Change{Kind: backend.Drop, Source: source})
			delete(f.sources[part], source)
		}
	}
}

// query returns a random search of a partition: words of all frequencies, some of them repeated or weighted.
func (f *partitionsFeed) query(part int) backend.KeywordQuery {
	q := backend.KeywordQuery{Part: f.parts[part], K: []int{10, 64, 100, 128}[f.rng.IntN(4)]}
	add := func(term string) {
		q.Terms = append(q.Terms, backend.WeightedTerm{Term: term, Weight: []float32{1, 1, 1, .5, 2}[f.rng.IntN(5)]})
	}
	for range 2 + f.rng.IntN(4) {
		add(fmt.Sprint("word", int(math.Exp(5*f.rng.Float64()))-1))
	}
	if f.rng.IntN(2) == 0 {
		add("everywher")
	}
	for f.rng.IntN(2) == 0 {
		add(fmt.Sprint("few", fewHave[f.rng.IntN(len(fewHave))]))
	}
	if f.rng.IntN(3) == 0 {
		q.Terms = append(q.Terms, q.Terms[0], q.Terms[0])
	}
	return q
}

// TestNodesSelectionIsExact compares what a node selects from partitions of different sizes with an exhaustive index, for random searches: of rare words, words that all
// chunks have and repeated ones, also after a part of the chunks was dropped, which the node goes on to count, and others were put.
func TestNodesSelectionIsExact(t *testing.T) {
	t.Parallel()
	w, err := testtool.StartWeaviate(serverProgram(t), t.TempDir(), 1, flushesSoon)
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	set, ix := openLarge(t, prefixOf(t.Name()), w.URLs(), true, nil)
	f := newPartitionsFeed(t)
	for part, n := range manyPartitions {
		f.putSome(t, part, n)
		f.apply(t, set, true)
		time.Sleep(1500 * time.Millisecond) // the node writes a segment
	}
	f.compare(t, set, ix, "put")
	f.miscounted = .03
	for part := range manyPartitions {
		f.dropSome(t, part, 2+2*part)
		f.putSome(t, part, 80)
	}
	f.apply(t, set, true)
	f.compare(t, set, ix, "some were dropped, others put")
}

// compare compares searches of each partition. A chunk that is much better than the last hit may be missing in one of them, as in TestNodesSelectionLosesNone.
func (f *partitionsFeed) compare(t *testing.T, set backend.IndexSet, ix *index, msg string) {
	t.Helper()
	searches, losing, above := 100, 0, 0
	if testing.Short() {
		searches = 40
	}
	for part, p := range f.parts {
		require.Eventually(t, func() bool {
			_, err := set.Keywords().SearchKeywords(t.Context(), backend.KeywordQuery{Part: p, Text: question, K: 100})
			ix.fills.running.Wait()
			ix.fills.hurryUnlessUnfit()
			return err == nil && selects(t, ix, p)
		}, slowly, 100*time.Millisecond)
		c, err := ix.counts(t.Context(), p, []string{"everywher", "few70"})
		require.NoError(t, err)
		require.Equal(t, c.docs, c.df["everywher"], msg)
		require.Positive(t, c.df["few70"], msg)
		selected := 0
		for range searches {
			q, unlisted := f.query(part), float32(0)
			query := parse(&q)
			q.Answer.Unlisted = &unlisted
			c, err := ix.counts(t.Context(), p, query.names())
			require.NoError(t, err)
			got, ok, err := ix.selected(t.Context(), &query, c, &q)
			require.NoError(t, err)
			if ok {
				selected++
				if f.lacksSome(t, got, must(t)(f.oracle.Keywords().SearchKeywords(t.Context(), q)), fmt.Sprint(msg, ": ", q.Terms)) {
					losing++
				}
				if f.aboveUnlisted(t, q, got, unlisted) {
					above++
				}
			}
		}
		t.Logf("%s: the node selected for %d of %d searches of %d chunks", msg, selected, searches, len(f.sources[part]))
		assert.Greater(t, selected, searches*3/4)
	}
	assert.LessOrEqual(t, losing, 1, msg)
	assert.LessOrEqual(t, above, 1, msg)
}

// aboveUnlisted reports whether a chunk that is no hit has a higher score than the last hit and than what was told of chunks that are no hits, up to what removed chunks
// that are still counted make of scores.
func (f *partitionsFeed) aboveUnlisted(t *testing.T, q backend.KeywordQuery, got []backend.Hit, unlisted float32) bool {
	t.Helper()
	found := map[int64]bool{}
	for _, h := range got {
		found[h.Chunk] = true
	}
	most := max(unlisted, got[len(got)-1].Score)
	q.K, q.Answer = 2*q.K, backend.Answer{}
	for i, h := range must(t)(f.oracle.Keywords().SearchKeywords(t.Context(), q)) {
		if !found[h.Chunk] && h.Score > most*(1+f.miscounted) {
			t.Logf("chunk %d at place %d of %v is %.3f times as good as what was told", h.Chunk, i, q.Terms, h.Score/most)
			return true
		}
	}
	return false
}

// lacksSome reports whether hits lack one that is more than leftOutShare as good as the last. Scores have to be those of an exhaustive search, up to what removed chunks that are still
// counted make of them.
func (f *partitionsFeed) lacksSome(t *testing.T, got, want []backend.Hit, msg string) (lacks bool) {
	t.Helper()
	require.Len(t, got, len(want), msg)
	scores := map[int64]float32{}
	for _, h := range got {
		scores[h.Chunk] = h.Score
	}
	for i, h := range want {
		if s, ok := scores[h.Chunk]; ok {
			require.InEpsilon(t, h.Score, s, .03, msg)
		} else if h.Score > leftOutShare*want[len(want)-1].Score {
			t.Logf("%s: chunk %d at place %d was not found", msg, h.Chunk, i)
			lacks = true
		}
	}
	return lacks
}
