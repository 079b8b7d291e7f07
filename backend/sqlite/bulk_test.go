package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Checks, for several numbers of rows, that a flush writes each added row once and no dropped row.
func TestBulkRows(t *testing.T) {
	c, err := openConn(filepath.Join(t.TempDir(), "db"), connOptions{})
	require.NoError(t, err)
	defer func() { require.NoError(t, c.close()) }()
	require.NoError(t, c.script("CREATE TABLE pairs (a INTEGER PRIMARY KEY, b TEXT)"))
	b := bulk{sql: insertsOf("INSERT INTO pairs (a, b)", 2), width: 2}
	at, want := 0, int64(0)
	for n := range 2*bulkRows + 3 {
		for range n {
			require.NoError(t, b.add(c, at, "text"))
			at++
		}
		require.NoError(t, b.flush(c))
		want += int64(n)
		_, err := c.one(bg, "SELECT count(*), coalesce(max(a), -1) FROM pairs WHERE b = 'text'", func(r *row) error {
			require.Equal(t, want, r.int(0))
			require.Equal(t, want-1, r.int(1))
			return nil
		})
		require.NoError(t, err)
	}
	require.NoError(t, b.add(c, at, "dropped"))
	b.drop()
	require.NoError(t, b.flush(c))
	found, err := c.one(bg, "SELECT 1 FROM pairs WHERE b = 'dropped'", func(*row) error { return nil })
	require.NoError(t, err)
	require.False(t, found)
}
