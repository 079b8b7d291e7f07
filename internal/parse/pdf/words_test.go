package pdf

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// spelled is a segment whose letters have the gaps before them, in ems.
func spelled(letters string, gaps ...float64) *segment {
	s := &segment{size: 10, chars: len(letters)}
	u := 0.0
	for i, c := range letters {
		if i < len(gaps) {
			u += 10 * gaps[i]
		}
		s.glyphs = append(s.glyphs, glyph{text: string(c), u0: u, u1: u + 5, size: 10})
		u += 5
	}
	s.u1 = u
	return s
}

func TestJoinedCellsAreReadAnew(t *testing.T) {
	t.Parallel()
	a, b := spelled("left"), spelled("right")
	for i := range b.glyphs {
		b.glyphs[i].u0, b.glyphs[i].u1 = b.glyphs[i].u0+40, b.glyphs[i].u1+40
	}
	require.Equal(t, "left", a.text())
	assert.Equal(t, "left right", joinCells(a, b).text())
	assert.Equal(t, "left", a.text())
	head, tail := a.cut(2)
	assert.Equal(t, "le", head.text())
	assert.Equal(t, "ft", tail.text())
	assert.Equal(t, "left right", joinSegments(a, b))
}

// TestGapLimit compares the limit with the rule that it stands for: the gap at the quarter of all, where it is that of letter-spacing.
func TestGapLimit(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		gaps := make([]float64, 1+r.IntN(40))
		top := []float64{0.03, 0.06, 0.2, 0.5}[r.IntN(4)]
		for i := range gaps {
			gaps[i] = top * (r.Float64() - 0.1)
		}
		s := spelled("abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"[:len(gaps)], gaps...)
		var sp wordSpace
		got := s.gapLimit(&sp)
		between := make([]float64, 0, len(gaps))
		for i := 1; i < len(s.glyphs); i++ {
			between = append(between, (s.glyphs[i].u0-s.glyphs[i-1].u1)/10)
		}
		slices.Sort(between)
		want := float64(wordGap)
		if n := len(between); n >= 6 && between[n/4] > leastSpacing && between[n/4] < 0.25 {
			want += between[n/4]
		}
		require.InDelta(t, want, got, 1e-12, "%v", between)
	}
}
