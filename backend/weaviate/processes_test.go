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

// watched is a client of HTTP that counts the requests that write objects, and may have them fail from some number on.
type watched struct {
	writes  atomic.Int64
	failing atomic.Int64 // writes that still go through; below 0: all
}

func (w *watched) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasPrefix(r.URL.Path, "/v1/batch/objects") {
		w.writes.Add(1)
		if w.failing.Load() == 0 {
			return nil, http.ErrServerClosed
		}
		w.failing.Add(-1)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// TestFollowers: a process does not write what another has applied.
func TestFollowers(t *testing.T) {
	urls := sharedServer(t).URLs()
	prefix := prefixOf(t.Name())
	feed := feedOf(40)
	var seen watched
	seen.failing.Store(-1)
	_, second := openOn(t, prefix, urls, Options{Client: &http.Client{Transport: &seen}})
	_, first := openOn(t, prefix, urls, Options{})
	require.NoError(t, first.Indexes()[0].Apply(t.Context(), feed))
	require.NoError(t, second.Indexes()[0].Apply(t.Context(), feed))
	assert.Zero(t, seen.writes.Load())
	assert.Equal(t, feed[len(feed)-1].Seq, second.Indexes()[0].Applied())
	requireLike(t, second, feed, "what another applied")
	more := backend.Change{Seq: uint64(len(feed) + 1), Kind: backend.Drop, Part: testPart, Source: 1}
	require.NoError(t, second.Indexes()[0].Apply(t.Context(), []backend.Change{more}))
	assert.NotZero(t, seen.writes.Load())
	_, third := openOn(t, prefix, urls, Options{})
	assert.Equal(t, more.Seq, third.Indexes()[0].Applied(), "where the last one ended")
}

// TestBeside: processes that apply a feed at the same time, in pieces of their own, leave what it comes to.
func TestBeside(t *testing.T) {
	urls := sharedServer(t).URLs()
	for round := range 3 {
		prefix := prefixOf(fmt.Sprint(t.Name(), round))
		feed := feedOf(80)
		var sets []backend.IndexSet
		for range 3 {
			_, set := openOn(t, prefix, urls, Options{})
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
			requireLike(t, set, feed, fmt.Sprintf("round %d, process %d", round, i))
		}
	}
}

// TestDiesWhileItWrites: a process dies after each number of requests; the next one begins before what it had finished, and
// ends with what the feed comes to.
func TestDiesWhileItWrites(t *testing.T) {
	urls := sharedServer(t).URLs()
	feed := feedOf(24)
	for after := range int64(7) {
		prefix := prefixOf(fmt.Sprint(t.Name(), after))
		var dying watched
		dying.failing.Store(-1)
		x, set := openOn(t, prefix, urls, Options{Retry: time.Millisecond, Client: &http.Client{Transport: &dying}})
		require.NoError(t, set.Indexes()[0].Apply(t.Context(), feed[:8]))
		dying.failing.Store(after)
		err := set.Indexes()[0].Apply(t.Context(), feed[8:20])
		if after < 4 {
			require.Error(t, err)
			require.ErrorIs(t, err, backend.ErrUnavailable)
		}
		require.NoError(t, x.Close())
		_, next := openOn(t, prefix, urls, Options{})
		applied := next.Indexes()[0].Applied()
		if err != nil {
			require.LessOrEqual(t, applied, feed[7].Seq, "after %d requests", after)
		} else {
			require.Equal(t, feed[19].Seq, applied)
		}
		require.NoError(t, next.Indexes()[0].Apply(t.Context(), feed[applied:]))
		requireLike(t, next, feed, fmt.Sprintf("after %d requests", after))
	}
}

// TestResetByAnother: a process that deletes the index of all is noticed by the others, which begin again.
func TestResetByAnother(t *testing.T) {
	urls := sharedServer(t).URLs()
	prefix := prefixOf(t.Name())
	feed := feedOf(16)
	_, first := openOn(t, prefix, urls, Options{})
	_, second := openOn(t, prefix, urls, Options{})
	require.NoError(t, first.Indexes()[0].Apply(t.Context(), feed[:10]))
	require.NoError(t, second.Indexes()[0].Reset(t.Context()))
	err := first.Indexes()[0].Apply(t.Context(), feed[10:])
	require.ErrorIs(t, err, backend.ErrUnavailable)
	require.Zero(t, first.Indexes()[0].Applied(), "it begins again")
	require.NoError(t, first.Indexes()[0].Apply(t.Context(), feed))
	requireLike(t, first, feed, "built anew")
	require.NoError(t, second.Indexes()[0].Apply(t.Context(), feed))
	requireLike(t, second, feed, "by either")
}

// TestLateWord: what a process says that has not heard that all was deleted is not believed.
func TestLateWord(t *testing.T) {
	urls := sharedServer(t).URLs()
	prefix := prefixOf(t.Name())
	feed := feedOf(16)
	_, first := openOn(t, prefix, urls, Options{})
	_, second := openOn(t, prefix, urls, Options{})
	require.NoError(t, first.Indexes()[0].Apply(t.Context(), feed[:10]))
	require.NoError(t, second.Indexes()[0].Reset(t.Context()))
	late := first.Indexes()[0].(*index)
	require.NoError(t, late.storeState(t.Context(), toAllReplicas(nil), late.ownState), "the end of a batch that had begun before")
	require.NoError(t, second.Indexes()[0].Apply(t.Context(), feed))
	requireLike(t, second, feed, "by itself")
	_, third := openOn(t, prefix, urls, Options{})
	require.Equal(t, feed[len(feed)-1].Seq, third.Indexes()[0].Applied())
}

// TestProcessName: a process that starts again under its name leaves one state.
func TestProcessName(t *testing.T) {
	urls := sharedServer(t).URLs()
	prefix := prefixOf(t.Name())
	feed := feedOf(3)
	for i := range feed {
		x, set := openOn(t, prefix, urls, Options{Process: "alone"})
		require.Equal(t, uint64(i), set.Indexes()[0].Applied())
		require.NoError(t, set.Indexes()[0].Apply(t.Context(), feed[i:i+1]))
		found, err := set.Indexes()[0].(*index).states(t.Context())
		require.NoError(t, err)
		require.Len(t, found.all, 1)
		require.NoError(t, x.Close())
	}
}

// TestTenantsRest: a workspace that is closed is an inactive tenant, and active as soon as somebody asks for it.
func TestTenantsRest(t *testing.T) {
	urls := sharedServer(t).URLs()
	prefix := prefixOf(t.Name())
	feed := feedOf(8)
	x, set := openOn(t, prefix, urls, Options{})
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
	require.NoError(t, set.Close())
	assert.Equal(t, map[string]string{chunks: "COLD", vectors: "COLD"}, status())
	set, err := x.OpenIndexes(t.Context(), uid)
	require.NoError(t, err)
	assert.Equal(t, feed[len(feed)-1].Seq, set.Indexes()[0].Applied())
	requireLike(t, set, feed, "after its rest")
	require.NoError(t, set.Close())
	require.NoError(t, x.RemoveIndexes(t.Context(), uid))
	assert.Empty(t, status())
}
