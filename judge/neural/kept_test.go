package neural

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/transformer"
)

func TestKeptIsBounded(t *testing.T) {
	t.Parallel()
	var v transformer.Text
	k, err := newKept(3 * size("a", v))
	require.NoError(t, err)
	has := func(text string) bool {
		_, ok := k.get(text)
		return ok
	}
	for _, text := range []string{"a", "b", "c"} {
		k.put(text, v)
	}
	assert.True(t, has("a"))
	k.put("d", v)
	assert.False(t, has("b"), "the one not asked for the longest goes")
	assert.True(t, has("a"))
	assert.True(t, has("d"))
	assert.Equal(t, k.limit, k.bytes)
	k.put("d", v)
	assert.Equal(t, k.limit, k.bytes, "what is kept is not counted twice")
	k.put(strings.Repeat("x", k.limit), v)
	assert.True(t, has("a"), "what is too large displaces nothing")
	var none *kept
	none.put("a", v)
	_, ok := none.get("a")
	assert.False(t, ok)
}

func TestShares(t *testing.T) {
	t.Parallel()
	assert.Equal(t, [][]int{{1}, {0, 2, 3}}, shares([]string{"12345", "123456789", "1", "1"}, 2))
	assert.Empty(t, shares(nil, 3))
}
