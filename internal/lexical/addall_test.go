package lexical

import (
	"bytes"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAddAllIsAdd checks that AddAll gives the same bytes as Add of each document.
func TestAddAllIsAdd(t *testing.T) {
	for _, n := range []int{0, 1, readAlone, readAlone + 1, addTogether, 3*addTogether + 5, 40*addTogether + 1} {
		doc := func(i int) Doc {
			return Doc{Fields: []Field{
				{Text: fmt.Sprintf("Title %d", i%7), Weight: 3}, {Text: ""},
				{Text: strings.Repeat(fmt.Sprintf("Row %d of err_%d in foo.bar/baz-%d, the harbour. ", i, i%13, i), i%5)},
			}}
		}
		one, all := NewMem(), NewMem()
		for i := range n {
			require.NoError(t, one.Add(uint32(10+i), doc(i)))
		}
		added, err := all.AddAll(10, n, doc)
		require.NoError(t, err)
		require.Equal(t, n, added)
		var a, b bytes.Buffer
		require.NoError(t, WriteSegment(t.Context(), &a, one))
		require.NoError(t, WriteSegment(t.Context(), &b, all))
		require.True(t, bytes.Equal(a.Bytes(), b.Bytes()), "%d documents", n)
		if n > 0 {
			_, err = all.AddAll(10, 1, doc)
			require.ErrorIs(t, err, ErrOrder)
		}
	}
}

// TestAddAllStops checks that an error ends the analysis of the other documents, and that none is analyzed after AddAll has returned.
func TestAddAllStops(t *testing.T) {
	const n, full = 500 * addTogether, 3*addTogether + 7
	m := NewMem()
	var read atomic.Int64
	doc := func(i int) Doc {
		read.Add(1)
		return Doc{Fields: []Field{{Text: fmt.Sprint("row ", i)}}}
	}
	first := uint32(math.MaxUint32 - full) // the last row is no row
	added, err := m.AddAll(first, n, doc)
	require.ErrorIs(t, err, ErrOrder)
	require.Equal(t, full, added)
	at := read.Load()
	require.Less(t, at, int64(n/2))
	runtime.Gosched()
	require.Equal(t, at, read.Load())
	require.Len(t, m.rows, full)
}
