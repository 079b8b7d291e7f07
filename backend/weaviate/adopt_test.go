package weaviate

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/testtool"
)

// TestLeaderAdoptsWhatIsStored checks that a process which begins to lead writes nothing that the nodes have already, and stores again what the leader before
// has deleted to store it anew, and has not.
func TestLeaderAdoptsWhatIsStored(t *testing.T) {
	t.Parallel()
	urls := sharedServer(t).URLs()
	prefix, feed := prefixOf(t.Name()), testFeed(60)
	end := feed[len(feed)-1].Seq
	var seen failingTransport
	seen.left.Store(-1)
	_, _, first := openAs(t, prefix, urls, true, Options{})
	stayUnconfirmed(first)
	require.NoError(t, first.Apply(t.Context(), feed[:10]))
	requireConfirmedState(t, first)
	first.pending.markUnconfirmed()
	for some := range slices.Chunk(feed[10:], 20) {
		require.NoError(t, first.Apply(t.Context(), some))
	}
	require.NoError(t, first.Lead(t.Context(), nil))

	_, set, second := openAs(t, prefix, urls, true, Options{Client: &http.Client{Transport: &seen}})
	stayUnconfirmed(second)
	require.Equal(t, feed[9].Seq, second.Applied())
	before := seen.writes.Load()
	for some := range slices.Chunk(feed[10:], 20) {
		require.NoError(t, second.Apply(t.Context(), some))
	}
	require.Equal(t, before, seen.writes.Load(), "the node has everything")
	requireMatchesFeed(t, set, feed, "adopted")
	require.False(t, second.pending.allConfirmed(), "a late write of the leader before may still arrive")
	require.Equal(t, end, second.ownState.Seq)
	require.Equal(t, feed[9].Seq, second.ownState.Replicated)

	other := second.toAllReplicas(nil) // the third dies after it has deleted some, and the fourth is to notice
	require.NoError(t, second.removeAll(t.Context(), other, anyOf(propSource, numbers([]int64{feed[20].Source, feed[21].Source}))))
	require.Less(t, countDocs(t, set), countChunks(feed), "no object is missing")
	require.NoError(t, second.Lead(t.Context(), nil))
	_, set, third := openAs(t, prefix, urls, true, Options{})
	require.Equal(t, feed[9].Seq, third.Applied())
	whole := append(feed[:len(feed):len(feed)], backend.Change{Seq: end + 1, Kind: backend.Drop, Part: testPart, Source: 1})
	for some := range slices.Chunk(whole[10:], 20) {
		require.NoError(t, third.Apply(t.Context(), some))
	}
	requireMatchesFeed(t, set, whole, "what was missing is stored again")
	confirmNow(third)
	requireConverges(t, set, whole, countChunks(whole))
	require.NoError(t, third.Lead(t.Context(), nil))
	_, _, fourth := openAs(t, prefix, urls, true, Options{})
	require.Equal(t, end+1, fourth.Applied(), "nothing is left to do again")
}

// requireConfirmedState waits until the process has stored that all replicas have everything.
func requireConfirmedState(t *testing.T, ix *index) {
	t.Helper()
	confirmNow(ix)
	requireConfirmed(t, ix)
	stayUnconfirmed(ix)
}

// TestLeaderAdoptsBesideDeletions checks that changes which delete many versions are done again, with all that follows them.
func TestLeaderAdoptsBesideDeletions(t *testing.T) {
	t.Parallel()
	urls := sharedServer(t).URLs()
	prefix, feed := prefixOf(t.Name()), testFeed(20)
	end := feed[len(feed)-1].Seq
	feed = append(feed, backend.Change{Seq: end + 1, Kind: backend.DropSub, Part: testPart})
	for _, c := range testFeed(20)[:8] {
		c.Seq, c.Source = c.Seq+end+1, c.Source+100
		c.Rows = slices.Clone(c.Rows)
		for i := range c.Rows {
			c.Rows[i].Chunk += 1000
		}
		feed = append(feed, c)
	}
	_, _, first := openAs(t, prefix, urls, true, Options{})
	stayUnconfirmed(first)
	first.pending.markUnconfirmed()
	for some := range slices.Chunk(feed, 5) {
		require.NoError(t, first.Apply(t.Context(), some))
	}
	require.NoError(t, first.Lead(t.Context(), nil))
	for _, size := range []int{5, 100} {
		_, set, next := openAs(t, prefix, urls, true, Options{})
		stayUnconfirmed(next)
		require.Zero(t, next.Applied())
		for some := range slices.Chunk(feed, size) {
			require.NoError(t, next.Apply(t.Context(), some))
		}
		requireMatchesFeed(t, set, feed, "done again")
		require.NoError(t, next.Lead(t.Context(), nil))
	}
}

// testAdoptsPrimary checks that a process which begins to lead while a node is away goes on with the node that has everything, or with another one if that
// goes away too.
func testAdoptsPrimary(t *testing.T, w *testtool.Weaviate) {
	const prefix = "Adopts"
	x, _, first := openAs(t, prefix, w.URLs(), true, Options{Retry: 60 * time.Second})
	feed := testFeed(60)
	require.NoError(t, first.Apply(t.Context(), feed[:20]))
	requireConfirmedState(t, first)
	useRealWriteDelay(x, setOf(first))
	w.Kill(2)
	require.NoError(t, first.Apply(t.Context(), feed[20:40]))
	lead := first.pending.primaryNode()
	require.NotNil(t, lead)
	require.NoError(t, first.Lead(t.Context(), nil))

	var seen failingTransport
	seen.left.Store(-1)
	y, set, second := openAs(t, prefix, w.URLs(), true, Options{Retry: 60 * time.Second, Client: &http.Client{Transport: &seen}})
	useRealWriteDelay(y, set)
	require.Equal(t, feed[19].Seq, second.Applied())
	require.Equal(t, lead.place, second.pending.primaryNode().place)
	before := seen.writes.Load()
	require.NoError(t, second.Apply(t.Context(), feed[20:30]))
	require.NoError(t, second.Apply(t.Context(), feed[30:40]))
	require.Equal(t, before, seen.writes.Load(), "the node has everything")
	requireMatchesFeed(t, set, feed[:40], "adopted")
	require.NoError(t, second.Apply(t.Context(), feed[40:50]))
	require.NoError(t, second.Lead(t.Context(), nil))

	z, set, third := openAs(t, prefix, w.URLs(), true, Options{Retry: 60 * time.Second})
	useRealWriteDelay(z, set)
	require.NoError(t, third.Apply(t.Context(), feed[20:30]))
	require.NoError(t, w.Start(2))
	require.NoError(t, w.Ready(2))
	w.Kill(lead.place)
	require.NoError(t, third.Apply(t.Context(), feed[30:40]))
	require.NoError(t, third.Apply(t.Context(), feed[40:]))
	requireMatchesFeed(t, set, feed, "through another node")
	require.NoError(t, w.Start(lead.place))
	require.NoError(t, w.Ready(lead.place))
	requireEverywhere(t, w, prefix, setOf(third), feed)
	slow, lacks := third.Trouble()
	assert.False(t, slow || lacks)
}
