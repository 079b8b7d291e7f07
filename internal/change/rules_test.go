package change

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/contextmem/contextmem/backend"
)

// decided runs the rules over two statements of a collection of a hundred.
func decided(earlier, later string) (verdict, bool) {
	v := &vocabulary{docs: 100, df: map[string]int{}}
	return byRules(&statement{src: &backend.Source{}, text: later}, &statement{src: &backend.Source{}, text: earlier}, v, nil)
}

func TestRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ earlier, later, decider string }{
		{"I go to pilates every Tuesday.", "I stopped going to pilates.", "rules: ended"},
		{"I drive a blue Fiesta.", "We sold the Fiesta last week.", "rules: ended"},
		{"I smoke ten cigarettes a day.", "I gave up cigarettes in the end.", "rules: ended"},
		{"The half marathon is on 12 May, I signed up.", "The half marathon is off.", "rules: cancelled"},
		{"I'm allergic to peanuts. I work at Acme.", "Forget what I said about the peanuts.", "rules: withdrawn"},
		{"The landline is 555 0148.", "The landline is 555 0184, not 0148.", "rules: replaced"},
		{"We track our tickets in Jira.", "We switched from Jira to Linear, tickets and all.", "rules: replaced"},
	} {
		t.Run(c.earlier, func(t *testing.T) {
			x, ok := decided(c.earlier, c.later)
			assert.True(t, ok, c.later)
			assert.Equal(t, c.decider, x.decider, c.later)
			assert.Equal(t, c.decider == "rules: cancelled" || c.decider == "rules: withdrawn", x.retracts, c.later)
		})
	}
	x, ok := decided("I'm allergic to peanuts. I work at Acme.", "Forget what I said about the peanuts.")
	assert.True(t, ok)
	assert.Equal(t, "I'm allergic to peanuts", x.matter, "of two matters one is taken back")
}

// TestRulesReplaceNothing checks that ordinary sentences, and those that only look like a change, replace nothing.
func TestRulesReplaceNothing(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"I work at a school.", "I work with kids."},
		{"I live in Lisbon.", "I live in a flat."},
		{"I live in Lisbon.", "I live in Lisbon, Portugal."},
		{"I work at Acme.", "I work best at night."},
		{"My desk is by the window.", "I moved to a bigger desk."},
		{"I'm seeing Clara.", "I married last summer."},
		{"My boss is Marged.", "Marged is off in January."},
		{"She has a husband with a boat.", "Her husband sold not the boat but the house."},
		{"I have a Spanish SIM.", "My housemate's Spanish SIM stopped working."},
		{"The eye clinic is on the 14th.", "I cancelled my haircut on the 14th."},
		{"I go to pilates every Tuesday.", "Should I stop going to pilates?"},
		{"I go to pilates every Tuesday.", "If I stopped going to pilates I'd miss Ana."},
		{"Do you know the half marathon?", "The half marathon is off."},
	} {
		t.Run(c[0], func(t *testing.T) {
			x, ok := decided(c[0], c[1])
			assert.False(t, ok, "%q: %q as %s", c[0], c[1], x.decider)
		})
	}
}
