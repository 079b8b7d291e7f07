package lexical

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWordHashes(t *testing.T) {
	t.Parallel()
	var w WordHashes
	read := func(name, text string) []uint64 { return slices.Clone(w.Of(name, text)) }
	both := read("works_at", "She works at the mill in Oslo.")
	assert.Len(t, both, 4, "work, she, mill, oslo")
	assert.True(t, slices.IsSorted(both))
	assert.Equal(t, both, read("works_at", "She works at the mill in Oslo."), "the same text again")
	assert.Equal(t, both, read("oslo", "Mill works; she works!"), "whatever the order")
	assert.NotEqual(t, both, read("works_at", "She works at the mill in Bergen."))
	assert.Len(t, read("lives_in", "She works at the mill in Oslo."), 5)
	assert.Empty(t, read("is", "and the"))
	assert.Len(t, read("", "works"), 1, "no words of texts before")
	one := w.Append(nil, "working")
	assert.Equal(t, read("", "works"), one, "one word in two forms")
	w.Forget()
	assert.Equal(t, both, read("works_at", "She works at the mill in Oslo."), "after what was forgotten")
}
