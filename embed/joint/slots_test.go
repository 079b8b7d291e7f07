package joint_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Halves that tests need.
var halves = map[float64]uint16{0: 0, 1: 0x3c00, 4: 0x4400, -2: 0xc000, math.Inf(1): 0x7c00}

// headOf writes a head for a first model of 3 dimensions. It gives the slot one to vectors with the second dimension, the slot other to
// those with the third, both with the logit by, and no slot to the rest.
func headOf(t *testing.T, dim int, one, other string, by float64) []byte {
	t.Helper()
	names := "\n" + one + "\n" + other
	var b []byte
	for _, n := range []int{dim, 2, 3, len(names)} {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	b = append(b, names...)
	for _, x := range []float64{0, 1, 0, 0, 0, 1 /* in */, 0, 0, 0, 0, by, 0, 0, by /* out */, 1, 0, -2} {
		h, ok := halves[x]
		require.True(t, ok, x)
		b = binary.LittleEndian.AppendUint16(b, h)
	}
	return b
}

func TestSlots(t *testing.T) {
	t.Parallel()
	plain := open(t, &fake{name: "a", letters: "kq"}, &fake{name: "b", letters: "xj"})
	name, p := plain.QuestionSlot([]float32{0, 1, 0, 0, 0, 0})
	assert.Empty(t, name)
	assert.Zero(t, p, "without weights nothing is known")
	e, err := plain.WithSlots(headOf(t, 3, "home", "pet", 4))
	require.NoError(t, err)
	assert.Equal(t, plain.Model(), e.Model(), "stored vectors stay good")
	e4, e1 := math.Exp(4), math.E
	for _, c := range []struct {
		about    string
		v        []float32
		question string
		p        float64
	}{
		{"the second", []float32{0, 1, 0, 0, 0, 0}, "home", e4 / (e4 + e1 + math.Exp(-2))},
		{"the second, shorter", []float32{0, .25, 0, 9, 9, 9}, "home", e4 / (e4 + e1 + math.Exp(-2))},
		{"the third", []float32{0, 0, 1, 0, 0, 0}, "pet", math.Exp(2) / (math.Exp(2) + e1 + 1)},
		{"none", []float32{1, 0, 0, 0, 0, 0}, "", e1 / (e1 + 1 + math.Exp(-2))},
		{"the other way", []float32{0, -1, 0, 0, 0, 0}, "", e1 / (e1 + 1 + math.Exp(-2))},
		{"nothing", make([]float32, 6), "", 0},
		{"another embedder's", []float32{0, 1, 0}, "", 0},
	} {
		t.Run(c.about, func(t *testing.T) {
			name, p := e.QuestionSlot(c.v)
			assert.Equal(t, c.question, name)
			assert.InDelta(t, c.p, p, 1e-6)
		})
	}
}

func TestSlotsRefused(t *testing.T) {
	t.Parallel()
	plain := open(t, &fake{name: "a", letters: "kq"}, &fake{name: "b", letters: "xj"})
	unnamed, huge, good := headOf(t, 3, "home", "pet", 1), headOf(t, 3, "home", "pet", 1), headOf(t, 3, "home", "pet", 1)
	unnamed[16] = 'x'
	binary.LittleEndian.PutUint32(huge[4:], 1<<31)
	for about, c := range map[string]struct {
		weights []byte
		want    string
	}{
		"nothing": {nil, "cut off"}, "half": {good[:40], "cut off"}, "more": {append(good, 0), "too long"}, "other dimensions": {headOf(t, 4, "home", "pet", 1), "not of 3 dimensions"},
		"no names": {unnamed, "do not name"}, "too many units": {huge, "no size"}, "an infinite one": {headOf(t, 3, "home", "pet", math.Inf(1)), "not finite"},
	} {
		t.Run(about, func(t *testing.T) {
			_, err := plain.WithSlots(c.weights)
			require.ErrorContains(t, err, "joint: weights of slots")
			require.ErrorContains(t, err, c.want)
		})
	}
}
