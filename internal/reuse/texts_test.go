package reuse

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTexts: texts stay what they are while others are made, until they are forgotten; then the next ones need no memory.
func TestTexts(t *testing.T) {
	var ts Texts
	make100 := func() (got, want []string) {
		for i := range 100 {
			text, end := strings.Repeat("a", i%37), strings.Repeat("b", i%3)
			got, want = append(got, ts.Join(text, end, 4)), append(want, text+end)
		}
		return got, want
	}
	got, want := make100()
	require.Equal(t, want, got)
	ts.Forget()
	require.Equal(t, "xy", ts.Join("x", "y", 100))
	require.Zero(t, testing.AllocsPerRun(10, func() {
		ts.Forget()
		_ = ts.Join("x", "y", 100)
	}))
	ts.Forget()
	got, want = make100()
	require.Equal(t, want, got)
}
