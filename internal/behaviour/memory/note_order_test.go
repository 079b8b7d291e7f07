package memory_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/embed/static"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// TestNoteThatReplacesIsFirst checks that among short notes told at once, one that a narrow judge thinks the likeliest to replace another, though hardly
// likely, comes before it and is not shown as superseding. Other notes keep their order, and so do messages of others.
func TestNoteThatReplacesIsFirst(t *testing.T) {
	t.Parallel()
	j := narrowJudge{fixedJudge{replaces: map[[2]string]float64{{"Chargebee", "Stripe"}: 1e-3}, answers: map[string]float64{"Stripe": .3}}}
	notes := []contextmem.Memory{
		{ID: "chargebee", Text: "We invoice through Chargebee."},
		{ID: "legal", Text: "Legal is handled by Brightwater LLP."},
		{ID: "stripe", Text: "Stripe Billing does our invoices these days."},
		{ID: "lease", Text: "The office lease ends in March 2028."},
	}
	heads := map[string]string{"chargebee": "Billing: ", "legal": "Law: ", "lease": "Office: "}
	for _, c := range []struct {
		name, user, label, question, want string
	}{
		{"what was replaced", "", "", "What do we invoice through?", "stripe"},
		{"of a named user", "Ann", "", "What do we invoice through?", "stripe"},
		{"something else", "", "", "Who is legal handled by?", "legal"},
		{"whose heads are topics", "", "heads", "What do we invoice through?", "stripe"},
		{"said by the user", "Ann", "Ann: ", "What do we invoice through?", "stripe"},
		{"said by somebody else", "Ann", "Bob: ", "What do we invoice through?", "chargebee"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, acme := servicetest.Open(t, &contextmem.Options{Judge: j, Embedder: static.New()})
			sub := acme.Sub("ana")
			for _, m := range notes {
				if m.UserName = c.user; c.label == "heads" {
					m.Text = heads[m.ID] + m.Text
				} else {
					m.Text = c.label + m.Text
				}
				servicetest.Remember(t, sub, m)
				require.NoError(t, sub.WaitRefined(t.Context()))
			}
			ids, by := recallMemories(t, sub, contextmem.Recall{Query: c.question})
			require.NotEmpty(t, ids)
			assert.Equal(t, c.want, ids[0])
			assert.Nil(t, by["chargebee"].SupersededBy)
		})
	}
}
