package change

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCorrections counts what messages correct of the one before them.
func TestCorrections(t *testing.T) {
	t.Parallel()
	for file, least := range map[string]int{"corrected.txt": 12, "correctedheld.txt": 7} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile("testdata/" + file)
			require.NoError(t, err)
			found := 0
			for line := range strings.Lines(string(data)) {
				kind, pair, ok := strings.Cut(strings.TrimSpace(line), ": ")
				earlier, later, two := strings.Cut(pair, " => ")
				if !ok || !two || line[0] == '#' {
					continue
				}
				x, corrected := byCorrection(&statement{text: later}, &statement{text: earlier})
				switch {
				case kind == "keep":
					assert.False(t, corrected, "%s: %s", line, x.evidence)
				case corrected:
					found++
				default:
					t.Log("not found:", line)
				}
			}
			assert.GreaterOrEqual(t, found, least)
		})
	}
}
