package rules

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/contextmem/contextmem/extract"
)

// TestEveryPhraseIsReached reads a sentence of each phrase of the tables, and checks that the phrase is found in it: none is hidden by another one,
// said twice, or made of words that texts are not cut into.
func TestEveryPhraseIsReached(t *testing.T) {
	t.Parallel()
	for name, l := range phraseTables() {
		for person, table := range map[string]map[string][]*phrase{"first": l.first, "third": l.third} {
			for _, list := range table {
				for _, p := range list {
					text := phraseSentence(l, p)
					found := phraseFound(l, table, text)
					assert.Same(t, p, found, "%s, %s person: %q is not reached, %+v", name, person, text, found)
				}
			}
		}
	}
	for name, l := range map[string]*scriptLanguage{"chinese": chinese(), "japanese": japanese()} {
		for person, list := range map[string][]*scriptPhrase{"first": l.first, "third": l.third} {
			for _, p := range list {
				text, found := scriptSentenceOf(l, p), (*scriptPhrase)(nil)
				d := newDoc(&extract.Input{Text: text, Speaker: "Alex", Memory: true})
				for _, f := range list {
					if o, _, ok := d.scriptObject(l, f.before, f.after, piece{0, len(text)}); ok && d.scriptRole(l, f.form, o) {
						found = f
						break
					}
				}
				assert.Same(t, p, found, "%s, %s person: %q is not reached, %+v", name, person, text, found)
			}
		}
	}
}

// phraseSentence returns a sentence that begins with a phrase and has an object that the phrase wants.
func phraseSentence(l *phrases, p *phrase) string {
	var words []string
	add := func(list []string) {
		for _, w := range list {
			switch w {
			case "~":
			case "*":
				words = append(words, "Zorb")
			case "{k}":
				words = append(words, firstOf(l.kin))
			default:
				words = append(words, w)
			}
		}
	}
	if add(p.before); l.exact {
		words = words[:0]
		add(p.said)
	}
	switch {
	case p.form.bare:
		words = append(words, "41")
	case p.form.role:
		words = append(words, firstOf(l.roles))
	default:
		words = append(words, "Zorblax")
	}
	add(p.after)
	return strings.Join(words, " ")
}

func firstOf[V any](m map[string]V) string {
	var all []string
	for k := range m {
		all = append(all, k)
	}
	return slices.Min(all)
}

// phraseFound returns the phrase that is read at the beginning of a text.
func phraseFound(l *phrases, table map[string][]*phrase, text string) *phrase {
	d := newDoc(&extract.Input{Text: text, Speaker: "Alex", Memory: true})
	d.readItem()
	if len(d.Sentences) == 0 {
		return nil
	}
	p, _, _, _ := d.formAt(&d.Sentences[0], l, table, d.Sentences[0].Lo)
	return p
}

// scriptSentenceOf is phraseSentence for Chinese and Japanese.
func scriptSentenceOf(l *scriptLanguage, p *scriptPhrase) string {
	object := "山田町"
	if p.form.role {
		object = l.roles[0]
	}
	before := p.before
	if strings.Contains(before, "{k}") {
		before = strings.ReplaceAll(before, "{k}", l.kinWords[0][0])
	}
	return before + object + p.after
}
