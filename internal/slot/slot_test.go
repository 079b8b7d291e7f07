package slot

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/facts"
)

func taxonomy(t *testing.T, more ...facts.Slot) *Taxonomy {
	t.Helper()
	x, err := New(more)
	require.NoError(t, err)
	return x
}

func TestSlotsOfStatements(t *testing.T) {
	t.Parallel()
	x := taxonomy(t)
	for _, c := range []struct {
		predicate, object string
		inverse           bool
		want              string
	}{
		{"lives_in", "Oslo", false, "home"}, {"works_at", "Initech", false, "employer"}, {"has", "two dogs", false, "pet"}, {"has", "dog named Rex", false, "pet"},
		{"has", "house of glass", false, "home"}, {"has", "idea", false, "belongings"}, {"likes", "dogs", false, "taste"}, {"favorite_color", "blue", false, "favourite"},
		{"pet_of", "Anna", true, "pet"}, {"married_to", "Anna", true, "partner"}, {"married_to", "Anna", false, "partner"}, {"allergic_to", "nuts", false, "allergy"},
		{"zorbles", "x", false, ""}, {"lives_in", "Anna", true, ""}, {"owns", "red car", false, "car"}, {"plans", "buy a car", false, "plan"},
	} {
		t.Run(c.predicate, func(t *testing.T) {
			got, sure := x.Of(c.predicate, c.object, c.inverse)
			assert.Equal(t, c.want, got, "%s %s", c.predicate, c.object)
			assert.Equal(t, c.want != "", sure > 0)
		})
	}
}

func TestSlotsOfQuestions(t *testing.T) {
	t.Parallel()
	x := taxonomy(t)
	for q, want := range map[string]string{
		"Where do I live?": "home", "Where does Anna live these days?": "home", "Wo wohne ich?": "home", "Am I allergic to nuts?": "allergy", "What's my dog called?": "pet",
		"What is the capital of Norway?": "", "My dogma": "", "": "", "Which languages do I speak?": "language",
		"Do I have a dog?": "pet", "Do I have a spare ladder?": "belongings", "Who am I?": "name", "Who am I dating?": "", "How old am I?": "birthday", "How old is the bridge?": "", "Is my old dog still limping?": "pet", "What does my dog's vet charge?": "",
	} {
		t.Run(q, func(t *testing.T) {
			got, _ := x.OfQuestion(q)
			assert.Equal(t, want, got, q)
		})
	}
}

func TestSlotsOfCallers(t *testing.T) {
	t.Parallel()
	x := taxonomy(t, facts.Slot{Name: "boat", Predicates: []string{"sails"}, Objects: []string{"dinghy", "car"}, Asks: []string{"my boat"}}, facts.Slot{Name: "pet", Card: facts.One, Objects: []string{"axolotl"}})
	for _, c := range [][3]string{{"sails", "the Anna", "boat"}, {"has", "a dinghy", "boat"}, {"has", "an axolotl", "pet"}, {"has", "a dog", "pet"}, {"owns", "a car", "boat"}} {
		t.Run(c[0], func(t *testing.T) {
			got, _ := x.Of(c[0], c[1], false)
			assert.Equal(t, c[2], got)
		})
	}
	got, _ := x.OfQuestion("where is my boat")
	assert.Equal(t, "boat", got)
	assert.True(t, x.Has("boat"))
	for i, s := range x.Slots() {
		switch s.Name {
		case "boat":
			assert.Equal(t, facts.Many, s.Card)
			assert.Equal(t, len(x.Slots())-1, i)
		case "pet":
			assert.Equal(t, facts.One, s.Card)
		}
	}
	for field, s := range map[string]facts.Slot{"Slots[0].Name": {Name: "My boat"}, "Slots[0].Card": {Name: "boat", Card: "some"}} {
		t.Run(field, func(t *testing.T) {
			_, err := New([]facts.Slot{s})
			require.ErrorContains(t, err, field)
		})
	}
}

// TestTaxonomyFile checks that the file names each slot once, with a valid cardinality.
func TestTaxonomyFile(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range standard() {
		assert.False(t, seen[s.Name], s.Name)
		seen[s.Name] = true
		assert.Contains(t, []facts.Cardinality{facts.One, facts.Many, facts.History}, s.Card, s.Name)
		assert.NotEmpty(t, append(append(s.Predicates, s.Inverse...), s.Objects...), s.Name)
	}
}
