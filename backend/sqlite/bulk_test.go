package sqlite

import (
	"cmp"
	"math/rand/v2"
	"path/filepath"
	"slices"
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

// TestBulkOrder checks that rows are written in the order of their keys among those that are collected together, each with its own values.
func TestBulkOrder(t *testing.T) {
	c, err := openConn(filepath.Join(t.TempDir(), "db"), connOptions{})
	require.NoError(t, err)
	defer func() { require.NoError(t, c.close()) }()
	require.NoError(t, c.script("CREATE TABLE triples (a INTEGER, b INTEGER, c INTEGER)")) // rowids tell the order of the inserts
	const most, n = 3*bulkRows + 5, 7*bulkRows + 1
	b := bulk{sql: insertsOf("INSERT INTO triples (a, b, c)", 3), width: 3, most: most, order: byTwo}
	rng := rand.New(rand.NewPCG(1, 2))
	var want [][3]int64
	for i := range int64(n) {
		r := [3]int64{rng.Int64N(9), rng.Int64N(1000), i}
		want = append(want, r)
		require.NoError(t, b.add(c, r[0], r[1], r[2]))
	}
	require.NoError(t, b.flush(c))
	for some := range slices.Chunk(want, most) {
		slices.SortStableFunc(some, func(x, y [3]int64) int { return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1])) })
	}
	var got [][3]int64
	require.NoError(t, c.each(bg, "SELECT a, b, c FROM triples ORDER BY rowid", func(r *row) error {
		got = append(got, [3]int64{r.int(0), r.int(1), r.int(2)})
		return nil
	}))
	require.Equal(t, want, got)
}
