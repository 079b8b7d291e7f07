package weaviate

import (
	"bytes"
	"context"
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

// late is a client of HTTP that has a node carry out chosen requests later than it was told that nobody answered, as a cluster does with a request whose
// replicas were away.
type late struct {
	mu     sync.Mutex
	choose func(r *http.Request, body string) bool // nil: none
	held   []func() error
	before func(r *http.Request, body string) // called before a request is sent
}

func (l *late) RoundTrip(r *http.Request) (*http.Response, error) {
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
		l.held = append(l.held, func() error {
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

// hold has the next request that writes what is chosen be carried out late, once.
func (l *late) hold(choose func(r *http.Request, body string) bool) {
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

// release carries out what was held.
func (l *late) release(t *testing.T, want int) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	require.Len(t, l.held, want)
	for _, f := range l.held {
		require.NoError(t, f())
	}
	l.held, l.choose = nil, nil
}

func putsChunk(r *http.Request, body string) bool {
	return r.Method == http.MethodPost && strings.Contains(body, `"bag":`) && strings.Contains(body, `"words":`)
}

func deletes(r *http.Request, _ string) bool { return r.Method == http.MethodDelete }

// requireBecomes waits until the index is as a feed says, without anybody asking for it.
func requireBecomes(t *testing.T, set backend.IndexSet, feed []backend.Change, chunks int) {
	t.Helper()
	require.Eventually(t, func() bool { return docsOf(t, set) == chunks }, 20*time.Second, 100*time.Millisecond, "chunks")
	requireSettled(t, set.Indexes()[0])
	requireLike(t, set, feed, "in the end")
}

// docsOf counts the chunks, as they are now.
func docsOf(t *testing.T, set backend.IndexSet) int {
	x := set.Indexes()[0].(*index)
	x.stats.clear()
	_, docs, _, err := set.Keywords().Terms(t.Context(), testPart, "lantern")
	require.NoError(t, err)
	return docs
}

func chunksOf(feed []backend.Change) (n int) {
	for _, v := range desired(feed).put {
		if v != nil {
			n += len(v.put.Rows)
		}
	}
	return n
}

// TestLatePut: a request that stores something gets no answer and is made again; when what it stored was deleted, the cluster carries the first one out.
func TestLatePut(t *testing.T) {
	urls := sharedServer(t).URLs()
	feed := feedOf(4)[:4] // 1, 2 and 3 are put
	feed = append(feed, backend.Change{Seq: 5, Kind: backend.Drop, Part: testPart, Source: 4}, backend.Change{Seq: 6, Kind: backend.Drop, Part: testPart, Source: 2})
	var slow late
	_, set := openOn(t, prefixOf(t.Name()), urls, Options{Client: &http.Client{Transport: &slow}})
	slow.hold(putsChunk)
	require.NoError(t, set.Indexes()[0].Apply(t.Context(), feed[:4]))
	require.NoError(t, set.Indexes()[0].Apply(t.Context(), feed[4:]))
	require.Equal(t, chunksOf(feed), docsOf(t, set))
	slow.release(t, 1)
	require.Greater(t, docsOf(t, set), chunksOf(feed), "it is there again")
	requireBecomes(t, set, feed, chunksOf(feed))
}

// TestLateVector: a vector that was replaced is stored again by a request that was carried out late.
func TestLateVector(t *testing.T) {
	urls := sharedServer(t).URLs()
	feed := feedOf(6)
	_, set := openOn(t, prefixOf(t.Name()), urls, Options{})
	ix := set.Indexes()[0].(*index)
	ix.pending.markUnconfirmed()
	require.NoError(t, ix.Apply(t.Context(), feed))
	of := aboutOf(&feed[0], feed[0].Tags)
	older := of.vector(ix.x.schema, ix.uid, feed[0].Rows[0].Chunk, feed[0].Lane, backendtest.Vector("something else", testDim))
	require.NoError(t, ix.x.batches.put(t.Context(), toAllReplicas(nil), []stored{older}))
	q := backend.VectorQuery{Part: testPart, Vector: feed[0].Rows[0].Vector, K: 3}
	scores := func() (least float32) {
		hits, err := set.Vectors().SearchVectors(t.Context(), q)
		require.NoError(t, err)
		return hits[2].Score
	}
	require.Less(t, scores(), float32(.9), "one of the three has the other vector")
	require.Eventually(t, func() bool { return scores() > .999 }, 20*time.Second, 100*time.Millisecond)
	requireBecomes(t, set, feed, chunksOf(feed))
}

// TestLateDelete: what is stored anew is deleted first. That request gets no answer and is made again; the cluster carries the first one out when
// the items are stored.
func TestLateDelete(t *testing.T) {
	urls := sharedServer(t).URLs()
	feed := feedOf(40)
	var slow late
	_, set := openOn(t, prefixOf(t.Name()), urls, Options{Client: &http.Client{Transport: &slow}})
	ix := set.Indexes()[0].(*index)
	ix.pending.unconfirmedFor = 10 * time.Second
	require.NoError(t, ix.Apply(t.Context(), feed[:30]))
	ix.mu.Lock() // as after a node came back that had led
	require.NoError(t, ix.pending.keep(feed[:30], ix.ownState.finishedPoint(), time.Now(), false))
	ix.pending.setPrimary(ix.x.cluster.nodes[0])
	h := &ix.x.cluster.health
	h.mu.Lock()
	h.lastDown = time.Now() // in the middle of it
	h.mu.Unlock()
	slow.hold(deletes)
	err := ix.heal(t.Context())
	ix.mu.Unlock()
	require.NoError(t, err)
	require.Equal(t, chunksOf(feed[:30]), docsOf(t, set))
	time.Sleep(2 * maintenanceInterval) // what is in doubt is not looked at
	slow.release(t, 1)
	require.Less(t, docsOf(t, set), chunksOf(feed[:30]), "items are missing")
	require.NoError(t, ix.Apply(t.Context(), feed[30:]))
	requireBecomes(t, set, feed, chunksOf(feed))
}

// TestDiesBetweenDeleteAndStore: a process that stores anew what another had left by halves dies when it has deleted the first items. Others go on
// meanwhile. The next one under its name stores them, however far the others are.
func TestDiesBetweenDeleteAndStore(t *testing.T) {
	urls := sharedServer(t).URLs()
	prefix, feed := prefixOf(t.Name()), feedOf(80)
	_, other := openOn(t, prefix, urls, Options{})
	var first watched
	first.failing.Store(-1)
	x, set := openOn(t, prefix, urls, Options{Retry: time.Millisecond, Process: "a", Client: &http.Client{Transport: &first}})
	first.failing.Store(2) // it says what it is about to store
	require.Error(t, set.Indexes()[0].Apply(t.Context(), feed[:40]))
	require.NoError(t, x.Close())
	require.NoError(t, other.Indexes()[0].Apply(t.Context(), feed[:40]))

	var second watched
	second.failing.Store(-1)
	x, set = openOn(t, prefix, urls, Options{Retry: time.Millisecond, Process: "a", Client: &http.Client{Transport: &second}})
	require.Zero(t, set.Indexes()[0].Applied())
	second.failing.Store(3) // and has deleted them from both collections
	require.Error(t, set.Indexes()[0].Apply(t.Context(), feed[:40]))
	require.NoError(t, x.Close())
	require.Less(t, docsOf(t, other), chunksOf(feed[:40]), "they are missing")

	_, set = openOn(t, prefix, urls, Options{Process: "a"})
	require.NoError(t, set.Indexes()[0].Apply(t.Context(), feed[:10]))
	require.NoError(t, other.Indexes()[0].Apply(t.Context(), feed[40:60]))
	require.NoError(t, set.Indexes()[0].Apply(t.Context(), feed[10:60]))
	require.NoError(t, other.Indexes()[0].Apply(t.Context(), feed[60:]))
	require.NoError(t, set.Indexes()[0].Apply(t.Context(), feed[60:]))
	requireBecomes(t, set, feed, chunksOf(feed))
	requireLike(t, other, feed, "for the other")
}

// TestUndoesAndDies: a process stores a version after another has dropped it, says that all is stored, and dies before it has applied the drop.
func TestUndoesAndDies(t *testing.T) {
	urls := sharedServer(t).URLs()
	prefix, feed := prefixOf(t.Name()), feedOf(4)
	drop := backend.Change{Seq: feed[len(feed)-1].Seq + 1, Kind: backend.Drop, Part: testPart, Source: 1}
	whole := append(feed[:len(feed):len(feed)], drop)
	_, other := openOn(t, prefix, urls, Options{})
	var slow late
	x, set := openOn(t, prefix, urls, Options{Client: &http.Client{Transport: &slow}})
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
	require.Equal(t, chunksOf(feed), docsOf(t, set), "what was dropped is there again")
	require.NoError(t, x.Close())
	_, next := openOn(t, prefix, urls, Options{})
	applied := next.Indexes()[0].Applied()
	require.Less(t, applied, drop.Seq)
	require.NoError(t, next.Indexes()[0].Apply(t.Context(), whole[applied:]))
	requireBecomes(t, next, whole, chunksOf(whole))
}

// TestEndedForGood: what a process left by halves that does not come back is done by one that runs.
func TestEndedForGood(t *testing.T) {
	urls := sharedServer(t).URLs()
	prefix, feed := prefixOf(t.Name()), feedOf(40)
	y, other := openOn(t, prefix, urls, Options{})
	y.takeoverAfter = time.Second
	var dying watched
	dying.failing.Store(-1)
	x, set := openOn(t, prefix, urls, Options{Retry: time.Millisecond, Client: &http.Client{Transport: &dying}})
	require.NoError(t, other.Indexes()[0].Apply(t.Context(), feed))
	require.NoError(t, set.Indexes()[0].Apply(t.Context(), feed))
	ix := set.Indexes()[0].(*index)
	ix.mu.Lock()
	ix.rewind(point{}, 0)
	ix.mustApplyTo, ix.deleteFirstTo = feed[39].Seq, feed[39].Seq
	ix.mu.Unlock()
	dying.failing.Store(3)
	require.Error(t, ix.Apply(t.Context(), feed[:40]))
	require.NoError(t, x.Close())
	require.Less(t, docsOf(t, other), chunksOf(feed))
	at := other.Indexes()[0]
	require.Eventually(t, func() bool { return at.Applied() < feed[len(feed)-1].Seq }, 30*time.Second, 50*time.Millisecond, "it begins again")
	require.NoError(t, at.Apply(t.Context(), feed[at.Applied():]))
	requireBecomes(t, other, feed, chunksOf(feed))
	_, next := openOn(t, prefix, urls, Options{})
	require.Equal(t, feed[len(feed)-1].Seq, next.Indexes()[0].Applied(), "and nobody else does")
}
