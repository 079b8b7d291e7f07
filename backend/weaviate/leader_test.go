package weaviate

import (
	"bytes"
	"io"
	"net/http"
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

// leading opens indexes of a process that leads, or hears of the one that does.
func leading(t *testing.T, prefix string, urls []string, mine bool, o Options) (*Indexers, backend.IndexSet, *index) {
	t.Helper()
	x, set := openOn(t, prefix, urls, o)
	ix := set.Indexes()[0].(*index)
	require.NoError(t, ix.Lead(t.Context(), always(mine)))
	return x, set, ix
}

// always is that a process leads for good; nil: it does not.
func always(mine bool) func() bool {
	if !mine {
		return nil
	}
	return func() bool { return true }
}

// hears waits until a process has heard that changes up to a number are applied.
func hears(t *testing.T, ix *index, seq uint64) {
	t.Helper()
	require.NoError(t, ix.Refresh(t.Context()))
	require.Equal(t, seq, ix.Applied())
}

// TestLead: one process applies changes, and another finds them. The first dies while it stores some; the second does these and goes on. When the first
// comes back it leaves what it had kept, and hears.
func TestLead(t *testing.T) {
	urls := sharedServer(t).URLs()
	prefix, feed := prefixOf(t.Name()), feedOf(60)
	var dying, seen watched
	dying.failing.Store(-1)
	seen.failing.Store(-1)
	_, _, first := leading(t, prefix, urls, true, Options{Retry: time.Millisecond, Client: &http.Client{Transport: &dying}})
	_, set, second := leading(t, prefix, urls, false, Options{Client: &http.Client{Transport: &seen}})
	require.NoError(t, first.Apply(t.Context(), feed[:20]))
	require.Zero(t, second.Applied(), "nobody has asked")
	hears(t, second, feed[19].Seq)
	requireLike(t, set, feed[:20], "what the other applied")
	assert.Zero(t, seen.writes.Load())

	dying.failing.Store(2) // it says what it is about to store
	require.Error(t, first.Apply(t.Context(), feed[20:40]))
	hears(t, second, feed[19].Seq)
	require.NoError(t, second.Lead(t.Context(), always(true)))
	require.Equal(t, feed[19].Seq, second.Applied(), "what comes after may be there by halves")
	require.NoError(t, second.Apply(t.Context(), feed[20:40]))
	require.NoError(t, second.Apply(t.Context(), feed[40:50]))

	dying.failing.Store(-1)
	require.NoError(t, first.Lead(t.Context(), nil))
	hears(t, first, feed[49].Seq)
	require.NoError(t, second.Apply(t.Context(), feed[50:]))
	hears(t, first, feed[len(feed)-1].Seq)
	requireBecomes(t, set, feed, chunksOf(feed))
	require.NoError(t, second.Lead(t.Context(), nil))
	require.NoError(t, first.Lead(t.Context(), always(true)))
	require.Equal(t, feed[len(feed)-1].Seq, first.Applied(), "the other has left nothing")
}

// TestLeadEnds: one that does not lead any more mends nothing, though it has kept what is in doubt: another has applied what came later.
func TestLeadEnds(t *testing.T) {
	urls := sharedServer(t).URLs()
	prefix, feed := prefixOf(t.Name()), feedOf(8)
	var seen watched
	seen.failing.Store(-1)
	_, _, first := leading(t, prefix, urls, true, Options{Client: &http.Client{Transport: &seen}})
	first.pending.markUnconfirmed()
	require.NoError(t, first.Apply(t.Context(), feed))
	require.False(t, first.pending.allConfirmed())
	require.NoError(t, first.Lead(t.Context(), nil))
	_, set, second := leading(t, prefix, urls, true, Options{})
	require.Zero(t, second.Applied(), "not all replicas have it for good")
	whole := append(feed[:len(feed):len(feed)], backend.Change{Seq: feed[len(feed)-1].Seq + 1, Kind: backend.Drop, Part: testPart, Source: 1})
	require.NoError(t, second.Apply(t.Context(), whole))
	before := seen.writes.Load()
	requireBecomes(t, set, whole, chunksOf(whole))
	time.Sleep(testLate + 2*maintenanceInterval)
	assert.Equal(t, before, seen.writes.Load())
	requireLike(t, set, whole, "after the time of doubt")
}

// TestLeadLapses: one that does not know any more whether it leads mends nothing until it does.
func TestLeadLapses(t *testing.T) {
	urls := sharedServer(t).URLs()
	feed := feedOf(8)
	_, set, ix := leading(t, prefixOf(t.Name()), urls, true, Options{})
	var certain atomic.Bool
	require.NoError(t, ix.Lead(t.Context(), certain.Load))
	ix.pending.markUnconfirmed()
	require.NoError(t, ix.Apply(t.Context(), feed))
	time.Sleep(testLate + 2*maintenanceInterval)
	require.False(t, ix.pending.allConfirmed(), "it is not compared")
	certain.Store(true)
	requireBecomes(t, set, feed, chunksOf(feed))
}

// testGuided: while a node is away, one that does not apply changes asks the node that has all. Where that goes away too it says that something may lack,
// until the one that leads has had another take its place.
func testGuided(t *testing.T, w *testtool.Weaviate) {
	const prefix = "Guided"
	x, _, first := leading(t, prefix, w.URLs(), true, Options{Retry: 60 * time.Second})
	inDoubt(x, x1(first))
	_, set, second := leading(t, prefix, w.URLs(), false, Options{Retry: 60 * time.Second})
	feed := feedOf(60)
	require.NoError(t, first.Apply(t.Context(), feed[:20]))
	w.Kill(2)
	require.NoError(t, first.Apply(t.Context(), feed[20:40]))
	hears(t, second, feed[39].Seq)
	lead := first.pending.primaryNode()
	require.NotNil(t, lead)
	require.Equal(t, lead.place, second.leaderPrimary.Load().place)
	requireLike(t, set, feed[:40], "by the node that has all")
	slow, lacks := second.Trouble()
	assert.True(t, slow)
	assert.False(t, lacks)
	require.NoError(t, w.Start(2))
	require.NoError(t, w.Ready(2))
	w.Kill(lead.place)
	require.Eventually(t, func() bool { _, lacks := second.Trouble(); return lacks || second.leaderPrimary.Load() == nil }, time.Minute, 10*time.Millisecond)
	require.NoError(t, first.Apply(t.Context(), feed[40:]))
	hears(t, second, feed[len(feed)-1].Seq)
	requireLike(t, set, feed, "by another node")
	require.NoError(t, w.Start(lead.place))
	require.NoError(t, w.Ready(lead.place))
	requireEverywhere(t, w, prefix, x1(first), feed)
	require.NoError(t, second.Refresh(t.Context()))
	slow, lacks = second.Trouble()
	assert.False(t, slow || lacks)
	assert.Nil(t, second.leaderPrimary.Load())
}

// x1 is a set of one index.
func x1(x *index) backend.IndexSet { return &set{ix: x, indexes: []backend.Index{x}} }

// paused is a client of HTTP that holds requests of one kind back.
type paused struct {
	mu      sync.Mutex
	holds   func(body string) bool
	held    chan struct{} // has something when one is held
	release chan struct{}
	removed int // objects that were deleted by their ids
}

func (p *paused) RoundTrip(r *http.Request) (*http.Response, error) {
	p.mu.Lock()
	holds := p.holds
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
			case p.held <- struct{}{}:
			default:
			}
			<-p.release
		}
	}
	return http.DefaultTransport.RoundTrip(r)
}

// TestAppliesWhileCompared: changes are applied while what was in doubt is being compared, and what they change is not taken for wrong.
func TestAppliesWhileCompared(t *testing.T) {
	var urls []string
	for _, u := range sharedServer(t).URLs() { // searches by GraphQL
		address, _, _ := strings.Cut(u, "?")
		urls = append(urls, address)
	}
	feed := feedOf(8)
	p := &paused{held: make(chan struct{}, 1), release: make(chan struct{})}
	_, set := openOn(t, prefixOf(t.Name()), urls, Options{Client: &http.Client{Transport: p}})
	ix := set.Indexes()[0].(*index)
	require.NoError(t, ix.Apply(t.Context(), feed[:1]))
	ix.pending.markUnconfirmed()
	require.NoError(t, ix.Apply(t.Context(), feed[1:]))
	p.mu.Lock()
	p.holds = func(body string) bool { // a comparison asks for tags of sources
		return strings.Contains(body, "ContainsAny") && strings.Contains(body, "{"+propSource+" "+propChunk+" "+propTags+"}")
	}
	p.mu.Unlock()
	select {
	case <-p.held:
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
	p.holds = nil
	p.mu.Unlock()
	close(p.release)
	requireBecomes(t, set, whole, chunksOf(whole))
	p.mu.Lock()
	defer p.mu.Unlock()
	assert.Zero(t, p.removed, "nothing was wrong")
}
