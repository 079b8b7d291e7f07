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
		{"the same head", "Menu Tuesday: fish", "Menu Monday: beef", "Menu Tuesday: quiche"},
		{"a value of the same head that is left", "Coach: Fabian", "Coach: Fabian from May", "Coach: Rosalind"},
		{"an ending of what is named again", "The seminar is in room 204.", "Reading week begins on 6 April.", "204 is closed, we meet in the library."},
		{"a value of the same kind", "The gate code is 4471.", "The gate key hangs in the hall.", "They gave us another code, 9023."},
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

// TestNoteThatRepeatsAnotherReplacesNothing checks what all words of the earlier note in the later one say.
func TestNoteThatRepeatsAnotherReplacesNothing(t *testing.T) {
	t.Parallel()
	note := func(text string) *statement {
		return &statement{src: &backend.Source{}, text: text, own: true, like: .6}
	}
	likely := func(later string) float64 {
		return signals(note(later), []*statement{note("Meds: amlodipine 5")}, []judged{{replaces: -7, back: -8, answers: -1}})[0].probability()
	}
	assert.Less(t, 3*likely("Meds: amlodipine 5, statin 20"), likely("Meds: ramipril 5, statin 20"))
}

// TestNoteBesideAnotherReplacesLess checks notes that look like the next value of a matter and speak of another one.
func TestNoteBesideAnotherReplacesLess(t *testing.T) {
	t.Parallel()
	note := func(text string) *statement {
		return &statement{src: &backend.Source{}, text: text, own: true, like: .6}
	}
	likely := func(earlier, later string) float64 {
		return signals(note(later), []*statement{note(earlier)}, []judged{{replaces: -5, back: -7, answers: -1}})[0].probability()
	}
	for _, c := range []struct{ name, earlier, beside, instead string }{
		{"as well", "The raffle money goes to Bev.", "The tombola money goes to Bev as well.", "The raffle money goes to Abdul these days."},
		{"somebody else", "I pay 790 in rent.", "My brother pays 850 in rent.", "I'm paying 850 in rent."},
		{"somebody else, Japanese", "発表会は5月9日です", "妹の発表会は6月2日です", "発表会の日は6月2日です"},
		{"once", "I have porridge for breakfast.", "Yesterday I had eggs for breakfast.", "I'm having eggs for breakfast."},
		{"another kind of value", "Deepa is the manager of Atlas.", "The demo of Atlas is at 9:30.", "Nils is the manager of Atlas."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			assert.Less(t, likely(c.earlier, c.beside), .8*likely(c.earlier, c.instead))
		})
	}
}

func TestHeadIsBeforeTheColon(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Coach U12: Fabian": "coach u12", "会場：公民館": "会場", "Serveur : Tanguy": "serveur", "Rent: 850": "rent",
		"Up at 9:15": "", "See https://x.example/a": "", "No head": "", ": nothing": "", strings.Repeat("long ", 9) + ": 3": "",
	} {
		assert.Equal(t, want, topicOf(text), text)
	}
}

func TestOnlyShortNotesAreNotes(t *testing.T) {
	t.Parallel()
	assert.True(t, (&statement{text: "Rent is 850.", own: true}).note())
	assert.True(t, (&statement{text: "Rent is 850.", own: true, speaker: "Ana"}).note(), "of a named user")
	assert.True(t, (&statement{text: "Rent is 850.", own: true, talk: true}).note(), "said to an assistant")
	assert.False(t, (&statement{text: strings.Repeat("Rent is 850. ", 8), own: true, talk: true}).note(), "a longer message")
	assert.True(t, (&statement{text: strings.Repeat("Rent is 850. ", 8), own: true}).note(), "a note as long")
	assert.False(t, (&statement{text: "Rent is 850."}).note(), "of another person")
	assert.False(t, (&statement{text: strings.Repeat("Rent is 850. ", 30), own: true}).note(), "long")
}

func TestQuestionsStateNothingToReplace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"What shall I call the shop?": true, "Morning! Is it open? And when?": false, "Is it open? And when?": true, "店名我想叫“半坡”，你觉得咋样？": true,
		"Looking at flights for May. From Leeds or York?": false, "Rent is 850.": false, "": false,
	} {
		assert.Equal(t, want, onlyAsks(text), text)
	}
}

func TestNoteNeedsScoreOrConfidence(t *testing.T) {
	t.Parallel()
	before := func(confidence, share float64, earlier string) bool {
		return Before(&backend.Succession{Confidence: confidence, Matter: earlier}, share)
	}
	assert.True(t, before(.4, .9, "Rent is 850."), "both fit the question")
	assert.False(t, before(.25, .2, "Rent is 850."), "the later one hardly does")
	assert.True(t, before(mostNoted, .2, "Rent is 850."), "it is likely enough")
	assert.False(t, before(.05, 1, "Rent is 850."), "it is unlikely")
	assert.Equal(t, before(.3, 1, "Rent is 850."), before(.3, 3, "Rent is 850."), "a greater score counts as the same")
	assert.True(t, before(.4, .5, "Rent is 850 a month."), "the note is about one thing")
	assert.False(t, before(.4, .5, "Hi! I run a bike shop with my sister Priya. Rent is 850."), "the question may be about another")
}
