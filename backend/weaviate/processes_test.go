package weaviate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// failingTransport is an HTTP transport that counts the requests that write objects, and fails them from some number
// on.
type failingTransport struct {
	writes atomic.Int64
	left   atomic.Int64 // writes that still go through; below 0: all
	busy   atomic.Int64 // requests that get the answer of a busy node before others go through
	retry  *atomic.Int64
}

// openMortal opens the indexes in a process whose writes the caller fails through w. It repeats calls that a busy node
// does not answer for as long as it lives, and none from the first write that fails.
func openMortal(t testing.TB, prefix string, urls []string, o Options, w *failingTransport) (*Indexers, backend.IndexSet) {
	t.Helper()
	w.left.Store(-1)
	w.busy.Store(5)
	o.Client = &http.Client{Transport: w}
	x, set := openSet(t, prefix, urls, o)
	w.retry = &x.cluster.retry
	return x, set
}

// revive lets all writes through again.
func (w *failingTransport) revive() {
	w.retry.Store(int64(time.Minute))
	w.left.Store(-1)
}

func (w *failingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.busy.Add(-1) >= 0 {
		return &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
	}
	if strings.HasPrefix(r.URL.Path, "/v1/batch/objects") {
		w.writes.Add(1)
		if w.left.Load() == 0 {
			w.retry.Store(int64(time.Millisecond))
			return nil, http.ErrServerClosed
		}
		w.left.Add(-1)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// TestSkipsChangesAppliedByOthers checks that a process does not write what another has applied.
func TestSkipsChangesAppliedByOthers(t *testing.T) {
	t.Parallel()
	urls := sharedServer(t).URLs()
	prefix := prefixOf(t.Name())
	feed := testFeed(40)
	var seen failingTransport
	seen.left.Store(-1)
	_, second := openSet(t, prefix, urls, Options{Client: &http.Client{Transport: &seen}})
	_, first := openSet(t, prefix, urls, Options{})
	require.NoError(t, first.Indexes()[0].Apply(t.Context(), feed))
	require.NoError(t, second.Indexes()[0].Apply(t.Context(), feed))
	assert.Zero(t, seen.writes.Load())
	assert.Equal(t, feed[len(feed)-1].Seq, second.Indexes()[0].Applied())
	requireMatchesFeed(t, second, feed, "changes of the other process")
	more := backend.Change{Seq: uint64(len(feed) + 1), Kind: backend.Drop, Part: testPart, Source: 1}
	require.NoError(t, second.Indexes()[0].Apply(t.Context(), []backend.Change{more}))
	assert.NotZero(t, seen.writes.Load())
	_, third := openSet(t, prefix, urls, Options{})
	assert.Equal(t, more.Seq, third.Indexes()[0].Applied(), "position of the last process")
}

// TestProcessesApplyConcurrently lets processes apply a feed at the same time, in batches of different sizes.
func TestProcessesApplyConcurrently(t *testing.T) {
	t.Parallel()
	urls := sharedServer(t).URLs()
	for round := range 3 {
		prefix := prefixOf(fmt.Sprint(t.Name(), round))
		feed := testFeed(80)
		var sets []backend.IndexSet
		for range 3 {
			_, set := openSet(t, prefix, urls, Options{})
			sets = append(sets, set)
		}
		var all sync.WaitGroup
		for i, set := range sets {
			all.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(round), uint64(i)))
				for rest := feed; len(rest) > 0; {
					n := 1 + rng.IntN(min(12, len(rest)))
					if !assert.NoError(t, set.Indexes()[0].Apply(t.Context(), rest[:n])) {
						return
					}
					rest = rest[n:]
				}
			})
		}
		all.Wait()
		for i, set := range sets {
			requireMatchesFeed(t, set, feed, fmt.Sprintf("round %d, process %d", round, i))
		}
	}
}

// TestProcessDiesWhileItWrites lets a process die after each number of requests. The next process must begin no later
// than the last change that the dead one had finished.
func TestProcessDiesWhileItWrites(t *testing.T) {
	t.Parallel()
	urls := sharedServer(t).URLs()
	feed := testFeed(24)
	for after := range int64(7) {
		prefix := prefixOf(fmt.Sprint(t.Name(), after))
		var dying failingTransport
		x, set := openMortal(t, prefix, urls, Options{}, &dying)
		require.NoError(t, set.Indexes()[0].Apply(t.Context(), feed[:8]))
		dying.left.Store(after)
		err := set.Indexes()[0].Apply(t.Context(), feed[8:20])
		if after < 4 {
			require.Error(t, err)
			require.ErrorIs(t, err, backend.ErrUnavailable)
		}
		require.NoError(t, x.Close())
		_, next := openSet(t, prefix, urls, Options{})
		applied := next.Indexes()[0].Applied()
		if err != nil {
			require.LessOrEqual(t, applied, feed[7].Seq, "after %d requests", after)
		} else {
			require.Equal(t, feed[19].Seq, applied)
		}
		require.NoError(t, next.Indexes()[0].Apply(t.Context(), feed[applied:]))
		requireMatchesFeed(t, next, feed, fmt.Sprintf("after %d requests", after))
	}
}

// TestResetByAnotherProcess checks that a process notices when another has deleted the index, and begins again.
func TestResetByAnotherProcess(t *testing.T) {
	t.Parallel()
	urls := sharedServer(t).URLs()
	prefix := prefixOf(t.Name())
	feed := testFeed(16)
	_, first := openSet(t, prefix, urls, Options{})
	_, second := openSet(t, prefix, urls, Options{})
	require.NoError(t, first.Indexes()[0].Apply(t.Context(), feed[:10]))
	require.NoError(t, second.Indexes()[0].Reset(t.Context()))
	err := first.Indexes()[0].Apply(t.Context(), feed[10:])
	require.ErrorIs(t, err, backend.ErrUnavailable)
	require.Zero(t, first.Indexes()[0].Applied(), "position after the reset")
	require.NoError(t, first.Indexes()[0].Apply(t.Context(), feed))
	requireMatchesFeed(t, first, feed, "after the reset")
	require.NoError(t, second.Indexes()[0].Apply(t.Context(), feed))
	requireMatchesFeed(t, second, feed, "through the second process")
}

// TestStateOfDeletedContentIsIgnored checks that a state is ignored if its process has not noticed yet that the content
// was deleted.
func TestStateOfDeletedContentIsIgnored(t *testing.T) {
	t.Parallel()
	urls := sharedServer(t).URLs()
	prefix := prefixOf(t.Name())
	feed := testFeed(16)
	_, first := openSet(t, prefix, urls, Options{})
	_, second := openSet(t, prefix, urls, Options{})
	require.NoError(t, first.Indexes()[0].Apply(t.Context(), feed[:10]))
	require.NoError(t, second.Indexes()[0].Reset(t.Context()))
	late := first.Indexes()[0].(*index)
	require.NoError(t, late.storeState(t.Context(), late.toAllReplicas(nil), late.ownState), "state of a batch begun before the reset")
	require.NoError(t, second.Indexes()[0].Apply(t.Context(), feed))
	requireMatchesFeed(t, second, feed, "through the second process")
	_, third := openSet(t, prefix, urls, Options{})
	require.Equal(t, feed[len(feed)-1].Seq, third.Indexes()[0].Applied())
}

// TestRestartedProcessKeepsItsState checks that a process that starts again under its name leaves only one state.
func TestRestartedProcessKeepsItsState(t *testing.T) {
	t.Parallel()
	urls := sharedServer(t).URLs()
	prefix := prefixOf(t.Name())
	feed := testFeed(3)
	for i := range feed {
		x, set := openSet(t, prefix, urls, Options{Process: "alone"})
		require.Equal(t, uint64(i), set.Indexes()[0].Applied())
		require.NoError(t, set.Indexes()[0].Apply(t.Context(), feed[i:i+1]))
		found, err := set.Indexes()[0].(*index).states(t.Context())
		require.NoError(t, err)
		require.Len(t, found.all, 1)
		require.NoError(t, x.Close())
	}
}

// TestClosedTenantIsInactive checks that the tenant of a closed workspace is inactive, and becomes active when it is
// used.
func TestClosedTenantIsInactive(t *testing.T) {
	t.Parallel()
	urls := sharedServer(t).URLs()
	prefix := prefixOf(t.Name())
	feed := testFeed(8)
	x, set := openSet(t, prefix, urls, Options{})
	require.NoError(t, set.Indexes()[0].Apply(t.Context(), feed))
	uid := set.Indexes()[0].(*index).uid
	status := func() map[string]string {
		out := map[string]string{}
		for _, collection := range x.schema.all() {
			tenants, err := x.cluster.nodes[0].Schema().TenantsGetter().WithClassName(collection).Do(context.Background())
			require.NoError(t, err)
			for _, tenant := range tenants {
				assert.Equal(t, uid, tenant.Name)
				out[collection] = tenant.ActivityStatus
			}
		}
		return out
	}
	chunks, vectors := x.schema.chunks(), x.schema.vectors(testDim)
	assert.Equal(t, map[string]string{chunks: "HOT", vectors: "HOT"}, status())
	closes := func() bool {
		require.NoError(t, set.Close())
		return assert.ObjectsAreEqual(map[string]string{chunks: "COLD", vectors: "COLD"}, status())
	}
	inactive, err := closes(), error(nil)
	for end := time.Now().Add(slowly); !inactive && time.Now().Before(end); inactive = closes() { // Close does not wait for a busy node
		set, err = x.OpenIndexes(t.Context(), uid)
		require.NoError(t, err)
	}
	require.True(t, inactive)
	set, err = x.OpenIndexes(t.Context(), uid)
	require.NoError(t, err)
	assert.Equal(t, feed[len(feed)-1].Seq, set.Indexes()[0].Applied())
	requireMatchesFeed(t, set, feed, "after the tenant was inactive")
	require.NoError(t, set.Close())
	require.NoError(t, x.RemoveIndexes(t.Context(), uid))
	assert.Empty(t, status())
}
