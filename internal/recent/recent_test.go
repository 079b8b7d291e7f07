package recent

import (
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTable(t *testing.T) {
	t.Parallel()
	var x Table[int]
	_, ok := Get(&x, "a")
	require.False(t, ok)
	Put(&x, "a", 1)
	v, ok := Get(&x, []byte("a"))
	require.True(t, ok)
	assert.Equal(t, 1, v)
	Put(&x, []byte("a"), 2)
	v, _ = Get(&x, "a")
	assert.Equal(t, 2, v)
	_, ok = Get(&x, "b")
	require.False(t, ok, "a text of another or the same slot")

	long := strings.Repeat("x", maxKey+1)
	Put(&x, long, 3)
	_, ok = Get(&x, long)
	require.False(t, ok)
	Put(&x, long[1:], 4)
	v, ok = Get(&x, long[1:])
	require.True(t, ok)
	assert.Equal(t, 4, v)
}

// TestShared holds that a text never has the value of another, whoever writes.
func TestShared(t *testing.T) {
	t.Parallel()
	var x Table[int]
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 5000 {
				n := i * 7919 % 300
				key := strconv.Itoa(n)
				if v, ok := Get(&x, key); ok {
					assert.Equal(t, n, v)
				}
				Put(&x, key, n)
			}
		})
	}
	wg.Wait()
	found := 0
	for n := range 300 {
		if v, ok := Get(&x, strconv.Itoa(n)); ok {
			assert.Equal(t, n, v)
			found++
		}
	}
	assert.Positive(t, found)
	assert.LessOrEqual(t, found, tableSlots)
}
