package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// fill puts n items of 8 KiB into a store.
func fill(t *testing.T, s *store, n int) (ids []string) {
	t.Helper()
	var items []backend.Incoming
	for i := range n {
		in := item(fmt.Sprint("item", i))[0]
		in.Blobs[0].Data = make([]byte, 8<<10)
		items = append(items, in)
		ids = append(ids, in.ID)
	}
	_, err := s.Accept(t.Context(), items)
	require.NoError(t, err)
	return ids
}

// maintain runs all background maintenance of a store and returns the number of steps.
func maintain(t *testing.T, s *store) (pieces int) {
	t.Helper()
	for more := true; more; pieces++ {
		var err error
		more, err = s.Maintain(t.Context())
		require.NoError(t, err)
		require.Less(t, pieces, 100)
	}
	return pieces
}

// Checks that free pages are released in small steps once they are a quarter of the file, and that a file of an earlier release is rewritten.
func TestMaintenanceReleasesPages(t *testing.T) {
	t.Parallel()
	for name, old := range map[string]bool{"new": false, "earlier release": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := emptyDeployment(t)
			path := filepath.Join(dir, "tenants", testUID[:2], testUID, "store.db")
			if old {
				schema4(t, path)
			}
			_, s := reopenTest(t, dir)
			ids := fill(t, s, 1000)
			pages, _, mode, err := s.room(t.Context())
			require.NoError(t, err)
			require.Equal(t, old, mode != incremental)
			require.Greater(t, pages, int64(2000))
			remove := func(ids []string) {
				_, err := s.Delete(t.Context(), testPart, ids, backend.DeleteOptions{})
				require.NoError(t, err)
			}
			remove(ids[:150])
			maintain(t, s)
			left, free, _, err := s.room(t.Context())
			require.NoError(t, err)
			assert.Equal(t, pages, left, "less than a quarter is free")
			assert.Positive(t, free)
			remove(ids[150:900])
			pieces := maintain(t, s)
			left, free, _, err = s.room(t.Context())
			require.NoError(t, err)
			assert.Less(t, 4*left, pages)
			assert.Zero(t, free)
			c, err := openPlain(path, "") // a connection that was open before may say what was before
			require.NoError(t, err)
			_, err = c.one(t.Context(), "PRAGMA auto_vacuum", func(r *row) error { mode = r.int(0); return nil })
			require.NoError(t, errors.Join(err, c.close()))
			assert.EqualValues(t, incremental, mode)
			info, err := os.Stat(path)
			require.NoError(t, err)
			assert.Equal(t, left*4096, info.Size())
			if !old {
				assert.Greater(t, pieces, 1)
			}
			assert.Equal(t, 1, maintain(t, s), "nothing is left to do")
			check(t, s)
			_, err = s.Content(t.Context(), newestOf(t, s, testPart, ids[950]).Num, backend.Original)
			require.NoError(t, err)
		})
	}
}
