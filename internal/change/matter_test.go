package change

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestConcerns(t *testing.T) {
	t.Parallel()
	m := &Matter{Model: modelHash("m"), Part: []float32{1, 0, 0}, Rest: [][]float32{{0, 1, 0}, {0, .6, -.8}}}
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
		{"another embedder", extra, "n", []float32{.1, .9, 0}, true},
		{"another length", extra, "m", []float32{.1, .9}, true},
		{"no question", extra, "m", nil, true},
		{"nothing known", nil, "m", []float32{0, 1, 0}, true},
		{"cut off", extra[:5], "m", []float32{0, 1, 0}, true},
		{"too short", extra[:3], "m", []float32{0, 1, 0}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, Concerns(c.extra, c.model, c.question, .02), c.name)
		})
	}
}

func TestPartsOfAStatement(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"I live in Lisbon": {"I live in Lisbon"},
		"ok":               {"ok"},
		"The dentist moved to Porto street. Ok. My sister Clara teaches violin.": {"The dentist moved to Porto street.", "Ok. My sister Clara teaches violin."},
	} {
		t.Run(text, func(t *testing.T) {
			s := &statement{text: text}
			assert.Equal(t, want, s.parts(), text)
		})
	}
}
