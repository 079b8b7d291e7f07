package joint_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// weightsOf writes a rank of 1 that reads one place of a question and adds to another.
func weightsOf(dim, from, to int, by float32) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 1)
	for _, at := range []int{from, to} {
		for i := range dim {
			x := float32(0)
			if i == at {
				x = by
			}
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
	}
	return b
}

func TestMemoryQuery(t *testing.T) {
	t.Parallel()
	plain := open(t, &fake{name: "a", letters: "kq"}, &fake{name: "b", letters: "xj"})
	q := []float32{1, 2, 3, 4, 5, 6}
	assert.Equal(t, q, plain.MemoryQuery(q), "without weights memories are searched as the rest")
	e, err := plain.WithMemories(weightsOf(6, 1, 4, 2))
	require.NoError(t, err)
	assert.Equal(t, []float32{1, 2, 3, 4, 5 + 2*2*2, 6}, e.MemoryQuery(q))
	assert.Equal(t, []float32{1, 2, 3, 4, 5, 6}, q, "the question's own vector is not changed")
	assert.Equal(t, q, plain.MemoryQuery(q), "nor is the embedder")
	assert.Equal(t, plain.Model(), e.Model(), "stored vectors stay good")
	assert.Equal(t, []float32{1}, e.MemoryQuery([]float32{1}), "a vector of another embedder")

	for name, bad := range map[string][]byte{"nothing": nil, "no rank": {0, 0, 0, 0}, "cut off": weightsOf(6, 1, 4, 2)[:40], "other dimensions": weightsOf(5, 1, 4, 2),
		"not a number": weightsOf(6, 1, 4, float32(math.NaN()))} {
		t.Run(name, func(t *testing.T) {
			_, err := plain.WithMemories(bad)
			require.ErrorContains(t, err, "weights of memories", name)
		})
	}
}
