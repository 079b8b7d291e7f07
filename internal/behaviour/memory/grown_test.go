package memory_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/embed/static"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// TestMemoriesAreComparedAgainAmongMany checks that two memories that a narrow judge could not decide about among few are decided about once so many
// are known that one stands out, though each is told by itself and neither is told again.
func TestMemoriesAreComparedAgainAmongMany(t *testing.T) {
	t.Parallel()
	j := narrowJudge{fixedJudge{replaces: map[[2]string]float64{{"Chargebee", "Stripe"}: .12}}}
	_, acme := servicetest.Open(t, &contextmem.Options{Judge: j, Embedder: static.New()})
	sub := acme.Sub("ana")
	tell := func(id, text string) {
		servicetest.Remember(t, sub, contextmem.Memory{ID: id, UserName: "Ann", Text: "Ann: " + text})
		require.NoError(t, sub.WaitRefined(t.Context()))
	}
	about := []string{"the garden fence", "a violin lesson", "the swimming pool", "our train tickets", "the broken oven", "a letter from the bank", "the neighbour's parrot", "a chess club", "the winter tyres", "an old lighthouse",
		"the recipe for plum jam", "a museum in Ghent", "the roof tiles", "a lost umbrella", "the school play"}
	for i, what := range about {
		tell(fmt.Sprint("early", i), "yesterday I spent more than an hour on "+what+", which was a lot more tiring than I had expected it to be.")
	}
	tell("chargebee", "all of our invoicing is done through Chargebee, and has been since the first customer that signed with us.")
	tell("stripe", "all of our invoicing is done through Stripe, which the people who signed with us last week found easier to pay.")
	confidence := func() float64 {
		t.Helper()
		_, by := recallMemories(t, sub, contextmem.Recall{Query: "What is our invoicing done through?"})
		require.Contains(t, by, "chargebee")
		if s := by["chargebee"].SupersededBy; s != nil {
			return s.Confidence
		}
		found, err := sub.Conflicts(t.Context(), facts.ConflictsRequest{})
		require.NoError(t, err)
		for _, f := range found.Conflicts {
			if f.Earlier == "chargebee" {
				return f.Confidence
			}
		}
		return 0
	}
	among := confidence()
	for i := range 40 {
		tell(fmt.Sprint("late", i), fmt.Sprintf("today I thought about %s once more, for the %d. time this year, and did not come to any conclusion at all.", about[i%len(about)], i+2))
	}
	assert.Greater(t, confidence(), among+.2)
}
