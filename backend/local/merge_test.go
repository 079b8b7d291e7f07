package local

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// TestTend checks background upkeep: it merges files of similar size and drops deleted rows, but keeps a small file beside a large one.
// Searches return the same results afterwards.
func TestTend(t *testing.T) {
	t.Parallel()
	x, err := Open(t.TempDir(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, x.Close()) }()
	ix := openTest(t, x).(*index)
	changes := benchChanges(2000)
	flushed := func(some []backend.Change) {
		require.NoError(t, ix.Apply(t.Context(), some))
		require.NoError(t, ix.Flush(t.Context()))
		ix.work.wait()
	}
	maintain := func() int {
		more, err := ix.Maintain(t.Context())
		require.NoError(t, err)
		require.False(t, more)
		ix.work.wait()
		return len(ix.files)
	}
	found := func() (hits []backend.Hit) {
		for i := range 20 {
			row := &changes[100*i].Rows[0]
			some, err := ix.SearchVectors(t.Context(), backend.VectorQuery{Part: benchPart, Vector: row.Vector, K: 10})
			require.NoError(t, err)
			more, err := ix.SearchKeywords(t.Context(), backend.KeywordQuery{Part: benchPart, Text: row.Text, K: 10})
			require.NoError(t, err)
			hits = append(append(hits, some...), more...)
		}
		return hits
	}
	flushed(changes[:1500])
	flushed(changes[1500:1750])
	flushed(changes[1750:1900])
	require.Len(t, ix.files, 3)
	want := found()
	require.Equal(t, 1, maintain())
	require.Equal(t, want, found())
	flushed(changes[1900:1950])
	require.Equal(t, 2, maintain(), "it is small")
	var gone []backend.Change
	for i := range 300 {
		gone = append(gone, backend.Change{Seq: uint64(3000 + i), Kind: backend.Drop, Part: benchPart, Source: int64(5*i + 2)})
	}
	flushed(gone)
	want = found()
	require.Equal(t, 1, maintain())
	require.Equal(t, want, found())
	rows, dropped := ix.files[0].weight()
	require.Equal(t, []int{1650, 0}, []int{rows, dropped})
	require.NoError(t, ix.Close())
	asleep := openTest(t, x).(*index)
	more, err := asleep.Maintain(t.Context())
	require.NoError(t, err)
	require.False(t, more)
	require.False(t, asleep.awake.Load(), "what nobody uses stays asleep")
	require.NoError(t, asleep.Close())
}

// TestTendBehindSmallFile checks that upkeep merges files although a much smaller one is newer, which it keeps.
func TestTendBehindSmallFile(t *testing.T) {
	t.Parallel()
	x, err := Open(t.TempDir(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, x.Close()) }()
	ix := openTest(t, x).(*index)
	defer func() { require.NoError(t, ix.Close()) }()
	changes := benchChanges(2001)
	for _, some := range [][]backend.Change{changes[:1500], changes[1500:2000], changes[2000:]} {
		require.NoError(t, ix.Apply(t.Context(), some))
		require.NoError(t, ix.Flush(t.Context()))
		ix.work.wait()
	}
	require.Len(t, ix.files, 3)
	small := ix.files[2]
	require.Greater(t, ix.files[1].size, idleShare*small.size)
	for range 2 {
		_, err = ix.Maintain(t.Context())
		require.NoError(t, err)
		ix.work.wait()
		require.Len(t, ix.files, 2)
		require.Same(t, small, ix.files[1])
	}
	rows, _ := ix.files[0].weight()
	require.Equal(t, 2000, rows)
	for _, i := range []int{0, 1499, 1500, 1999, 2000} {
		row := &changes[i].Rows[0]
		hits, err := ix.SearchVectors(t.Context(), backend.VectorQuery{Part: benchPart, Vector: row.Vector, K: 1})
		require.NoError(t, err)
		require.Equal(t, row.Chunk, hits[0].Chunk)
	}
}
