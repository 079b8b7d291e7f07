package memory_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// TestOrdinarySentencesRetireNothing checks sentences that look like changes but retire no facts.
func TestOrdinarySentencesRetireNothing(t *testing.T) {
	t.Parallel()
	svc, acme := servicetest.Open(t, nil)
	_ = svc
	for _, text := range []string{
		"I work with kids.", "I work with kids all day.", "I live in a flat.", "I live in a small flat on the third floor.", "I moved to a bigger desk.", "I moved to the window seat.",
		"I work best at night.", "I work at night.", "I work from home on Fridays.", "I live in Lisbon, Portugal.", "I live in fear of my inbox.", "I live for the weekends.", "I'm moving in with my sister in December.",
		"I work out at the gym.", "I work hard.", "I live with two cats.", "I live near the river.", "I moved to tears watching that film.", "I work for free sometimes.", "I'm in Rome for the weekend.",
		"I worked late yesterday.", "My boss moved to Berlin.", "I might move to Paris.", "We're moving in December.",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			sub := acme.Sub(strings.Map(func(r rune) rune {
				if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
					return r
				}
				return '-'
			}, text))
			rememberStatements(t, sub, "I live in Lisbon.", "I work at Initech.", "I'm married to Clara.", text)
			for predicate, object := range map[string]string{"lives_in": "lisbon", "works_at": "initech"} {
				p, err := sub.Facts(t.Context(), facts.Request{Subject: "Anna", Predicate: predicate})
				require.NoError(t, err)
				var now []string
				for _, f := range p.Facts {
					now = append(now, strings.ToLower(f.Object))
				}
				assert.Contains(t, now, object)
				assert.LessOrEqual(t, len(now), 2)
			}
		})
	}
}
