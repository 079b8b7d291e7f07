package lexical

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestIrregularForms(t *testing.T) {
	t.Parallel()
	for form, base := range map[string]string{"bought": "buy", "went": "go", "children": "child", "vortices": "vortex", "taught": "teaching", "written": "writes"} {
		t.Run(form, func(t *testing.T) {
			assert.Equal(t, Stem(base), Stem(form), form)
			assert.Equal(t, Analyze(nil, base)[0].Term, Analyze(nil, strings.ToUpper(form))[0].Term, form)
		})
	}
	for _, other := range []string{"rose", "bore", "leaves", "ground"} {
		t.Run(other, func(t *testing.T) { // mostly another word
			assert.NotContains(t, irregular, other)
		})
	}
}

// TestIrregularTable checks that each form has one base and that no base is a form. Stemming
// a stem therefore changes nothing.
func TestIrregularTable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, entry := range strings.Split(irregularForms, ";") {
		for i, w := range strings.Fields(entry) {
			if i > 0 {
				assert.False(t, seen[w], "%s stands twice", w)
				seen[w] = true
				assert.NotContains(t, irregular, irregular[w], w)
			}
			assert.False(t, stopWords[w], w)
		}
	}
}
