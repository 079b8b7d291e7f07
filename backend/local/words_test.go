package local

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// Checks which chunks have one of several words, in memory and on disk. Chunks that the index does not know count as having one.
func TestFindWords(t *testing.T) {
	t.Parallel()
	_, ix, apply := both(t)
	put := func(source int64, texts ...string) backend.Change {
		c := backend.Change{Kind: backend.PutChunks, Part: benchPart, Source: source}
		for i, text := range texts {
			c.Rows = append(c.Rows, backend.Row{Chunk: source*10 + int64(i), Ordinal: i, Text: text})
		}
		return c
	}
	find := func(terms ...string) []bool {
		has := make([]bool, 6)
		require.NoError(t, ix.FindWords(t.Context(), benchPart, terms, []int64{10, 11, 20, 21, 30, 99}, has))
		return has
	}
	apply(put(1, "The kettle of Anna.", "A lantern."), put(2, "Two kettles and a lantern.", "Nothing."))
	require.NoError(t, ix.Flush(t.Context()))
	apply(put(3, "Bert sold a kettle."))
	for range 2 {
		require.Equal(t, []bool{true, false, true, false, true, true}, find("kettl", "kettle"))
		require.Equal(t, []bool{false, true, true, false, false, true}, find("lantern"))
		require.Equal(t, []bool{false, false, false, false, false, true}, find("harbour"))
		require.Equal(t, []bool{true, true, true, false, true, true}, find("harbour", "lantern", "kettl", "kettle"))
		require.NoError(t, ix.Flush(t.Context()))
		evictAll(ix)
	}
	apply(backend.Change{Kind: backend.Drop, Part: benchPart, Source: 2})
	require.Equal(t, []bool{false, true, true, true, false, true}, find("lantern"))
}
