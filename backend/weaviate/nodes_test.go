package weaviate

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/internal/testtool"
)

const testDim = 32

var testPart = backend.Partition{Class: backend.Memory, Sub: "user"}

// testFeed returns a feed of n versions of three chunks. It deletes every eighth version and changes the tags of
// another eighth.
func testFeed(n int) (out []backend.Change) {
	add := func(c backend.Change) {
		c.Seq, c.Part = uint64(len(out)+1), testPart
		out = append(out, c)
	}
	for i := range int64(n) {
		c := backend.Change{Kind: backend.PutChunks, Source: i + 1, Tags: []uint64{uint64(i % 5)}, Time: time.Unix(i*60, 0)}
		for j := range int64(3) {
			text := fmt.Sprintf("lantern number%d of shelf%d", i, i%7)
			c.Rows = append(c.Rows, backend.Row{Chunk: i*3 + j + 1, Ordinal: int(j), Text: text, Vector: backendtest.Vector(text, testDim)})
		}
		add(c)
		switch i % 8 {
		case 3:
			add(backend.Change{Kind: backend.Drop, Source: i})
		case 5:
			add(backend.Change{Kind: backend.PutTags, Source: i, Tags: []uint64{77}})
		}
	}
	return out
}

// testWriteDelay is how long writes stay unconfirmed in tests.
const testWriteDelay = 2 * time.Second

// testTimeout is the time that a node has to answer where no other one could do so in its place. A busy machine may take longer than a node of
// several has.
const testTimeout = 30 * time.Second

// openSet opens the indexes of a deployment through some of its nodes.
func openSet(t testing.TB, prefix string, urls []string, o Options) (*Indexers, backend.IndexSet) {
	t.Helper()
	o.Prefix = prefix
	if o.Retry == 0 {
		o.Retry = time.Minute
	}
	x, err := Open(t.Context(), urls, inmem.New(), &o)
	require.NoError(t, err)
	x.unconfirmedFor, x.electWait = testWriteDelay, time.Minute // a machine may be slow
	x.wordsHere = false                                         // the cluster is tested
	if len(urls) == 1 {
		x.cluster.leastTimeout.Store(int64(testTimeout))
	}
	t.Cleanup(func() { _ = x.Close() })
	set, err := x.OpenIndexes(t.Context(), backendtest.UID(prefix))
	require.NoError(t, err)
	return x, set
}

// requireFound checks that the chunks of a change are found by words and by vector.
func requireFound(t testing.TB, set backend.IndexSet, c *backend.Change, msg string) {
	t.Helper()
	word := c.Rows[0].Text
	hits, err := set.Keywords().SearchKeywords(t.Context(), backend.KeywordQuery{Part: c.Part, Text: word, Operator: backend.Phrase, K: 10})
	require.NoError(t, err, msg)
	require.Len(t, hits, len(c.Rows), msg)
	require.Equal(t, c.Source, hits[0].Source, msg)
	hits, err = set.Vectors().SearchVectors(t.Context(), backend.VectorQuery{Part: c.Part, Vector: c.Rows[0].Vector, K: len(c.Rows)})
	require.NoError(t, err, msg)
	require.Len(t, hits, len(c.Rows), msg)
	require.Equal(t, c.Source, hits[0].Source, msg)
}

// requireMatchesFeed checks that searches return what they return over an in-memory index that has applied the feed, with
// what is cached and without.
func requireMatchesFeed(t testing.TB, set backend.IndexSet, feed []backend.Change, msg string) {
	t.Helper()
	requireMatchesCached(t, set, feed, msg+", from the cache")
	set.Indexes()[0].(*index).forget()
	requireMatchesCached(t, set, feed, msg)
}

// requireMatchesCached is requireMatchesFeed for searches that may use what is cached.
func requireMatchesCached(t testing.TB, set backend.IndexSet, feed []backend.Change, msg string) {
	t.Helper()
	matchesCached(t, set, feed, func(got, want []backend.Hit, err error) bool {
		require.NoError(t, err)
		requireHits(t, got, want, msg)
		return true
	})
}

// matchesCached calls f with what each search returns, and what it returns over an in-memory index, until f returns false.
func matchesCached(t testing.TB, set backend.IndexSet, feed []backend.Change, f func(got, want []backend.Hit, err error) bool) bool {
	t.Helper()
	ctx := t.Context()
	want, err := inmem.New().OpenIndexes(ctx, backendtest.UID("oracle"))
	require.NoError(t, err)
	require.NoError(t, want.Indexes()[0].Apply(ctx, feed))
	for _, only := range []backend.Filter{{}, {All: [][]uint64{{1, 77}}}, {Not: []uint64{2}}} {
		for _, text := range []string{"lantern", "shelf3", "number5 shelf6 number9"} {
			q := backend.KeywordQuery{Part: testPart, Text: text, K: maxResults, Filter: only}
			got, err := set.Keywords().SearchKeywords(ctx, q)
			if !f(got, must(t)(want.Keywords().SearchKeywords(ctx, q)), err) {
				return false
			}
			v := backend.VectorQuery{Part: testPart, Vector: backendtest.Vector(text, testDim), K: maxResults, Filter: only}
			got, err = set.Vectors().SearchVectors(ctx, v)
			if !f(got, must(t)(want.Vectors().SearchVectors(ctx, v)), err) {
				return false
			}
		}
	}
	return true
}

func must(t testing.TB) func([]backend.Hit, error) []backend.Hit {
	return func(hits []backend.Hit, err error) []backend.Hit {
		t.Helper()
		require.NoError(t, err)
		return hits
	}
}

func requireHits(t testing.TB, got, want []backend.Hit, msg string) {
	t.Helper()
	require.True(t, len(got) == len(want), "%s: %d hits, want %d", msg, len(got), len(want))
	right := map[int64]backend.Hit{}
	for _, h := range want {
		right[h.Chunk] = h
	}
	for i, h := range got {
		require.Equal(t, right[h.Chunk].Source, h.Source, msg)
		require.InDelta(t, right[h.Chunk].Score, h.Score, 1e-4, msg)
		require.InDelta(t, want[i].Score, h.Score, 1e-4, "%s: place %d", msg, i)
	}
}

// useRealWriteDelay lets writes stay unconfirmed for as long as in a real cluster.
func useRealWriteDelay(x *Indexers, set backend.IndexSet) {
	x.unconfirmedFor = maxWriteDelay
	s := &set.Indexes()[0].(*index).pending
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unconfirmedFor = maxWriteDelay
}

// threeNodes starts a cluster of three nodes for one test.
func threeNodes(t *testing.T) *testtool.Weaviate {
	t.Helper()
	bin := serverProgram(t)
	w, err := testtool.StartWeaviate(bin, t.TempDir(), 3, nil)
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	return w
}

// TestThreeNodes runs tests over a cluster of three nodes with three replicas.
func TestThreeNodes(t *testing.T) {
	t.Parallel()
	w := threeNodes(t)
	t.Run("each dies in the middle of a batch", func(t *testing.T) { testNodesDie(t, w) })
	t.Run("the one that has all dies", func(t *testing.T) { testPrimaryDies(t, w) })
	t.Run("more is unconfirmed than is kept", func(t *testing.T) { testDropped(t, w) })
	t.Run("others are guided", func(t *testing.T) { testFollowerSearchesPrimary(t, w) })
	t.Run("the next leader goes on", func(t *testing.T) { testAdoptsPrimary(t, w) })
	t.Run("no majority", func(t *testing.T) { testNoMajority(t, w) })
}

// testNodesDie kills one node after the other in the middle of a batch, and starts it again. Each applied change must
// be found at once, whichever node answers, and in the end every node must have every object once.
func testNodesDie(t *testing.T, w *testtool.Weaviate) {
	const prefix = "Die"
	x, set := openSet(t, prefix, w.URLs(), Options{Retry: 60 * time.Second, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	useRealWriteDelay(x, set)
	ix := set.Indexes()[0]
	feed := testFeed(240)
	slowest := time.Duration(0)
	timed := func(f func()) {
		began := time.Now()
		f()
		slowest = max(slowest, time.Since(began))
	}
	parts := slices.Collect(slices.Chunk(feed, len(feed)/12+1))
	for i, some := range parts {
		died := make(chan struct{})
		back := -1
		switch i {
		case 2, 5, 8:
			time.AfterFunc(15*time.Millisecond, func() { // during the next batch
				defer close(died)
				w.Kill(i / 3)
			})
		case 4, 7, 10:
			back = i/3 - 1
			require.NoError(t, w.Start(back))
			fallthrough
		default:
			close(died)
		}
		timed(func() { require.NoError(t, ix.Apply(t.Context(), some), "step %d", i) })
		<-died
		for j := len(some) - 1; j >= 0; j-- {
			if c := &some[j]; c.Kind == backend.PutChunks && (c.Source-1)%8 != 2 { // the others go again
				timed(func() { requireFound(t, set, c, fmt.Sprintf("step %d", i)) })
				break
			}
		}
		if back >= 0 {
			require.NoError(t, w.Ready(back))
			requireHealed(t, ix)
		}
	}
	t.Logf("the slowest call took %v", slowest)
	requireEverywhere(t, w, prefix, set, feed)
}

// requireHealed waits until all replicas have all applied changes.
func requireHealed(t *testing.T, ix backend.Index) {
	t.Helper()
	require.Eventually(t, func() bool { return ix.Flush(t.Context()) == nil }, slowly, 50*time.Millisecond)
}

// requireConfirmed waits until all changes are confirmed on all replicas. Background maintenance does that.
func requireConfirmed(t testing.TB, ix backend.Index) {
	t.Helper()
	x := ix.(*index)
	require.Eventually(t, func() bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		return x.pending.allConfirmed() && !x.ownState.unfinished()
	}, slowly, 50*time.Millisecond)
}

// requireEverywhere checks searches of the whole cluster, and then of each node by itself.
func requireEverywhere(t *testing.T, w *testtool.Weaviate, prefix string, set backend.IndexSet, feed []backend.Change) {
	t.Helper()
	requireConfirmed(t, set.Indexes()[0])
	requireMatchesFeed(t, set, feed, "in the end")
	for i := range w.URLs() {
		_, alone := openSet(t, prefix, w.URLs()[i:i+1], Options{})
		assert.Equal(t, feed[len(feed)-1].Seq, alone.Indexes()[0].Applied())
		requireMatchesFeed(t, alone, feed, fmt.Sprintf("node %d", i+1))
		require.NoError(t, alone.Close())
	}
}

// testPrimaryDies kills a node, and then the primary once the first node is back. Searches must return the changes that
// the first node had missed.
func testPrimaryDies(t *testing.T, w *testtool.Weaviate) {
	const prefix = "Lead"
	x, set := openSet(t, prefix, w.URLs(), Options{Retry: 60 * time.Second, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	useRealWriteDelay(x, set)
	ix := set.Indexes()[0].(*index)
	feed := testFeed(60)
	require.NoError(t, ix.Apply(t.Context(), feed[:20]))
	w.Kill(2)
	require.NoError(t, ix.Apply(t.Context(), feed[20:50]))
	lead := ix.pending.primaryNode()
	require.NotNil(t, lead, "a replica lacks changes")
	require.ErrorIs(t, ix.Flush(t.Context()), backend.ErrUnavailable, "the changes are still pending")
	require.NoError(t, w.Start(2))
	require.NoError(t, w.Ready(2))
	w.Kill(lead.place)
	requireMatchesFeed(t, set, feed[:50], "by a node that had missed changes")
	require.NotSame(t, lead, ix.pending.primaryNode())
	require.NoError(t, w.Start(lead.place))
	require.NoError(t, ix.Apply(t.Context(), feed[50:]))
	require.NoError(t, w.Ready(lead.place))
	requireEverywhere(t, w, prefix, set, feed)
}

// testNoMajority checks that nothing is applied while two of three nodes are away, and that nothing is lost when they
// return.
func testNoMajority(t *testing.T, w *testtool.Weaviate) {
	const prefix = "Lone"
	x, set := openSet(t, prefix, w.URLs(), Options{Retry: 4 * time.Second})
	useRealWriteDelay(x, set)
	ix := set.Indexes()[0]
	feed := testFeed(60)
	require.NoError(t, ix.Apply(t.Context(), feed[:20]))
	w.Kill(0)
	w.Kill(1)
	require.ErrorIs(t, ix.Apply(t.Context(), feed[20:]), backend.ErrUnavailable)
	require.Equal(t, feed[19].Seq, ix.Applied())
	for i := range 2 {
		require.NoError(t, w.Start(i))
	}
	for i := range 2 {
		require.NoError(t, w.Ready(i))
	}
	require.Eventually(t, func() bool { return ix.Apply(t.Context(), feed[20:]) == nil }, slowly, 50*time.Millisecond)
	requireEverywhere(t, w, prefix, set, feed)
}
