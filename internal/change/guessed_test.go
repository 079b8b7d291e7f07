package change

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGuessHasWhatItIsAbout checks that a disproved guess takes along what it explains, and nothing behind it.
func TestGuessHasWhatItIsAbout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ earlier, later, matter string }{
		{"I've had a cough since the autumn. Dr Patel thinks it is the mould in the bathroom. We rent.", "It was never the mould, it was reflux.",
			"I've had a cough since the autumn. Dr Patel thinks it is the mould in the bathroom"},
		{"I walk at six. My feet swell up every evening. Mum reckons it's the salt in my soup.", "Turns out it wasn't the salt.",
			"My feet swell up every evening. Mum reckons it's the salt in my soup"},
		{"I rent a flat. I think the mould causes my cough.", "It was never the mould.", "the mould causes my cough"},
	} {
		x, ok := decided(c.earlier, c.later)
		require.True(t, ok, c.later)
		assert.Equal(t, "rules: disproved", x.decider)
		assert.Equal(t, c.matter, x.matter)
	}
}
