package rules

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/extract"
)

// TestDiets counts the diets that the rules state of sentences: how many are right, and which are not stated.
func TestDiets(t *testing.T) {
	t.Parallel()
	for file, least := range map[string]int{"diets.txt": 20, "dietsheld.txt": 15} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile("testdata/" + file)
			require.NoError(t, err)
			right := 0
			for line := range strings.Lines(string(data)) {
				text, want, ok := strings.Cut(strings.TrimSpace(line), " ## ")
				if !ok {
					continue
				}
				got := dietsOf(t, text)
				if slices.Contains(got, want) {
					right++
					continue
				}
				assert.Empty(t, got, text)
			}
			assert.GreaterOrEqual(t, right, least)
		})
	}
}

// dietsOf returns the diets and the drinking that a note states, in lower case and without the user's name before relatives.
func dietsOf(t *testing.T, text string) (all []string) {
	out, err := New().Extract(t.Context(), []extract.Input{{Text: text, Time: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), Memory: true, Infer: true}})
	require.NoError(t, err)
	for _, f := range out[0].Facts {
		if (f.Predicate == "diet" || f.Predicate == "drinks") && !f.Negated && !f.Retracts {
			all = append(all, strings.TrimPrefix(strings.ToLower(f.Subject), "user's ")+" "+f.Predicate+" "+f.Object)
		}
	}
	return all
}
