package weaviate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/internal/testtool"
)

// TestDictionaryOfInactiveTenant deactivates a tenant soon after many puts, for longer than chunks are kept as recent. A process that
// kept its dictionary, and one that opens the tenant again, find them.
func TestDictionaryOfInactiveTenant(t *testing.T) {
	if testing.Short() {
		t.Skip("waits until chunks are not recent any more")
	}
	t.Parallel()
	w, err := testtool.StartWeaviate(serverProgram(t), t.TempDir(), 1, map[string]string{"PERSISTENCE_MEMTABLES_FLUSH_DIRTY_AFTER_SECONDS": "10"})
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	set, ix := openLarge(t, prefixOf(t.Name()), w.URLs(), true, nil)
	const settle = 15 * time.Second
	ix.x.partitions.settle = settle
	l := newLargeFeed(t)
	l.fill(t, 3000)
	l.apply(t, set, true)
	time.Sleep(settle) // until what was stored is in segments of the node
	requireSelects(t, set, l.part)
	for i := range int64(300) {
		l.put(t, 10_000+i, strong+" "+l.sentence(5))
	}
	l.apply(t, set, true)
	require.NoError(t, ix.x.schema.deactivate(t.Context(), ix.uid))
	time.Sleep(settle + 5*time.Second)
	l.requireExact(t, set, "kept")
	uid := ix.uid
	require.NoError(t, set.Close())
	time.Sleep(settle + 5*time.Second)
	again, err := ix.x.OpenIndexes(t.Context(), uid)
	require.NoError(t, err)
	l.apply(t, again, true)
	next := again.Indexes()[0].(*index)
	for range 2 {
		l.requireExact(t, again, "opened again")
		next.fills.running.Wait()
	}
	require.True(t, hasDictionary(next, l.part))
	l.requireExact(t, again, "opened again, with a dictionary")
}

// TestDictionaryOfOffloadedTenant offloads a tenant and brings it back. The new index reads its dictionary anew. A node rarely loses what its
// filters read while it writes; such a tenant is built anew, so that the changes are applied again, as the service does.
func TestDictionaryOfOffloadedTenant(t *testing.T) {
	t.Parallel()
	c := startStoring(t, 1)
	x := c.open(t, "Words", Options{CacheBytes: largeCache})
	x.wordsHere = false
	x.partitions.small, x.partitions.settle = 100, testSettle
	uid, l := backendtest.UID("words"), newLargeFeed(t)
	l.fill(t, 3000)
	fill(t, x, uid, l.feed)
	for range 2 {
		requireOffloaded(t, c, x, uid)
		set, err := x.OpenIndexes(t.Context(), uid)
		require.NoError(t, err)
		ix := set.Indexes()[0].(*index)
		l.apply(t, set, true)
		for range 2 {
			l.requireExact(t, set, "it came back")
			ix.fills.running.Wait()
		}
		require.True(t, hasDictionary(ix, l.part))
		l.requireCounts(t, set, "it came back")
		for i := range int64(200) {
			l.put(t, 10_000+int64(len(l.feed))+i, strong+" "+l.sentence(5))
		}
		l.apply(t, set, true)
		l.requireExact(t, set, "more was put")
		requireConfirmed(t, ix)
		require.NoError(t, set.Close())
	}
}
