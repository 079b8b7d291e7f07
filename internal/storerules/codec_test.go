package storerules

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// Vectors come back as they are; those that 16 bits hold take half the room.
func TestPackedVectors(t *testing.T) {
	for name, x := range map[string]struct {
		v    []float32
		size int
	}{
		"halves": {[]float32{.5, -.25, 0, 1. / (1 << 24), 65504}, 11}, "floats": {[]float32{.5, .1}, 8}, "large": {[]float32{1, 70000}, 8},
		"one": {[]float32{1}, 3}, "none": {[]float32{}, 0},
	} {
		b := PackVector(x.v)
		assert.Len(t, b, x.size, name)
		got, err := UnpackVector(b)
		require.NoError(t, err, name)
		assert.Equal(t, x.v, got, name)
	}
	for _, b := range [][]byte{make([]byte, 6), make([]byte, 7), {halfMark, 0, 0}, {1, 2}} {
		_, err := UnpackVector(b)
		require.ErrorIs(t, err, backend.ErrCorrupt)
	}
}
