package language

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestMayAskWhen: no phrase is passed over, wherever among the first words it stands, and English questions are not looked at further.
func TestMayAskWhen(t *testing.T) {
	t.Parallel()
	for _, list := range whenPhrases() {
		for _, p := range list {
			for _, q := range []string{p, "x, " + p + " y?", "x-9 y " + strings.ToUpper(p)} {
				assert.True(t, mayAskWhen(q), q)
			}
		}
	}
	for _, q := range []string{"", "who repaired the pump?", "when was it?", "x y z wann", "wannwannwannwannwann"} {
		t.Run(q, func(t *testing.T) {
			assert.False(t, mayAskWhen(q), q)
		})
	}
}
