package joint_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// statementsOf writes weights of one slot, with the same weight for each of dim dimensions.
func statementsOf(t *testing.T, dim int, name string, weight, bias float64) []byte {
	t.Helper()
	var b []byte
	for _, n := range []int{dim, 1, len(name)} {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	b = append(b, name...)
	for i := range dim + 1 {
		x := weight
		if i == dim {
			x = bias
		}
		h, ok := halves[x]
		require.True(t, ok, x)
		b = binary.LittleEndian.AppendUint16(b, h)
	}
	return b
}

func TestStatements(t *testing.T) {
	t.Parallel()
	plain := open(t, &fake{name: "a", letters: "kq"}, &fake{name: "b", letters: "xj"})
	assert.Nil(t, plain.StatementSlots())
	good := statementsOf(t, plain.Dim(), "home", 4, -2)
	e, err := plain.WithStatements(good)
	require.NoError(t, err)
	assert.Equal(t, plain.Model(), e.Model(), "stored vectors stay good")
	assert.Nil(t, plain.StatementSlots(), "the other embedder is as it was")
	slots := e.StatementSlots()
	require.Len(t, slots, 1)
	assert.Equal(t, "home", slots[0].Name)
	assert.InDelta(t, -2, slots[0].Bias, 0)
	assert.Equal(t, plain.Dim(), len(slots[0].Vector))
	for _, x := range slots[0].Vector {
		assert.InDelta(t, 4, x, 0)
	}
	for name, bad := range map[string][]byte{
		"nothing": nil, "cut off": good[:len(good)-1], "too long": append(good[:len(good):len(good)], 0),
		"another embedder's": statementsOf(t, plain.Dim()+1, "home", 4, -2), "no name": statementsOf(t, plain.Dim(), "", 4, -2),
		"two names": statementsOf(t, plain.Dim(), "home\npet", 4, -2), "not finite": statementsOf(t, plain.Dim(), "home", math.Inf(1), 0),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := plain.WithStatements(bad)
			require.ErrorContains(t, err, "weights of statements")
		})
	}
}
