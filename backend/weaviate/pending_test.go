package weaviate

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/internal/pipeline"
	"github.com/contextmem/contextmem/internal/testtool"
)

// growing is a Store whose change feed grows during a test. It keeps all changes.
type growing struct {
	backend.Store
	mu   sync.Mutex
	feed []backend.Change
}

func (g *growing) grow(changes ...backend.Change) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range changes {
		c.Seq, c.Part = uint64(len(g.feed)+1), testPart
		g.feed = append(g.feed, c)
	}
}

func (g *growing) all() []backend.Change {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.feed)
}

func (g *growing) LastSeq() uint64 { return uint64(len(g.all())) }

func (g *growing) Changes(_ context.Context, after uint64, limit int) ([]backend.Change, error) {
	feed := g.all()
	rest := feed[min(after, uint64(len(feed))):]
	return rest[:min(limit, len(rest))], nil
}

// grown is a workspace over a growing Store.
type grown struct {
	backend.IndexSet
	of *growing
}

func (w *grown) Store() backend.Store { return w.of }

// alone is the Leader of the only process.
type alone struct{}

func (alone) Lead(context.Context, bool) (uint64, error) { return 1, nil }
func (alone) Still(uint64) bool                          { return true }
func (alone) Keep(ctx context.Context)                   { <-ctx.Done() }

// following opens a Follower that applies a feed to indexes.
func following(t *testing.T, set backend.IndexSet, g *growing) *pipeline.Follower {
	t.Helper()
	f := pipeline.NewFollower(&grown{set, g})
	f.Leader = alone{}
	t.Cleanup(f.Close)
	require.NoError(t, f.Open(t.Context()))
	require.NoError(t, f.Sync(t.Context()))
	return f
}

// setLimits sets how many bytes of unconfirmed changes an index keeps, and how long they stay unconfirmed.
func setLimits(ix *index, limit int, late time.Duration) {
	ix.pending.mu.Lock()
	defer ix.pending.mu.Unlock()
	ix.pending.limit, ix.pending.unconfirmedFor = limit, late
}

// stayUnconfirmed keeps writes unconfirmed until confirmNow. So it does not matter how long a busy machine takes in between.
func stayUnconfirmed(ix *index) { setLimits(ix, maxKept, time.Hour) }

// confirmNow ends the unconfirmed time of all writes. Later ones stay unconfirmed for testWriteDelay.
func confirmNow(ix *index) {
	confirmAfter(ix, 0)
	ix.pending.mu.Lock()
	defer ix.pending.mu.Unlock()
	ix.pending.unconfirmedFor = testWriteDelay
}

// confirmAfter ends the unconfirmed time of all writes, and that of later ones, after some time at the latest.
func confirmAfter(ix *index, late time.Duration) {
	p := &ix.pending
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unconfirmedFor = late
	if end := time.Now().Add(late); p.confirmedAt.After(end) {
		p.confirmedAt = end
	}
	for i := range p.kept {
		if b := &p.kept[i]; b.confirmedAt.After(p.confirmedAt) {
			b.confirmedAt = p.confirmedAt
		}
	}
}

// keptOf reports whether unconfirmed changes were dropped, and how many bytes are kept.
func keptOf(ix *index) (bool, int) {
	ix.pending.mu.Lock()
	defer ix.pending.mu.Unlock()
	return ix.pending.dropped, ix.pending.bytes
}

const testLimit = 16 << 10

// TestDroppedChangesAreReadAgain checks requests that store chunks and vectors and get no response. Before they are
// carried out, more changes follow than the process keeps. Those change tags, vectors and the existence of what the requests
// store. The process reads the feed again from its last confirmed change, without being asked, and no search waits for it.
func TestDroppedChangesAreReadAgain(t *testing.T) {
	t.Parallel()
	feed := testFeed(200)
	var slow delayingTransport
	kinds := map[bool]int{}
	slow.choose = func(r *http.Request, body string) bool {
		if r.Method != http.MethodPost || !putsChunk(r, body) && !putsVector(r, body) {
			return false
		}
		words := putsChunk(r, body)
		kinds[words]++
		return kinds[words] == 1
	}
	_, set := openSet(t, prefixOf(t.Name()), sharedServer(t).URLs(), Options{Client: &http.Client{Transport: &slow}})
	ix := set.Indexes()[0].(*index)
	setLimits(ix, testLimit, time.Hour)
	g := &growing{}
	g.grow(feed[:4]...)
	f := following(t, set, g)
	other := feed[0]
	other.Kind, other.Rows = backend.PutVectors, slices.Clone(other.Rows)
	for i := range other.Rows {
		other.Rows[i].Vector = backendtest.Vector("something else", testDim)
	}
	g.grow(other, backend.Change{Kind: backend.PutTags, Source: 2, Tags: []uint64{77}}, backend.Change{Kind: backend.Drop, Source: 4})
	most := 0
	for some := range slices.Chunk(feed[4:], 20) {
		g.grow(some...)
		require.NoError(t, f.Sync(t.Context()))
		_, bytes := keptOf(ix)
		most = max(most, bytes)
	}
	dropped, _ := keptOf(ix)
	require.True(t, dropped, "dropped")
	require.LessOrEqual(t, most, testLimit)
	want := countChunks(g.all())
	require.Equal(t, want, countDocs(t, set))
	slow.release(t, 2)
	require.Greater(t, countDocs(t, set), want, "deleted chunks are back")
	confirmNow(ix)
	requireReadAgain(t, ix, f)
	requireConverges(t, set, g.all(), want)
	require.False(t, ix.ownState.unfinished())
}

// requireReadAgain waits until an index has gone back in the feed and reached its last position again. Meanwhile the index
// must report trouble, so that searches do not wait for it.
func requireReadAgain(t *testing.T, ix *index, f *pipeline.Follower) {
	t.Helper()
	last := ix.Applied()
	began, deadline := false, time.Now().Add(slowly)
	for {
		slow, _ := ix.Trouble()
		at := ix.Applied() // read after Trouble, which may end in between
		if slow2, _ := ix.Trouble(); at < last && !slow && !slow2 {
			t.Fatal("searches wait for the changes")
		}
		if began = began || at < last; began && at == last {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("position %d of %d, went back: %t, behind: %t", at, last, began, f.Behind())
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func putsVector(r *http.Request, body string) bool {
	return r.Method == http.MethodPost && strings.Contains(body, `"vector":[`)
}

// testDropped checks a node that is away while changes are applied. When it is back, more changes follow than are kept
// until the earlier ones are confirmed. Finally each node has everything once.
func testDropped(t *testing.T, w *testtool.Weaviate) {
	const prefix = "Lost"
	x, set := openSet(t, prefix, w.URLs(), Options{Retry: 60 * time.Second})
	useRealWriteDelay(x, set)
	ix := set.Indexes()[0].(*index)
	feed := testFeed(120)
	g := &growing{}
	g.grow(feed[:20]...)
	f := following(t, set, g)
	w.Kill(2)
	g.grow(feed[20:40]...)
	require.NoError(t, f.Sync(t.Context()))
	setLimits(ix, testLimit, time.Hour)
	g.grow(feed[40:100]...)
	once, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	require.Error(t, f.Sync(once), "changes that a replica lacks are never dropped")
	require.NoError(t, w.Start(2))
	require.NoError(t, w.Ready(2))
	require.Eventually(t, func() bool { return f.Sync(t.Context()) == nil }, slowly, 50*time.Millisecond)
	for _, c := range feed[100:] {
		g.grow(c)
		require.NoError(t, f.Sync(t.Context()))
	}
	dropped, _ := keptOf(ix)
	require.True(t, dropped)
	confirmAfter(ix, maxWriteDelay)
	requireReadAgain(t, ix, f)
	assert.Equal(t, g.LastSeq(), ix.Applied())
	requireEverywhere(t, w, prefix, set, g.all())
}
