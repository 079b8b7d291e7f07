package change

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/contextmem/contextmem/backend"
)

// TestNotesAreToldApart checks what the decider about notes says where the judge and the embedder say the same of two earlier notes.
func TestNotesAreToldApart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, replaced, kept, later string }{
		{"a number of the same thing", "Bed 3 is on a low-salt diet.", "Bed 7 is on a low-salt diet.", "Bed 3 can eat what she likes."},
		{"somebody else's", "Mia's coach is Jo.", "Tom's coach is Jo.", "Mia's coach has become Ada."},
		{"the rare word", "We invoice through Chargebee.", "The lease ends in March.", "Stripe does our invoices these days."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			note := func(text string) *statement {
				return &statement{src: &backend.Source{}, text: text, own: true, like: .6}
			}
			asked := judged{replaces: -8, back: -9, answers: -1.5}
			found := signals(note(c.later), []*statement{note(c.replaced), note(c.kept)}, []judged{asked, asked})
			assert.Greater(t, found[0].probability(), 1.5*found[1].probability())
		})
	}
}

func TestOnlyShortNotesAreNotes(t *testing.T) {
	t.Parallel()
	assert.True(t, (&statement{text: "Rent is 850.", own: true}).note())
	assert.True(t, (&statement{text: "Rent is 850.", own: true, speaker: "Ana"}).note(), "of a named user")
	assert.False(t, (&statement{text: "Rent is 850.", own: true, talk: true}).note(), "of a conversation")
	assert.False(t, (&statement{text: "Rent is 850."}).note(), "of another person")
	assert.False(t, (&statement{text: strings.Repeat("Rent is 850. ", 30), own: true}).note(), "long")
}

func TestNoteNeedsScoreOrConfidence(t *testing.T) {
	t.Parallel()
	assert.True(t, Before(.4, .9), "both fit the question")
	assert.False(t, Before(.4, .2), "the later one hardly does")
	assert.True(t, Before(mostNoted, .2), "it is likely enough")
	assert.False(t, Before(.1, 1), "it is unlikely")
	assert.Equal(t, Before(.3, 1), Before(.3, 3), "a greater score counts as the same")
}
