package local

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// asleep requires that a workspace holds nothing in memory that it could read from its files.
func asleep(t *testing.T, ix *index) {
	t.Helper()
	require.False(t, ix.awake.Load())
	require.Nil(t, ix.files)
	require.Nil(t, ix.slots)
	require.Zero(t, ix.fileBytes)
}

// Checks that an opened workspace loads nothing until it is used, and unloads again once its partitions are evicted.
func TestSleep(t *testing.T) {
	t.Parallel()
	h := newHistory(t, 11, 3)
	x, err := Open(h.dir, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, x.Close()) }()
	ix := openTest(t, x).(*index)
	asleep(t, ix)
	require.Zero(t, x.cache.used.Load())
	require.Equal(t, h.want.Applied(), ix.Applied(), "known without waking")
	asleep(t, ix)

	h.m.compare(t, h.want, ix)
	ix.sleep()
	require.True(t, ix.awake.Load(), "partitions are in memory")
	evictAll(ix)
	files := ix.files
	ix.sleep()
	asleep(t, ix)
	for _, f := range files {
		require.Zero(t, f.refs.Load())
		require.Nil(t, f.data)
	}
	require.Zero(t, x.cache.used.Load())

	h.m.compare(t, h.want, ix)
	batch := []backend.Change{h.m.change(), h.m.change(), h.m.change()}
	require.NoError(t, h.want.Apply(t.Context(), batch))
	require.NoError(t, ix.Apply(t.Context(), batch))
	evictAll(ix)
	ix.sleep()
	require.True(t, ix.awake.Load(), "there is something to flush")
	h.m.compare(t, h.want, ix)
	require.NoError(t, ix.Flush(t.Context()))
	evictAll(ix)
	ix.work.wait()
	ix.sleep()
	asleep(t, ix)
	h.m.compare(t, h.want, ix)
}

// Checks that files removed or changed while a workspace is unloaded count as damage when it is loaded.
func TestWakeToDamage(t *testing.T) {
	t.Parallel()
	h := newHistory(t, 12, 2)
	for name, harm := range map[string]func(t *testing.T, dir string){
		"manifest gone":    func(t *testing.T, dir string) { require.NoError(t, os.Remove(filepath.Join(dir, manifestName))) },
		"manifest flipped": func(t *testing.T, dir string) { flip(t, filepath.Join(dir, manifestName), 20) },
		"file gone":        func(t *testing.T, dir string) { require.NoError(t, os.Remove(filepath.Join(dir, fileName(1)))) },
		"file cut":         func(t *testing.T, dir string) { require.NoError(t, os.Truncate(filepath.Join(dir, fileName(1)), 100)) },
		"foreign version":  func(t *testing.T, dir string) { flip(t, filepath.Join(dir, fileName(0)), 8) },
		"older manifest": func(t *testing.T, dir string) {
			require.NoError(t, (&manifest{applied: 1, nextID: 1}).publish(dir))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := h.copyTo(t)
			m := *h.m // with questions of its own
			m.r = rand.New(rand.NewPCG(12, 12))
			x, err := Open(c.dir, nil)
			require.NoError(t, err)
			defer func() { require.NoError(t, x.Close()) }()
			ix := openTest(t, x).(*index)
			require.Equal(t, h.want.Applied(), ix.Applied())
			harm(t, c.path())
			_, err = ix.Info(t.Context(), m.parts[0])
			require.ErrorIs(t, err, backend.ErrUnavailable)
			require.Zero(t, ix.Applied())
			require.NoError(t, ix.Apply(t.Context(), m.feed(0)))
			m.compare(t, h.want, ix)
			require.NoError(t, ix.Flush(t.Context()))
			require.NoError(t, ix.Close())
			again := openTest(t, x)
			require.Equal(t, h.want.Applied(), again.Applied())
			m.compare(t, h.want, again)
		})
	}
}

// Checks that a folder that is unreadable for a while does not count as damage.
func TestWakeLater(t *testing.T) {
	t.Parallel()
	h := newHistory(t, 13, 1)
	x, err := Open(h.dir, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, x.Close()) }()
	ix := openTest(t, x).(*index)
	name := filepath.Join(h.path(), manifestName)
	require.NoError(t, os.Rename(name, name+".aside"))
	require.NoError(t, os.Mkdir(name, 0o700))
	_, err = ix.Info(t.Context(), h.m.parts[0])
	require.ErrorIs(t, err, backend.ErrUnavailable)
	require.Equal(t, h.want.Applied(), ix.Applied())
	require.NoError(t, os.Remove(name))
	require.NoError(t, os.Rename(name+".aside", name))
	h.m.compare(t, h.want, ix)
}

// Checks that a merge that was due when the process ended runs once the workspace is used again.
func TestWakeMerges(t *testing.T) {
	t.Parallel()
	want, ix, _ := both(t)
	changes := benchChanges(60)
	ix.work.stop() // so that no merge starts
	for some := range slices.Chunk(changes, 10) {
		require.NoError(t, want.Apply(t.Context(), some))
		require.NoError(t, ix.Apply(t.Context(), some))
		require.NoError(t, ix.Flush(t.Context()))
	}
	files := len(ix.files)
	require.GreaterOrEqual(t, files, mergeFiles)
	require.NotNil(t, ix.mergeDue())
	require.NoError(t, ix.Close())
	again := openTest(t, ix.owner).(*index)
	part := changes[0].Part
	_, err := again.Info(t.Context(), part)
	require.NoError(t, err)
	again.work.wait()
	require.Less(t, len(again.files), files)
	require.Nil(t, again.mergeDue())
	q := backend.KeywordQuery{Part: part, Text: changes[0].Rows[0].Text, K: 20}
	w, err := want.SearchKeywords(t.Context(), q)
	require.NoError(t, err)
	g, err := again.SearchKeywords(t.Context(), q)
	require.NoError(t, err)
	sameHits(t, w, g, "after the merge")
}

// Files of a workspace that is built again in no time are not waited for; they are once
// there is more.
func TestSyncFrom(t *testing.T) {
	t.Parallel()
	_, ix, _ := both(t)
	changes := benchChanges(4000)
	require.NoError(t, ix.Apply(t.Context(), changes[:10]))
	require.NoError(t, ix.Flush(t.Context()))
	small := ix.files[0]
	require.False(t, small.synced)
	require.NoError(t, ix.Apply(t.Context(), changes[10:]))
	require.NoError(t, ix.Flush(t.Context()))
	require.Greater(t, ix.files[1].size, int64(syncFrom))
	require.True(t, ix.files[1].synced)
	require.True(t, small.synced, "a file that counts beside it")
}
