package weaviate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/internal/testtool"
)

// testIdle is the time without use after which tests offload tenants. Uses are stored every second, so it is more than that.
const testIdle = 3 * time.Second

// slowly is how long tests wait for a busy machine.
const slowly = 3 * time.Minute

// storing is a cluster whose nodes offload tenants to an S3 server.
type storing struct {
	*testtool.Weaviate
	s3 *testtool.S3
}

// startStoring starts a cluster and an S3 server for one test.
func startStoring(t testing.TB, nodes int) storing {
	t.Helper()
	weaviate := serverProgram(t)
	bin, err := testtool.BuildS3(t.Context())
	if errors.Is(err, testtool.ErrNoS3) {
		testtool.Missing(t, err.Error())
	}
	require.NoError(t, err)
	s3, err := testtool.StartS3(bin, t.TempDir(), "tenants")
	require.NoError(t, err)
	t.Cleanup(s3.Stop)
	env := s3.Env()
	env["OFFLOAD_TIMEOUT"] = "60"
	w, err := testtool.StartWeaviate(weaviate, t.TempDir(), nodes, env)
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	return storing{w, s3}
}

// open opens a deployment that offloads tenants.
func (c storing) open(t *testing.T, prefix string, o Options) *Indexers {
	t.Helper()
	if o.Prefix = prefix; o.OffloadAfter == 0 {
		o.OffloadAfter = testIdle
	}
	patient := o.Retry == 0
	if patient {
		o.Retry = slowly
	}
	o.Logger = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
	x, err := Open(t.Context(), c.URLs(), inmem.New(), &o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = x.Close() })
	x.unconfirmedFor, x.electWait = testWriteDelay, time.Minute
	if patient {
		x.cluster.leastTimeout.Store(int64(testTimeout))
	}
	return x
}

// fill stores a feed in a workspace and closes it.
func fill(t *testing.T, x *Indexers, uid string, feed []backend.Change) {
	t.Helper()
	set, err := x.OpenIndexes(t.Context(), uid)
	require.NoError(t, err)
	applyAll(t, set.Indexes()[0], feed)
	requireConfirmed(t, set.Indexes()[0])
	require.NoError(t, set.Close())
}

// requireOffloaded waits until no tenant of a workspace is on the nodes.
func requireOffloaded(t *testing.T, c storing, x *Indexers, uid string) {
	t.Helper()
	require.Eventually(t, func() bool {
		for _, collection := range x.schema.all() {
			s, err := x.schema.status(t.Context(), collection, uid)
			if err != nil || s != "FROZEN" {
				return false
			}
		}
		records, err := x.offloading.records(t.Context(), uid)
		return err == nil && len(records) == 1 && records[x.process].Done
	}, slowly, 50*time.Millisecond)
	n, _, err := c.s3.Objects(uid)
	require.NoError(t, err)
	require.Positive(t, n)
}

// requireNoObjects waits until the object store has nothing of a workspace.
func requireNoObjects(t *testing.T, c storing, uid string) {
	t.Helper()
	require.Eventually(t, func() bool {
		n, _, err := c.s3.Objects(uid)
		return err == nil && n == 0
	}, slowly, 50*time.Millisecond)
}

// applyAll applies a feed until the index has all of it.
func applyAll(t *testing.T, ix backend.Index, feed []backend.Change) {
	t.Helper()
	last := feed[len(feed)-1].Seq
	require.Eventually(t, func() bool { return ix.Apply(t.Context(), feed) == nil && ix.Applied() >= last }, slowly, 20*time.Millisecond)
}

// TestOffloadNeedsModule checks that a cluster without the module is refused.
func TestOffloadNeedsModule(t *testing.T) {
	t.Parallel()
	_, err := Open(t.Context(), sharedServer(t).URLs(), inmem.New(), &Options{Prefix: prefixOf(t.Name()), OffloadAfter: time.Hour})
	require.ErrorIs(t, err, ErrNoOffload)
	require.ErrorContains(t, err, "OffloadAfter")
}

// TestOffloadNeedsBucket checks that a cluster whose bucket does not exist is refused.
func TestOffloadNeedsBucket(t *testing.T) {
	t.Parallel()
	c := startStoring(t, 1)
	require.NoError(t, c.s3.RemoveBucket())
	_, err := Open(t.Context(), c.URLs(), inmem.New(), &Options{Prefix: "Bucket", OffloadAfter: time.Hour})
	require.ErrorContains(t, err, "OffloadAfter")
	require.ErrorContains(t, err, "bucket")
}

// TestOffload runs tests over one node, and over three nodes with three replicas.
func TestOffload(t *testing.T) {
	t.Parallel()
	for _, nodes := range []int{1, 3} {
		t.Run(fmt.Sprintf("%d nodes", nodes), func(t *testing.T) {
			if nodes > 1 && testing.Short() {
				t.Skip("starts three nodes")
			}
			t.Parallel()
			c := startStoring(t, nodes)
			t.Run("comes back", func(t *testing.T) { testOffloadedComesBack(t, c) })
			t.Run("in use elsewhere", func(t *testing.T) { testUsedIsNotOffloaded(t, c) })
			t.Run("store away", func(t *testing.T) { testObjectStoreAway(t, c) })
			t.Run("objects lost", func(t *testing.T) { testObjectsLost(t, c) })
			t.Run("removed", func(t *testing.T) { testRemoveOffloaded(t, c) })
			if nodes > 1 || testing.Short() {
				t.Run("race", func(t *testing.T) { testOffloadRace(t, c) })
			}
		})
	}
}

// testOffloadedComesBack offloads a workspace twice. Each time it must come back with all its content, and leave nothing in the
// object store.
func testOffloadedComesBack(t *testing.T, c storing) {
	x, uid, feed := c.open(t, "Back", Options{}), backendtest.UID("back"), testFeed(120)
	fill(t, x, uid, feed[:100])
	for round, upto := range []int{100, len(feed)} {
		requireOffloaded(t, c, x, uid)
		began := time.Now()
		set, err := x.OpenIndexes(t.Context(), uid)
		require.NoError(t, err)
		ix := set.Indexes()[0]
		require.Equal(t, feed[upto-1].Seq, ix.Applied(), "known before the tenant is back")
		requireMatchesFeed(t, set, feed[:upto], fmt.Sprint("round ", round))
		t.Logf("opened and searched in %v", time.Since(began))
		require.NoError(t, ix.Apply(t.Context(), feed[:upto]))
		requireNoObjects(t, c, uid)
		records, err := x.offloading.records(t.Context(), uid)
		require.NoError(t, err)
		require.Empty(t, records)
		require.NoError(t, ix.Apply(t.Context(), feed))
		requireMatchesFeed(t, set, feed, fmt.Sprint("round ", round))
		requireConfirmed(t, ix)
		require.NoError(t, set.Close())
	}
}

// testUsedIsNotOffloaded checks that a workspace which another process has open is not offloaded, though that is busy with a long repair, and is once
// that has closed it.
func testUsedIsNotOffloaded(t *testing.T, c storing) {
	const idle = 4 * testIdle // a busy process stores its use late
	x, y, uid, feed := c.open(t, "Used", Options{OffloadAfter: idle}), c.open(t, "Used", Options{OffloadAfter: idle}), backendtest.UID("used"), testFeed(10)
	fill(t, x, uid, feed)
	set, err := y.OpenIndexes(t.Context(), uid)
	require.NoError(t, err)
	applyAll(t, set.Indexes()[0], feed)
	requireMatchesFeed(t, set, feed, "it may have been offloaded before")
	last, err := y.offloading.lastUse(t.Context(), uid)
	require.NoError(t, err)
	done, err := y.offloading.offload(t.Context(), last)
	require.False(t, done)
	require.ErrorContains(t, err, "this process has the workspace open")
	requireConfirmed(t, set.Indexes()[0])
	repair := &set.Indexes()[0].(*index).mu
	repair.Lock()
	unlock := sync.OnceFunc(repair.Unlock)
	defer unlock()
	for end := time.Now().Add(2 * idle); time.Now().Before(end); {
		s, err := x.schema.status(t.Context(), x.schema.chunks(), uid)
		require.NoError(t, err)
		require.False(t, isAway(s), s)
		requireMatchesFeed(t, set, feed, "meanwhile")
	}
	unlock()
	require.NoError(t, set.Close())
	require.Eventually(t, func() bool {
		s, err := x.schema.status(t.Context(), x.schema.chunks(), uid)
		return err == nil && s == "FROZEN"
	}, slowly, 50*time.Millisecond)
}

// testObjectStoreAway checks that calls do not wait without a bound while the object store does not answer, and that the tenant comes
// back when it does.
func testObjectStoreAway(t *testing.T, c storing) {
	const patience = 2 * time.Second
	x, uid, feed := c.open(t, "Away", Options{}), backendtest.UID("away"), testFeed(40)
	fill(t, x, uid, feed[:30])
	requireOffloaded(t, c, x, uid)
	c.s3.Pause()
	defer c.s3.Resume()
	y := c.open(t, "Away", Options{Retry: patience})
	set, err := y.OpenIndexes(t.Context(), uid)
	require.NoError(t, err, "writes to the Store need the workspace open")
	ix := set.Indexes()[0].(*index)
	slow, _ := ix.Trouble()
	require.True(t, slow)
	for what, call := range map[string]func() error{
		"search": func() error {
			_, err := set.Keywords().SearchKeywords(t.Context(), backend.KeywordQuery{Part: testPart, Text: "lantern", K: 1})
			return err
		},
		"apply": func() error { return ix.Apply(t.Context(), feed) },
	} {
		began := time.Now()
		require.ErrorIs(t, call(), backend.ErrUnavailable, what)
		require.Less(t, time.Since(began), 10*patience, what)
	}
	c.s3.Resume()
	require.NoError(t, set.Close())
	set, err = x.OpenIndexes(t.Context(), uid)
	require.NoError(t, err)
	applyAll(t, set.Indexes()[0], feed)
	requireMatchesFeed(t, set, feed, "when the store is back")
	require.NoError(t, set.Close())
}

// testObjectsLost checks that a tenant of which files are gone from the object store is built anew.
func testObjectsLost(t *testing.T, c storing) {
	x, uid, feed := c.open(t, "Lost", Options{}), backendtest.UID("lost"), testFeed(40)
	x.offloading.giveUp = 20 * time.Second
	fill(t, x, uid, feed)
	for _, part := range []string{"property_space/", "node1", ""} { // what filters read, then a replica, then all
		requireOffloaded(t, c, x, uid)
		require.NoError(t, c.s3.Remove(uid, part))
		set, err := x.OpenIndexes(t.Context(), uid)
		require.NoError(t, err)
		ix := set.Indexes()[0]
		require.Eventually(t, func() bool { slow, _ := ix.(*index).Trouble(); return !slow }, slowly, 20*time.Millisecond)
		applyAll(t, ix, feed)
		requireMatchesFeed(t, set, feed, "built anew")
		requireNoObjects(t, c, uid)
		requireConfirmed(t, ix)
		require.NoError(t, set.Close())
	}
}

// testRemoveOffloaded checks that the files of a deleted workspace are deleted from the object store.
func testRemoveOffloaded(t *testing.T, c storing) {
	x, uid := c.open(t, "Gone", Options{}), backendtest.UID("gone")
	fill(t, x, uid, testFeed(20))
	requireOffloaded(t, c, x, uid)
	require.NoError(t, x.RemoveIndexes(t.Context(), uid))
	for _, collection := range x.schema.all() {
		s, err := x.schema.status(t.Context(), collection, uid)
		require.NoError(t, err)
		assert.Empty(t, s)
	}
	requireNoObjects(t, c, uid)
	last, err := x.offloading.lastUse(t.Context(), uid)
	require.NoError(t, err)
	assert.Empty(t, last.uid)
}

// testOffloadRace lets two processes open, write and close workspaces at random moments about as long after the last use as they are
// offloaded. Every change must be found.
func testOffloadRace(t *testing.T, c storing) {
	const workspaces, rounds = 5, 4
	procs := []*Indexers{c.open(t, "Race", Options{}), c.open(t, "Race", Options{})}
	feed := testFeed(10 * rounds)
	var running sync.WaitGroup
	for i := range workspaces {
		running.Go(func() {
			uid := backendtest.UID(fmt.Sprint("race", i))
			for round := range rounds {
				x, upto := procs[rand.IntN(len(procs))], len(feed)*(round+1)/rounds
				ok := assert.Eventually(t, func() bool {
					set, err := x.OpenIndexes(t.Context(), uid)
					if err != nil {
						return false
					}
					defer func() { _ = set.Close() }()
					ix := set.Indexes()[0]
					ctx, end := context.WithTimeout(t.Context(), time.Minute)
					defer end()
					applied := func() bool { return ix.Applied() >= feed[upto-1].Seq }
					for ctx.Err() == nil {
						if ix.Apply(ctx, feed[:upto]) == nil && applied() {
							break
						}
					}
					for range 2 {
						// A busy process stores its use late, and the tenant may then be offloaded while it is open, and built anew. The index tells that.
						found := matchesCached(t, set, feed[:upto], func(got, want []backend.Hit, err error) bool {
							if err != nil || !applied() {
								return false
							}
							requireHits(t, got, want, fmt.Sprintf("workspace %d round %d", i, round))
							return true
						})
						if !found {
							return false
						}
						ix.(*index).forget()
					}
					return true
				}, slowly, 50*time.Millisecond)
				if !ok {
					return
				}
				time.Sleep(testIdle + rand.N(testIdle)) // the real time of a sweep is what is tried
			}
		})
	}
	running.Wait()
}
