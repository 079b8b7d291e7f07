package documents

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/content"
)

// TestDifferences checks that equal and removed parts make up the text before, and equal and added parts the text
// after.
func TestDifferences(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var b strings.Builder
		for range 1 + r.IntN(12) {
			fmt.Fprintf(&b, "Number %d is here.%s", r.IntN(6), []string{" ", "\n\n", "\n- item\n"}[r.IntN(3)])
		}
		return b.String()
	}
	words := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	for range 500 {
		a, b := text(), text()
		var before, after strings.Builder
		last := content.DifferenceKind("")
		for _, d := range Differences(a, b) {
			require.NotEqual(t, last, d.Kind, "runs are joined")
			require.NotEmpty(t, d.Text)
			if last = d.Kind; d.Kind != content.Added {
				before.WriteString(" " + d.Text)
			}
			if d.Kind != content.Removed {
				after.WriteString(d.Text)
			}
		}
		require.Equal(t, words(a), words(before.String()))
		require.Equal(t, b, after.String())
	}
	require.Equal(t, []content.Difference{{Kind: content.Same, Text: "I sail."}}, Differences("I  sail.", "I sail."))
	require.Nil(t, Differences("", "I sail."))
	var many [2]strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&many[0], "This is %d. ", i)
		fmt.Fprintf(&many[1], "That is %d. ", i)
	}
	require.Len(t, Differences(many[0].String(), many[1].String()), 2, "what is too long to compare is replaced")
}
