package checkpoint

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestNameOf: another weight, another length or another table of tensors is another file.
func TestNameOf(t *testing.T) {
	t.Parallel()
	weights := bytes.Repeat([]byte{1, 2, 3, 4}, 1<<18)
	name := nameOf(weights)
	assert.Len(t, name, 32)
	assert.Equal(t, name, nameOf(bytes.Clone(weights)))
	assert.NotEqual(t, name, nameOf(weights[:len(weights)-1]))
	head := bytes.Clone(weights)
	head[9]++
	assert.NotEqual(t, name, nameOf(head))
	trained := bytes.Clone(weights)
	for i := len(trained) / 2; i < len(trained); i += 3 {
		trained[i]++
	}
	assert.NotEqual(t, name, nameOf(trained))
	assert.NotEqual(t, name, nameOf(nil))
	assert.NotPanics(t, func() { nameOf([]byte{1}) })
}
