package change

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/slot"
)

// TestAskedElsewhere checks which questions a succession about named matters concerns.
func TestAskedElsewhere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		question  string
		matters   []string
		elsewhere bool
	}{
		{"Where do I live?", []string{"home"}, false},
		{"What is my address?", []string{"home"}, false},
		{"Where do I live?", []string{"employer"}, true},
		{"Where do I work?", []string{"home"}, true},
		{"What do I do for a living?", []string{"employer"}, false},
		{"Where is the wedding?", []string{asksWhen}, true},
		{"When is the wedding?", []string{asksWhen}, false},
		{"Who owns the launch?", []string{asksWhen}, true},
		{"Who owns the launch?", []string{asksWho}, false},
		{"How much is netball?", []string{asksWhen}, true},
		{"Why was the launch moved?", []string{asksWhen}, true},
		{"Anything new about me", []string{"home"}, false},
		{"Wo arbeite ich?", []string{"home"}, true},
		{"Onde moro?", []string{"home"}, false},
		{"我在哪里工作？", []string{"home"}, true},
		{"私はどこに住んでいますか？", []string{"home"}, false},
		{"Where do I live?", []string{"employer", "home"}, false},
		{"Where do I live?", nil, false},
	} {
		assert.Equal(t, c.elsewhere, Ask(nil, c.question).Elsewhere(wrap(c.matters, []byte{1, 2, 3, 4, 5})), "%s %v", c.question, c.matters)
	}
}

// TestWrapKeepsTheMatter checks that names of matters go before the encoded part, and come back.
func TestWrapKeepsTheMatter(t *testing.T) {
	t.Parallel()
	m := &Matter{Model: 7, Part: []float32{1, 0}, Rest: [][]float32{{0, 1}}}
	names, rest := unwrap(wrap([]string{"home", "employer"}, m.encode()))
	assert.Equal(t, []string{"home", "employer"}, names)
	assert.Equal(t, m.encode(), rest)
	names, rest = unwrap(m.encode())
	assert.Empty(t, names)
	assert.Equal(t, m.encode(), rest)
	for cut := range 12 {
		whole := wrap([]string{"employer"}, nil)
		assert.NotPanics(t, func() { unwrap(whole[:min(cut, len(whole))]) })
	}
}

// TestBeside checks that a question may name what stands beside the part that changed.
func TestBeside(t *testing.T) {
	t.Parallel()
	const text, matter = "I live in Bristol and play drums in a band.", "I live in Bristol"
	assert.True(t, Ask(nil, "What band do I play in?").Beside(text, matter))
	assert.False(t, Ask(nil, "Do I still live in Bristol with my band?").Beside(text, matter), "it names the part too")
	assert.False(t, Ask(nil, "Which city am I in?").Beside(text, matter), "it names neither")
	assert.False(t, Ask(nil, "What band do I play in?").Beside("I play in a band.", "something else"))
}

// TestSwitchedIsNotRetracted checks that somebody who changed dentists did have the former one.
func TestSwitchedIsNotRetracted(t *testing.T) {
	t.Parallel()
	x, ok := decided("My dentist is Dr Shah.", "I switched dentists.")
	assert.True(t, ok)
	assert.False(t, x.retracts)
}

// TestPlannedMoveIsNotShown checks that what will change replaces nothing yet: it only orders two statements.
func TestPlannedMoveIsNotShown(t *testing.T) {
	t.Parallel()
	x, ok := decided("The board meeting is on 4 May.", "We are going to move the board meeting to 11 May.")
	assert.True(t, !ok || x.confidence < Shown, "%+v", x)
}

// TestSlotsOfCallers checks that the slots of callers say what a question is about, and what a fact is a matter of.
func TestSlotsOfCallers(t *testing.T) {
	t.Parallel()
	more, err := slot.New([]facts.Slot{{Name: "band", Predicates: []string{"plays_in"}, Asks: []string{"which outfit"}}, {Name: "base", Predicates: []string{"lives_in"}, Asks: []string{"my base"}}})
	require.NoError(t, err)
	home := wrap(slotsOf(more, "lives_in", "york"), nil)
	assert.Equal(t, []string{"base", "home"}, slotsOf(more, "lives_in", "york"), "questions may use the words of either")
	assert.Equal(t, []string{"home"}, slotsOf(nil, "lives_in", "york"))
	assert.False(t, Ask(more, "What is my base?").Elsewhere(home))
	assert.False(t, Ask(more, "Where do I live?").Elsewhere(home))
	assert.True(t, Ask(more, "Which outfit am I with?").Elsewhere(home))
	assert.False(t, Ask(nil, "Which outfit am I with?").Elsewhere(home), "without the slot the question may be about anything")
	band := wrap(slotsOf(more, "plays_in", "the owls"), nil)
	assert.False(t, Ask(more, "Which outfit am I with?").Elsewhere(band))
	assert.True(t, Ask(more, "Where do I work?").Elsewhere(band))
}

// TestMoveLeavesThings checks that a move concerns no question about somebody's children or pets.
func TestMoveLeavesThings(t *testing.T) {
	t.Parallel()
	home := wrap([]string{"home"}, nil)
	for question, elsewhere := range map[string]bool{"What sort of dog does Niamh have?": true, "How many children does Priya have?": true, "What are the cats called?": true,
		"Where does Priya live?": false, "Where do Priya's children live?": false, "What's new with Priya?": false, "Which flat does Priya have?": false} {
		assert.Equal(t, elsewhere, Ask(nil, question).Elsewhere(home), question)
	}
}

// TestGenerationNamesTheSlots checks that memories are compared again under other slots, and only then.
func TestGenerationNamesTheSlots(t *testing.T) {
	t.Parallel()
	standard, err := slot.New(nil)
	require.NoError(t, err)
	more, err := slot.New([]facts.Slot{{Name: "band", Asks: []string{"which outfit"}}})
	require.NoError(t, err)
	assert.Equal(t, (&Engine{}).Generation(), (&Engine{Slots: standard}).Generation())
	assert.NotEqual(t, (&Engine{}).Generation(), (&Engine{Slots: more}).Generation())
}
