package change

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestDatedWords: of words of lower-case letters, datedWords has those that the expression dated matches.
func TestDatedWords(t *testing.T) {
	t.Parallel()
	words := []string{"mayor", "days", "day", "mondays", "thursdays", "januar", "marches", "sept", "septembe", "decem", "next", "week", "tomorrows", "morrow", "th", "st", "augus", "jul", "juli"}
	for _, known := range []map[string]bool{datedWords, cueWords, unspecific} {
		for w := range known {
			words = append(words, w, w+"s", "x"+w)
		}
	}
	for _, w := range words {
		assert.Equal(t, dated.MatchString(w), isValue(w), w)
	}
	assert.Len(t, datedWords, 12+12-1+1+7+1, "months in full and short, of which May is both, sept, days, tomorrow")
	for w, want := range map[string]bool{"7": true, "12th": true, "4pm": true, "re-jan": true, "müller": false, "o'may": true, "Monday": true} {
		assert.Equal(t, want, isValue(w), w)
	}
}
