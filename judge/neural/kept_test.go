package neural

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestKeptIsBounded(t *testing.T) {
	t.Parallel()
	var v encoded
	k, err := newKept(3 * size(want{"a", false}, v))
	require.NoError(t, err)
	has := func(text string) bool {
		_, ok := k.get(want{text, false})
		return ok
	}
	for _, text := range []string{"a", "b", "c"} {
		k.put(want{text, false}, v)
	}
	assert.True(t, has("a"))
	k.put(want{"d", false}, v)
	assert.False(t, has("b"), "the one not asked for the longest goes")
	assert.True(t, has("a"))
	assert.True(t, has("d"))
	_, ok := k.get(want{"a", true})
	assert.False(t, ok, "a question is read otherwise than a passage")
	assert.Equal(t, k.limit, k.bytes)
	k.put(want{"d", false}, v)
	assert.Equal(t, k.limit, k.bytes, "what is kept is not counted twice")
	k.put(want{strings.Repeat("x", k.limit), false}, v)
	assert.True(t, has("a"), "what is too large displaces nothing")
	var none *kept
	none.put(want{"a", false}, v)
	_, ok = none.get(want{"a", false})
	assert.False(t, ok)
}

func TestShares(t *testing.T) {
	t.Parallel()
	assert.Equal(t, [][]int{{1}, {0, 2, 3}}, shares([]want{{text: "12345"}, {text: "123456789"}, {text: "1"}, {text: "1"}}, 2))
	assert.Empty(t, shares(nil, 3))
}
