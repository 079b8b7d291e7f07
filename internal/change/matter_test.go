package change

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestConcerns(t *testing.T) {
	t.Parallel()
	m := &Matter{Model: modelHash("m"), Later: []float32{0, -1, 0}, Part: []float32{1, 0, 0}, Rest: [][]float32{{0, 1, 0}, {0, .6, -.8}}}
	extra := m.encode()
	for _, c := range []struct {
		name     string
		extra    []byte
		model    string
		question []float32
		want     bool
	}{
		{"what no longer holds", extra, "m", []float32{.9, .1, 0}, true},
		{"the rest", extra, "m", []float32{.1, .9, 0}, false},
		{"another part of the rest", extra, "m", []float32{.1, 0, -.9}, false},
		{"as near to both", extra, "m", []float32{.5, .51, 0}, true},
		{"a little nearer to the rest, and near to nothing", extra, "m", []float32{.01, .025, 0}, false},
		{"what the later statement says", extra, "m", []float32{-.2, -.8, -.9}, true},
		{"another embedder", extra, "n", []float32{.1, .9, 0}, true},
		{"another length", extra, "m", []float32{.1, .9}, true},
		{"no question", extra, "m", nil, true},
		{"nothing known", nil, "m", []float32{0, 1, 0}, true},
		{"cut off", extra[:5], "m", []float32{0, 1, 0}, true},
		{"without a rest", extra[:len(extra)-14], "m", []float32{0, 1, 0}, true},
		{"too short", extra[:3], "m", []float32{0, 1, 0}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, Concerns(c.extra, c.model, c.question, .02), c.name)
		})
	}
}

// TestPartsOfAStatement checks that parts say something of their own, within a clause too.
func TestPartsOfAStatement(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"I live in Lisbon": {"I live in Lisbon"},
		"ok":               {"ok"},
		"":                 {},
		"The dentist moved to Porto street. Ok. My sister Clara teaches violin.": {"The dentist moved to Porto street. Ok.", "My sister Clara teaches violin."},
		"I'm vegetarian and allergic to hazelnuts":                               {"I'm vegetarian", "allergic to hazelnuts"},
		"I'm allergic to hazelnuts and almonds":                                  {"I'm allergic to hazelnuts and almonds"},
		"We've got two girls, Temi and Ayo":                                      {"We've got two girls, Temi and Ayo"},
		"Tim and Jo moved to Hull":                                               {"Tim and Jo moved to Hull"},
		"I live in Derby, because my work is there":                              {"I live in Derby, because my work is there"},
		"My boss is Harriet, I'm in Leeds, and I have a desk by the window":      {"My boss is Harriet", "I'm in Leeds", "I have a desk by the window"},
		"Ich wohne in Fürth und spiele Cello im Orchester":                       {"Ich wohne in Fürth", "spiele Cello im Orchester"},
	} {
		t.Run(text, func(t *testing.T) {
			s := &statement{text: text}
			got := []string{}
			for _, p := range s.parts() {
				got = append(got, p.of(text))
			}
			assert.Equal(t, want, got, text)
		})
	}
}

// TestSpanned checks which parts of a text hold some words of it.
func TestSpanned(t *testing.T) {
	t.Parallel()
	s := &statement{text: "I walk at six. My feet swell. Mum reckons it's the salt. We rent a flat."}
	parts := s.parts()
	for words, want := range map[string]span{"My feet swell. Mum reckons it's the salt": {1, 4}, "the salt": {3, 4}, "something else": {-1, -1}, "": {-1, -1}} {
		lo, hi := spanned(parts, s.text, words)
		assert.Equal(t, want, span{lo, hi}, words)
	}
}
