package lexical

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTermsOfOneHash adds terms with the same hash, at the end of the table, so that their slots continue at its beginning.
func TestTermsOfOneHash(t *testing.T) {
	t.Parallel()
	for _, hash := range []uint32{0, 1 << 31, 1<<32 - 1} {
		var table termNumbers
		var terms []memTerm
		for i := range 100 {
			term := strconv.Itoa(i)
			_, own, ok := table.find(terms, term)
			require.False(t, ok)
			terms = append(terms, memTerm{text: term}, memTerm{text: "other " + term})
			table.add(own, uint32(2*i))
			table.add(hash, uint32(2*i+1)) // nothing finds it by its text
		}
		for i := range 100 {
			id, ok := table.of(terms, strconv.Itoa(i))
			require.True(t, ok, i)
			require.Equal(t, uint32(2*i), id)
			_, ok = table.of(terms, "unknown "+strconv.Itoa(i))
			require.False(t, ok)
		}
		require.Equal(t, 200, table.n)
		require.Less(t, 200, len(table.slots)) // a search ends at a free slot
	}
}

// TestNumbersOfEqualHashes gives two terms the hash of a third: their texts decide.
func TestNumbersOfEqualHashes(t *testing.T) {
	t.Parallel()
	var table termNumbers
	terms := []memTerm{{text: "first"}, {text: "second"}, {text: "third"}}
	_, hash, _ := table.find(terms, "third")
	for id := range terms {
		table.add(hash, uint32(id))
	}
	id, ok := table.of(terms, "third")
	require.True(t, ok)
	require.Equal(t, uint32(2), id)
	_, ok = table.of(terms, "first") // its hash is another one
	require.False(t, ok)
}
