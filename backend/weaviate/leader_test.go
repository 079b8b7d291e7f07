package weaviate

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/testtool"
)

// openAs opens the indexes in a process that leads, or that follows the leader.
func openAs(t *testing.T, prefix string, urls []string, mine bool, o Options) (*Indexers, backend.IndexSet, *index) {
	t.Helper()
	x, set := openSet(t, prefix, urls, o)
	ix := set.Indexes()[0].(*index)
	require.NoError(t, ix.Lead(t.Context(), alwaysLeads(mine)))
	return x, set, ix
}

// alwaysLeads returns the argument of Lead for a process that leads for good, or nil for one that does not lead.
func alwaysLeads(mine bool) func() bool {
	if !mine {
		return nil
	}
	return func() bool { return true }
}

// requireRefreshed lets a process read the states of others, and checks that it then knows of the changes up to seq.
func requireRefreshed(t *testing.T, ix *index, seq uint64) {
	t.Helper()
	require.NoError(t, ix.Refresh(t.Context()))
	require.Equal(t, seq, ix.Applied())
}

// TestLeaderIsReplaced lets one process apply changes and another find them. The first dies while it stores some. The
// second stores these and continues. When the first returns it drops the changes it had kept and follows the second.
func TestLeaderIsReplaced(t *testing.T) {
	t.Parallel()
	urls := sharedServer(t).URLs()
	prefix, feed := prefixOf(t.Name()), testFeed(60)
	var dying, seen failingTransport
	seen.left.Store(-1)
	_, dies := openMortal(t, prefix, urls, Options{}, &dying)
	first := dies.Indexes()[0].(*index)
	require.NoError(t, first.Lead(t.Context(), alwaysLeads(true)))
	_, set, second := openAs(t, prefix, urls, false, Options{Client: &http.Client{Transport: &seen}})
	require.NoError(t, first.Apply(t.Context(), feed[:20]))
	require.Zero(t, second.Applied(), "before Refresh")
	requireRefreshed(t, second, feed[19].Seq)
	requireMatchesFeed(t, set, feed[:20], "changes of the leader")
	assert.Zero(t, seen.writes.Load())

	dying.left.Store(2) // its intent is stored
	require.Error(t, first.Apply(t.Context(), feed[20:40]))
	requireRefreshed(t, second, feed[19].Seq)
	require.NoError(t, second.Lead(t.Context(), alwaysLeads(true)))
	require.Equal(t, feed[19].Seq, second.Applied(), "later changes may be stored in part")
	require.NoError(t, second.Apply(t.Context(), feed[20:40]))
	require.NoError(t, second.Apply(t.Context(), feed[40:50]))

	dying.revive()
	require.NoError(t, first.Lead(t.Context(), nil))
	requireRefreshed(t, first, feed[49].Seq)
	require.NoError(t, second.Apply(t.Context(), feed[50:]))
	requireRefreshed(t, first, feed[len(feed)-1].Seq)
	requireConverges(t, set, feed, countChunks(feed))
	require.NoError(t, second.Lead(t.Context(), nil))
	require.NoError(t, first.Lead(t.Context(), alwaysLeads(true)))
	require.Equal(t, feed[len(feed)-1].Seq, first.Applied(), "the other process has no unfinished work")
}

// TestFollowerSkipsIdleChanges checks that a process that follows does not wait for the leader to store changes of which the
// cluster stores nothing, once it has seen them itself.
func TestFollowerSkipsIdleChanges(t *testing.T) {
	t.Parallel()
	urls := sharedServer(t).URLs()
	prefix, feed := prefixOf(t.Name()), testFeed(4)[:3]
	_, _, first := openAs(t, prefix, urls, true, Options{})
	_, set, second := openAs(t, prefix, urls, false, Options{})
	last := feed[2].Seq
	graph := func(seq uint64) backend.Change {
		return backend.Change{Seq: seq, Kind: backend.PutGraph, Part: testPart, Source: 1}
	}
	whole := append(slices.Clone(feed), graph(last+1), backend.Change{Seq: last + 2, Kind: backend.Mark})
	require.NoError(t, first.Apply(t.Context(), whole))
	requireRefreshed(t, second, whole[4].Seq)
	whole = append(whole, graph(last+3), graph(last+4))
	for _, c := range whole[5:] {
		require.NoError(t, first.Apply(t.Context(), []backend.Change{c}))
	}
	requireRefreshed(t, second, whole[4].Seq) // it has not seen them
	local := set.Indexes()[1]
	require.NoError(t, local.Apply(t.Context(), whole[:6]))
	requireRefreshed(t, second, whole[5].Seq)
	require.NoError(t, local.Apply(t.Context(), whole[6:]))
	requireRefreshed(t, second, whole[6].Seq)
	requireMatchesFeed(t, set, whole, "in the process that follows")

	put := feed[2]
	put.Seq = last + 5
	whole = append(whole, put, graph(last+6))
	require.NoError(t, local.Apply(t.Context(), whole[7:]))
	requireRefreshed(t, second, whole[6].Seq) // the leader has not applied the change before
	require.NoError(t, first.Apply(t.Context(), whole[7:8]))
	requireRefreshed(t, second, whole[8].Seq)
}

// TestIdleChanges checks which changes count as the last that the cluster stores nothing of.
func TestIdleChanges(t *testing.T) {
	var i idleChanges
	change := func(seq uint64, kind backend.ChangeKind) backend.Change { return backend.Change{Seq: seq, Kind: kind} }
	i.add(10, 13, []backend.Change{change(11, backend.PutChunks), change(13, backend.PutGraph)})
	for seq, want := range map[uint64]uint64{10: 10, 11: 13, 12: 13, 13: 13, 14: 14} {
		assert.Equal(t, want, i.skip(seq))
	}
	i.add(5, 12, []backend.Change{change(12, backend.Drop)})
	assert.Equal(t, uint64(13), i.skip(11), "an old change")
	i.add(13, 15, []backend.Change{change(15, backend.Mark)})
	i.add(14, 16, []backend.Change{change(16, backend.Mark)})
	assert.Equal(t, uint64(16), i.skip(11))
	i.add(17, 18, []backend.Change{change(18, backend.Mark)})
	assert.Equal(t, uint64(11), i.skip(11), "change 17 was not seen")
	assert.Equal(t, uint64(18), i.skip(17))
	i.add(18, 20, []backend.Change{change(19, backend.PutTags), change(20, backend.Mark)})
	assert.Equal(t, uint64(18), i.skip(18))
	assert.Equal(t, uint64(20), i.skip(19))
}

// TestFormerLeaderDoesNotRepair checks that a process which no longer leads repairs nothing, though it has kept
// unconfirmed changes: the new leader has applied later ones.
func TestFormerLeaderDoesNotRepair(t *testing.T) {
	t.Parallel()
	urls := sharedServer(t).URLs()
	prefix, feed := prefixOf(t.Name()), testFeed(8)
	var seen failingTransport
	seen.left.Store(-1)
	_, _, first := openAs(t, prefix, urls, true, Options{Client: &http.Client{Transport: &seen}})
	stayUnconfirmed(first)
	first.pending.markUnconfirmed()
	require.NoError(t, first.Apply(t.Context(), feed))
	require.False(t, first.pending.allConfirmed())
	require.NoError(t, first.Lead(t.Context(), nil))
	_, set, second := openAs(t, prefix, urls, true, Options{})
	require.Zero(t, second.Applied(), "the changes are unconfirmed")
	whole := append(feed[:len(feed):len(feed)], backend.Change{Seq: feed[len(feed)-1].Seq + 1, Kind: backend.Drop, Part: testPart, Source: 1})
	require.NoError(t, second.Apply(t.Context(), whole))
	before := seen.writes.Load()
	confirmNow(first)
	requireConverges(t, set, whole, countChunks(whole))
	time.Sleep(2 * maintenanceInterval)
	assert.Equal(t, before, seen.writes.Load())
	requireMatchesFeed(t, set, whole, "after the unconfirmed time")
}

// TestUncertainLeaderDoesNotWrite checks that a process writes and repairs nothing while it does not know whether it still
// leads.
func TestUncertainLeaderDoesNotWrite(t *testing.T) {
	t.Parallel()
	urls := sharedServer(t).URLs()
	feed := testFeed(8)
	_, set, ix := openAs(t, prefixOf(t.Name()), urls, true, Options{})
	var certain atomic.Bool
	require.NoError(t, ix.Lead(t.Context(), certain.Load)) // not certain at first
	stayUnconfirmed(ix)
	ix.pending.markUnconfirmed()
	require.ErrorIs(t, ix.Apply(t.Context(), feed), errNotLeader)
	time.AfterFunc(certainWait/4, func() { certain.Store(true) })
	require.NoError(t, ix.Apply(t.Context(), feed), "the write waits for certainty")
	certain.Store(false)
	confirmNow(ix)
	time.Sleep(2 * maintenanceInterval)
	require.False(t, ix.pending.allConfirmed(), "compared without a certain leader")
	certain.Store(true)
	requireConverges(t, set, feed, countChunks(feed))
}

// testFollowerSearchesPrimary checks that while a node is away, a process that does not lead searches the primary. If
// the primary goes away too, the process reports that changes may be missing, until the leader has replaced the
// primary.
func testFollowerSearchesPrimary(t *testing.T, w *testtool.Weaviate) {
	const prefix = "Guided"
	x, _, first := openAs(t, prefix, w.URLs(), true, Options{Retry: 60 * time.Second})
	useRealWriteDelay(x, setOf(first))
	_, set, second := openAs(t, prefix, w.URLs(), false, Options{Retry: 60 * time.Second})
	feed := testFeed(60)
	require.NoError(t, first.Apply(t.Context(), feed[:20]))
	w.Kill(2)
	require.NoError(t, first.Apply(t.Context(), feed[20:40]))
	requireRefreshed(t, second, feed[39].Seq)
	lead := first.pending.primaryNode()
	require.NotNil(t, lead)
	require.Equal(t, lead.place, second.leaderPrimary.Load().place)
	requireMatchesFeed(t, set, feed[:40], "through the primary")
	slow, lacks := second.Trouble()
	assert.True(t, slow)
	assert.False(t, lacks)
	require.NoError(t, w.Start(2))
	require.NoError(t, w.Ready(2))
	w.Kill(lead.place)
	require.Eventually(t, func() bool { _, lacks := second.Trouble(); return lacks || second.leaderPrimary.Load() == nil }, slowly, 10*time.Millisecond)
	require.NoError(t, first.Apply(t.Context(), feed[40:]))
	requireRefreshed(t, second, feed[len(feed)-1].Seq)
	requireMatchesFeed(t, set, feed, "through the next primary")
	require.NoError(t, w.Start(lead.place))
	require.NoError(t, w.Ready(lead.place))
	requireEverywhere(t, w, prefix, setOf(first), feed)
	require.NoError(t, second.Refresh(t.Context()))
	slow, lacks = second.Trouble()
	assert.False(t, slow || lacks)
	assert.Nil(t, second.leaderPrimary.Load())
}

// setOf returns a set with one index.
func setOf(x *index) backend.IndexSet { return &set{ix: x, indexes: []backend.Index{x}} }

// blockingTransport is an HTTP transport that blocks requests of one kind.
type blockingTransport struct {
	mu      sync.Mutex
	blocks  func(body string) bool
	blocked chan struct{} // has an element when a request is blocked
	release chan struct{}
	removed int // number of objects deleted by id
}

func (p *blockingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	p.mu.Lock()
	holds := p.blocks
	if r.Method == http.MethodDelete && !strings.HasPrefix(r.URL.Path, "/v1/batch") {
		p.removed++
	}
	p.mu.Unlock()
	if holds != nil && r.Body != nil {
		data, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(data))
		if holds(string(data)) {
			select {
			case p.blocked <- struct{}{}:
			default:
			}
			<-p.release
		}
	}
	return http.DefaultTransport.RoundTrip(r)
}

// TestAppliesDuringComparison checks that changes are applied while unconfirmed ones are being compared, and that the
// comparison does not take their effect for an error.
func TestAppliesDuringComparison(t *testing.T) {
	t.Parallel()
	var urls []string
	for _, u := range sharedServer(t).URLs() { // searches by GraphQL
		address, _, _ := strings.Cut(u, "?")
		urls = append(urls, address)
	}
	feed := testFeed(8)
	p := &blockingTransport{blocked: make(chan struct{}, 1), release: make(chan struct{})}
	_, set := openSet(t, prefixOf(t.Name()), urls, Options{Client: &http.Client{Transport: p}})
	ix := set.Indexes()[0].(*index)
	require.NoError(t, ix.Apply(t.Context(), feed[:1]))
	stayUnconfirmed(ix)
	ix.pending.markUnconfirmed()
	require.NoError(t, ix.Apply(t.Context(), feed[1:]))
	p.mu.Lock()
	p.blocks = func(body string) bool { // a comparison reads the tags of sources
		return strings.Contains(body, "ContainsAny") && strings.Contains(body, "{"+propSource+" "+propChunk+" "+propTags+"}")
	}
	p.mu.Unlock()
	confirmNow(ix)
	select {
	case <-p.blocked:
	case <-time.After(time.Minute):
		t.Fatal("nothing is compared")
	}
	whole := append(feed[:len(feed):len(feed)], backend.Change{Seq: feed[len(feed)-1].Seq + 1, Kind: backend.Drop, Part: testPart, Source: 2})
	applied := make(chan error, 1)
	go func() { applied <- ix.Apply(t.Context(), whole[len(feed):]) }()
	select {
	case err := <-applied:
		require.NoError(t, err)
	case <-time.After(30 * time.Second):
		t.Error("it waits for the comparison")
	}
	p.mu.Lock()
	p.blocks = nil
	p.mu.Unlock()
	close(p.release)
	requireConverges(t, set, whole, countChunks(whole))
	p.mu.Lock()
	defer p.mu.Unlock()
	assert.Zero(t, p.removed, "objects were repaired")
}
