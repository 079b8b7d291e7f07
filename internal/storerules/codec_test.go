package storerules

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/fixed"
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
	r := rand.New(rand.NewPCG(1, 2))
	for n := fixed.MinDim; n <= fixed.MaxDim; n++ {
		given := make([]float32, n)
		for i := range given {
			given[i] = float32(r.NormFloat64())
		}
		v, ok := fixed.Rounded(nil, given)
		require.True(t, ok)
		b := PackVector(v)
		assert.Len(t, b, (4+(n+1)/2*3)|1+(4+(n+1)/2*3)&1*2)
		got, err := UnpackVector(b)
		require.NoError(t, err)
		require.Equal(t, v, got)
	}
	for _, b := range [][]byte{make([]byte, 6), make([]byte, 7), {halfMark, 0, 0}, {1, 2}, {twelveMark}, {0, 0, 0, 0, twelveMark}, {1, 2, 3, 4, 5, 6, twelveMark}} {
		_, err := UnpackVector(b)
		require.ErrorIs(t, err, backend.ErrCorrupt)
	}
}
