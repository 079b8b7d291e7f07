package language

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/contextmem/contextmem/extract"
)

func TestClauses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"I moved to Oslo and my brother stayed in Graz.":  {"past speaker I moved to Oslo", "past other and my brother stayed in Graz"},
		"I like tea, coffee and cake.":                    {"asserted speaker I like tea, coffee and cake"},
		"If I lived in Rome I'd never cook.":              {"hypothetical speaker If I lived in Rome", "hypothetical speaker I'd never cook"},
		"My boss thinks I'm a spy, but I'm not.":          {"asserted other My boss thinks", "quote speaker I'm a spy", "negated speaker but I'm not"},
		"\"I hate Mondays\", she said.":                   {"quote speaker I hate Mondays", "past other she said"},
		"The trip to Rome is off.":                        {"cancelled world The trip to Rome is off"},
		"Forget what I said about the car.":               {"cancelled speaker Forget what I said about the car"},
		"I quit my job and we're moving to Bonn in June.": {"ended speaker I quit my job", "plan speaker and we're moving to Bonn in June"},
		"Do I live in the EU?":                            {"question speaker Do I live in the EU?"},
		"Always answer in French.":                        {"instruction assistant Always answer in French"},
		"I wish I had a dog.":                             {"wish speaker I wish I had a dog"},
		"In my novel I'm a smuggler.":                     {"fiction speaker In my novel I'm a smuggler"},
		"haha I'm allergic to Mondays":                    {"joke speaker haha I'm allergic to Mondays"},
		"I don't smoke.":                                  {"negated speaker I don't smoke"},
		"I used to live in Ghent.":                        {"ended speaker I used to live in Ghent"},
		"":                                                nil,
	} {
		t.Run(text, func(t *testing.T) {
			var got []string
			for _, c := range Clauses(text, ClauseOptions{}) {
				got = append(got, string(c.Mode)+" "+string(c.About)+" "+c.Text)
				assert.Equal(t, text[c.Start:c.End], c.Text)
			}
			assert.Equal(t, want, got, text)
		})
	}
}

func TestClausesOfTurns(t *testing.T) {
	t.Parallel()
	var about []extract.About
	for _, c := range Clauses("user: I like tea\nassistant: I like coffee and you like tea", ClauseOptions{Pairs: true}) {
		about = append(about, c.About)
	}
	assert.Equal(t, []extract.About{extract.AboutSpeaker, extract.AboutAssistant, extract.AboutSpeaker}, about)
}

// FuzzClauses holds that clauses are in order, do not overlap and have a mode.
func FuzzClauses(f *testing.F) {
	for _, text := range []string{"", "I moved; \"he said 'no'\" - (if I could) lol", "user: a\nassistant: b", "\xff\"", "东京。我住在北京"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for _, c := range Clauses(text, ClauseOptions{Pairs: true}) {
			if c.Start < last || c.End <= c.Start || c.Mode == "" || c.About == "" || c.Text != text[c.Start:c.End] {
				t.Fatalf("clause %+v behind %d", c, last)
			}
			last = c.End
		}
	})
}

// TestHasVerb asks for ranges in order, as cutSentence does, and out of order, and compares with a look at each token.
func TestHasVerb(t *testing.T) {
	t.Parallel()
	d := newDocument("kettle harbour window garden market bridge that my brother had bought, and the old boat there. I moved to Oslo when he left.", time.Time{})
	defer d.free()
	d.SplitText()
	d.languages()
	d.ReadClauses()
	with, without := 0, 0
	for k := range d.Sentences {
		s := &d.Sentences[k]
		check := func(lo, hi int) {
			want := lo < hi && d.Tokens[lo].Word().Verb > 0
			for i := lo; i < hi; i++ {
				want = want || d.isFiniteVerb(s, i)
			}
			if want {
				with++
			} else {
				without++
			}
			assert.Equal(t, want, d.hasVerb(s, lo, hi), "%d to %d", lo, hi)
		}
		for lo := s.Lo; lo < s.Hi; lo++ {
			for hi := lo; hi <= s.Hi; hi++ {
				check(lo, hi)
			}
			for hi := s.Hi; hi >= lo; hi-- {
				check(lo, hi)
				check(s.Lo, hi)
			}
		}
	}
	assert.Greater(t, with, 100)
	assert.Greater(t, without, 100)
}

// TestCodeSigns: looksLikeCode finds each mark in a text, so that each has one of codeSigns.
func TestCodeSigns(t *testing.T) {
	t.Parallel()
	for _, mark := range codeMarks {
		d := newDocument("a b", time.Time{})
		d.SplitText()
		d.Text = "a" + mark + "):b"
		if mark != "def " {
			d.Text = "a" + mark + "b"
		}
		d.Tokens[len(d.Tokens)-1].End = int32(len(d.Text))
		assert.True(t, d.looksLikeCode(&d.Sentences[0]), mark)
		d.free()
	}
}
