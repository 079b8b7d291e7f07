package item

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/contextmem/contextmem/backend"
)

// TestTags: tags stand in stored data and never change.
func TestTags(t *testing.T) {
	t.Parallel()
	assert.Equal(t, Tag(LayerACL, "", "*"), backend.Everybody)
	assert.Equal(t, Tag(LayerID, "", "doc-1"), IDTag("doc-1"))
	for _, x := range []struct{ got, want uint64 }{
		{Tag("", "", ""), 0xf998341be47bae14}, {backend.Everybody, 0xcace59026f6bc174},
		{IDTag("doc-1"), 0xc2c9297bd545d683}, {Tag(LayerMetadata, "lang", "sde"), 0xbcccf5ac9420ae81},
	} {
		t.Run(fmt.Sprint(x.got), func(t *testing.T) {
			assert.Equal(t, x.want, x.got)
		})
	}
	assert.NotEqual(t, Tag("a", "b", "c"), Tag("ab", "", "c"))
	assert.NotEqual(t, Tag("a", "b", "c"), Tag("a", "bc", ""))
}
