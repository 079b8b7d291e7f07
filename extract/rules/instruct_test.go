package rules

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/contextmem/contextmem/extract"
)

// TestInstructionsActOnTheGraph checks that what instructions exclude is neither a fact nor in the graph, and that what they ask for stays.
func TestInstructionsActOnTheGraph(t *testing.T) {
	t.Parallel()
	text := "I work at Initech. I love sushi. I live in Oslo. Boris works at Acme."
	predicates := func(instructions string) (facts, relations []string) {
		out := one(t, extract.Input{Text: text, Speaker: "Alex", Memory: true, Infer: true, Instructions: instructions})
		for _, f := range out.Facts {
			facts = append(facts, f.Predicate)
		}
		for _, r := range out.Relations {
			relations = append(relations, r.Source+" "+r.Predicate)
		}
		assert.Empty(t, out.Unheeded, instructions)
		return facts, relations
	}
	all, graph := predicates("At most 100 facts")
	assert.Contains(t, all, "works_at")
	assert.Contains(t, graph, "alex works_at")
	assert.Contains(t, graph, "boris works_at")
	for _, order := range []string{"Do not store employers.", "do not remember any employer", "Ignore companies", "never store workplaces"} {
		t.Run(order, func(t *testing.T) {
			facts, relations := predicates(order)
			assert.NotContains(t, facts, "works_at", order)
			assert.NotContains(t, relations, "alex works_at", order)
			assert.NotContains(t, relations, "boris works_at", order)
			assert.Contains(t, facts, "likes", order)
			assert.Contains(t, relations, "alex lives_in", order)
		})
	}
	facts, relations := predicates("only food")
	assert.Equal(t, []string{"likes"}, facts)
	assert.NotContains(t, relations, "alex works_at")
	assert.NotContains(t, relations, "alex lives_in")
	facts, relations = predicates("Do not store where I live, ignore home")
	assert.NotContains(t, facts, "lives_in")
	assert.NotContains(t, relations, "alex lives_in")
}

// Topics know what belongs to them without its name.
func TestTopicsOfInstructions(t *testing.T) {
	t.Parallel()
	for order, texts := range map[string][2][]string{
		"only food":          {{"I love sushi.", "I hate cilantro.", "I'm allergic to peanuts.", "I can't stand olives.", "I drink espresso.", "My favorite dish is risotto."}, {"I love hiking.", "I work at Initech.", "I like hammers.", "I hate corners."}},
		"only pets":          {{"I have a dog.", "I adopted a kitten."}, {"I have a car.", "I love sushi."}},
		"do not store money": {{"I love sushi."}, {"I earn 5000 dollars a month."}},
	} {
		t.Run(order, func(t *testing.T) {
			for i, want := range []bool{true, false} {
				for _, text := range texts[i] {
					out := one(t, extract.Input{Text: text, Speaker: "Alex", Memory: true, Infer: true, Instructions: order})
					assert.Equal(t, want, len(out.Facts) > 0, "%s: %s", order, text)
				}
			}
		})
	}
}

// Objects that a predicate can't have make no statements.
func TestObjectsWithoutMeaning(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"I work out at the gym.", "I'm on the bus like a teenager.", "I speak fluent sarcasm.", "I'm allergic to mornings.", "My brother does tho.", "test test I live in Oslo"} {
		t.Run(text, func(t *testing.T) {
			out := one(t, extract.Input{Text: text, Speaker: "Alex", Memory: true, Infer: true})
			assert.Empty(t, lines(out.Facts), text)
			assert.Empty(t, out.Relations, text)
		})
	}
	assert.Equal(t, []string{"fact: Alex|lives_in|Lisbon", "entity: Lisbon|located_in|Portugal"}, lines(facts(t, "I live in Lisbon, Portugal.")), "one lives in one of the two")
	assert.Len(t, facts(t, "I lived in Oslo, Rome and Paris."), 3)
}
