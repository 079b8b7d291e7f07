package weaviate

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
)

// delayingTransport is an HTTP transport that returns an error for chosen requests and sends them later, as a cluster
// does with a request whose replicas were away.
type delayingTransport struct {
	mu      sync.Mutex
	choose  func(r *http.Request, body string) bool // nil: none
	delayed []func() error
	before  func(r *http.Request, body string) // called before a request is sent
}

func (l *delayingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasPrefix(r.URL.Path, "/v1/batch/objects") {
		return http.DefaultTransport.RoundTrip(r)
	}
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(data))
	l.mu.Lock()
	before := l.before
	held := l.choose != nil && l.choose(r, string(data))
	if held {
		again := r.Clone(context.Background())
		again.Body = io.NopCloser(bytes.NewReader(data))
		l.delayed = append(l.delayed, func() error {
			answer, err := http.DefaultTransport.RoundTrip(again)
			if err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, answer.Body)
			return err
		})
	}
	l.mu.Unlock()
	if held {
		return nil, http.ErrHandlerTimeout
	}
	if before != nil {
		before(r, string(data))
	}
	return http.DefaultTransport.RoundTrip(r)
}

// delayNext delays the next request that choose selects, once.
func (l *delayingTransport) delayNext(choose func(r *http.Request, body string) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	once := false
	l.choose = func(r *http.Request, body string) bool {
		if once || !choose(r, body) {
			return false
		}
		once = true
		return true
	}
}

// release sends the delayed requests. want is their number.
func (l *delayingTransport) release(t *testing.T, want int) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	require.Len(t, l.delayed, want)
	for _, f := range l.delayed {
		require.NoError(t, f())
	}
	l.delayed, l.choose = nil, nil
}

func putsChunk(r *http.Request, body string) bool {
	return r.Method == http.MethodPost && strings.Contains(body, `"bag":`) && strings.Contains(body, `"stops":`)
}

func deletes(r *http.Request, _ string) bool { return r.Method == http.MethodDelete }

// requireConverges waits until background maintenance has made the index match the feed.
func requireConverges(t *testing.T, set backend.IndexSet, feed []backend.Change, chunks int) {
	t.Helper()
	require.Eventually(t, func() bool { return countDocs(t, set) == chunks }, slowly, 100*time.Millisecond, "chunks")
	requireConfirmed(t, set.Indexes()[0])
	requireMatchesFeed(t, set, feed, "in the end")
}

// countDocs returns the current number of chunks.
func countDocs(t *testing.T, set backend.IndexSet) int {
	x := set.Indexes()[0].(*index)
	x.forget()
	_, docs, _, err := set.Keywords().Terms(t.Context(), testPart, "lantern")
	require.NoError(t, err)
	return docs
}

func countChunks(feed []backend.Change) (n int) {
	for _, v := range desired(feed).put {
		if v != nil {
			n += len(v.put.Rows)
		}
	}
	return n
}

// TestDelayedPut checks a request that gets no response and is repeated. The cluster carries out the first one after
// the objects were deleted.
func TestDelayedPut(t *testing.T) {
	t.Parallel()
	urls := sharedServer(t).URLs()
	feed := testFeed(4)[:4] // 1, 2 and 3 are put
	feed = append(feed, backend.Change{Seq: 5, Kind: backend.Drop, Part: testPart, Source: 4}, backend.Change{Seq: 6, Kind: backend.Drop, Part: testPart, Source: 2})
	var slow delayingTransport
	_, set := openSet(t, prefixOf(t.Name()), urls, Options{Client: &http.Client{Transport: &slow}})
	ix := set.Indexes()[0].(*index)
	stayUnconfirmed(ix)
	slow.delayNext(putsChunk)
	require.NoError(t, set.Indexes()[0].Apply(t.Context(), feed[:4]))
	require.NoError(t, set.Indexes()[0].Apply(t.Context(), feed[4:]))
	require.Equal(t, countChunks(feed), countDocs(t, set))
	slow.release(t, 1)
	require.Greater(t, countDocs(t, set), countChunks(feed), "the delayed put had no effect")
	confirmNow(ix)
	requireConverges(t, set, feed, countChunks(feed))
}

// TestDelayedVector checks that a replaced vector is repaired after a delayed request has stored the older one again.
func TestDelayedVector(t *testing.T) {
	t.Parallel()
	urls := sharedServer(t).URLs()
	feed := testFeed(6)
	_, set := openSet(t, prefixOf(t.Name()), urls, Options{})
	ix := set.Indexes()[0].(*index)
	stayUnconfirmed(ix)
	ix.pending.markUnconfirmed()
	require.NoError(t, ix.Apply(t.Context(), feed))
	of := aboutOf(&feed[0], feed[0].Tags)
	older := of.vector(ix.x.schema, ix.uid, feed[0].Rows[0].Chunk, feed[0].Lane, backendtest.Vector("something else", testDim))
	require.NoError(t, ix.x.batches.put(t.Context(), ix.toAllReplicas(nil), []stored{older}))
	q := backend.VectorQuery{Part: testPart, Vector: feed[0].Rows[0].Vector, K: 3}
	scores := func() (least float32) {
		ix.forget()
		hits, err := set.Vectors().SearchVectors(t.Context(), q)
		require.NoError(t, err)
		return hits[2].Score
	}
	require.Less(t, scores(), float32(.9), "the older vector was not stored")
	confirmNow(ix)
	require.Eventually(t, func() bool { return scores() > .999 }, slowly, 100*time.Millisecond)
	requireConverges(t, set, feed, countChunks(feed))
}

// TestDelayedDelete checks a rewrite whose deletion gets no response and is repeated. The cluster carries out the first
// deletion after the objects are stored.
func TestDelayedDelete(t *testing.T) {
	t.Parallel()
	urls := sharedServer(t).URLs()
	feed := testFeed(40)
	var slow delayingTransport
	_, set := openSet(t, prefixOf(t.Name()), urls, Options{Client: &http.Client{Transport: &slow}})
	ix := set.Indexes()[0].(*index)
	stayUnconfirmed(ix)
	require.NoError(t, ix.Apply(t.Context(), feed[:30]))
	ix.mu.Lock() // the state after a primary came back
	require.NoError(t, ix.pending.keep(feed[:30], ix.ownState.finishedPoint(), time.Now(), false))
	ix.pending.setPrimary(ix.x.cluster.nodes[0])
	h := &ix.x.cluster.health
	h.mu.Lock()
	h.lastDown = time.Now() // while the changes were stored
	h.mu.Unlock()
	slow.delayNext(deletes)
	err := ix.heal(t.Context())
	ix.mu.Unlock()
	require.NoError(t, err)
	require.Equal(t, countChunks(feed[:30]), countDocs(t, set))
	time.Sleep(2 * maintenanceInterval) // unconfirmed changes are not compared
	slow.release(t, 1)
	require.Less(t, countDocs(t, set), countChunks(feed[:30]), "no object is missing")
	confirmNow(ix)
	require.NoError(t, ix.Apply(t.Context(), feed[30:]))
	requireConverges(t, set, feed, countChunks(feed))
}

// TestProcessDiesBetweenDeleteAndStore lets a process die while it completes another one's unfinished work, after it
// has deleted the first objects. Other processes continue meanwhile. The next process of the same name must store the
// objects again, however far the others are.
func TestProcessDiesBetweenDeleteAndStore(t *testing.T) {
	t.Parallel()
	urls := sharedServer(t).URLs()
	prefix, feed := prefixOf(t.Name()), testFeed(80)
	_, other := openSet(t, prefix, urls, Options{})
	var first failingTransport
	x, set := openMortal(t, prefix, urls, Options{Process: "a"}, &first)
	first.left.Store(2) // its intent is stored
	require.Error(t, set.Indexes()[0].Apply(t.Context(), feed[:40]))
	require.NoError(t, x.Close())
	require.NoError(t, other.Indexes()[0].Apply(t.Context(), feed[:40]))

	var second failingTransport
	x, set = openMortal(t, prefix, urls, Options{Process: "a"}, &second)
	require.Zero(t, set.Indexes()[0].Applied())
	second.left.Store(3) // the objects are deleted from both collections
	require.Error(t, set.Indexes()[0].Apply(t.Context(), feed[:40]))
	require.NoError(t, x.Close())
	require.Less(t, countDocs(t, other), countChunks(feed[:40]), "no object is missing")

	_, set = openSet(t, prefix, urls, Options{Process: "a"})
	require.NoError(t, set.Indexes()[0].Apply(t.Context(), feed[:10]))
	require.NoError(t, other.Indexes()[0].Apply(t.Context(), feed[40:60]))
	require.NoError(t, set.Indexes()[0].Apply(t.Context(), feed[10:60]))
	require.NoError(t, other.Indexes()[0].Apply(t.Context(), feed[60:]))
	require.NoError(t, set.Indexes()[0].Apply(t.Context(), feed[60:]))
	requireConverges(t, set, feed, countChunks(feed))
	requireMatchesFeed(t, other, feed, "through the other process")
}

// TestProcessDiesAfterUndoingADrop lets a process store a version after another has deleted it, record that all is
// stored, and die before it has applied the deletion.
func TestProcessDiesAfterUndoingADrop(t *testing.T) {
	t.Parallel()
	urls := sharedServer(t).URLs()
	prefix, feed := prefixOf(t.Name()), testFeed(4)
	drop := backend.Change{Seq: feed[len(feed)-1].Seq + 1, Kind: backend.Drop, Part: testPart, Source: 1}
	whole := append(feed[:len(feed):len(feed)], drop)
	_, other := openSet(t, prefix, urls, Options{})
	var slow delayingTransport
	x, set := openSet(t, prefix, urls, Options{Client: &http.Client{Transport: &slow}})
	var once sync.Once
	slow.before = func(r *http.Request, body string) {
		if putsChunk(r, body) {
			once.Do(func() {
				assert.NoError(t, other.Indexes()[0].Apply(t.Context(), feed))
				assert.NoError(t, other.Indexes()[0].Apply(t.Context(), whole[len(feed):]))
			})
		}
	}
	require.NoError(t, set.Indexes()[0].Apply(t.Context(), feed))
	require.Equal(t, countChunks(feed), countDocs(t, set), "the dropped version was not stored again")
	require.NoError(t, x.Close())
	_, next := openSet(t, prefix, urls, Options{})
	applied := next.Indexes()[0].Applied()
	require.Less(t, applied, drop.Seq)
	require.NoError(t, next.Indexes()[0].Apply(t.Context(), whole[applied:]))
	requireConverges(t, next, whole, countChunks(whole))
}

// TestAbandonedWorkIsTakenOver checks that a running process completes the unfinished work of one that does not return.
func TestAbandonedWorkIsTakenOver(t *testing.T) {
	t.Parallel()
	urls := sharedServer(t).URLs()
	prefix, feed := prefixOf(t.Name()), testFeed(40)
	y, other := openSet(t, prefix, urls, Options{})
	y.takeoverAfter = time.Second
	var dying failingTransport
	x, set := openMortal(t, prefix, urls, Options{}, &dying)
	require.NoError(t, other.Indexes()[0].Apply(t.Context(), feed))
	require.NoError(t, set.Indexes()[0].Apply(t.Context(), feed))
	ix := set.Indexes()[0].(*index)
	ix.mu.Lock()
	ix.rewind(point{}, 0)
	ix.mustApplyTo, ix.deleteFirstTo = feed[39].Seq, feed[39].Seq
	ix.mu.Unlock()
	dying.left.Store(3)
	require.Error(t, ix.Apply(t.Context(), feed[:40]))
	require.NoError(t, x.Close())
	require.Less(t, countDocs(t, other), countChunks(feed))
	at := other.Indexes()[0]
	require.Eventually(t, func() bool { return at.Applied() < feed[len(feed)-1].Seq }, slowly, 50*time.Millisecond, "the position did not move back")
	require.NoError(t, at.Apply(t.Context(), feed[at.Applied():]))
	requireConverges(t, other, feed, countChunks(feed))
	_, next := openSet(t, prefix, urls, Options{})
	require.Equal(t, feed[len(feed)-1].Seq, next.Indexes()[0].Applied(), "the work was not marked as completed")
}

// TestComparisonLeavesLaterChanges checks that what a comparison of replicas stores again, or takes for wrong, is not what changes have replaced that were applied beside
// it.
func TestComparisonLeavesLaterChanges(t *testing.T) {
	t.Parallel()
	_, set, ix := openAs(t, prefixOf(t.Name()), sharedServer(t).URLs(), true, Options{})
	var feed []backend.Change
	apply := func(c backend.Change) {
		c.Seq, c.Part = uint64(len(feed)+1), testPart
		feed = append(feed, c)
		require.NoError(t, ix.Apply(t.Context(), []backend.Change{c}))
	}
	put := func(source int64, text string, tags ...uint64) backend.Change {
		c := backend.Change{Kind: backend.PutChunks, Source: source, Tags: tags}
		for i := range int64(2) {
			c.Rows = append(c.Rows, backend.Row{Chunk: 10*source + i, Text: "lantern " + text, Vector: backendtest.Vector(fmt.Sprint(text, i), testDim)})
		}
		return c
	}
	vectors := func(text string) backend.Change {
		return backend.Change{Kind: backend.PutVectors, Source: 2, Rows: []backend.Row{{Chunk: 20, Vector: backendtest.Vector(text, testDim)}}}
	}
	tags := func(source int64, tag uint64) backend.Change {
		return backend.Change{Kind: backend.PutTags, Source: source, Tags: []uint64{tag}}
	}
	for source := range int64(4) {
		apply(put(source, "shelf3"))
	}
	requireConfirmed(t, ix)
	ix.maintenance.stop()
	stayUnconfirmed(ix)
	compare := func() (d *content, n int, end point, round uint64) {
		confirmNow(ix)
		all, n, end, round, err := ix.dueForComparison(t.Context())
		require.NoError(t, err)
		require.Positive(t, n)
		return desired(all), n, end, round
	}

	ix.pending.markUnconfirmed() // so that changes are kept
	apply(tags(1, 1))
	apply(vectors("old"))
	apply(tags(3, 77))
	apply(tags(0, 1))
	d, n, end, round := compare()
	apply(put(1, "number5"))
	apply(vectors("new"))
	apply(tags(3, 2))
	require.NoError(t, ix.confirmCompared(t.Context(), d, n, end, round))
	requireMatchesFeed(t, set, feed, "stored again")

	apply(put(1, "shelf3", 1))
	d, _, end, round = compare()
	apply(tags(1, 2))
	wrong, err := ix.compare(t.Context(), d, end.seq)
	require.NoError(t, err)
	require.Contains(t, wrong, int64(1))
	mended, err := ix.repairSome(t.Context(), d, wrong, []int64{1}, round)
	require.NoError(t, err)
	require.Zero(t, mended, "the next comparison knows of the change")
	requireMatchesFeed(t, set, feed, "left to a later comparison")
	require.Eventually(t, func() bool {
		confirmNow(ix)
		return ix.compareReplicas(t.Context()) == nil && ix.pending.allConfirmed()
	}, slowly, time.Millisecond)
	requireMatchesFeed(t, set, feed, "compared")
}
