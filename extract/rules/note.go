package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// noteKey reads the words before a colon as the name of an attribute.
func noteKey(words string) (complement, bool) {
	key := snake(words)
	if c, ok := complements()["notes"][key]; ok {
		return c, true
	}
	if wordLists()["attributes"][key] || strings.HasPrefix(key, "favorite_") || strings.HasPrefix(key, "favourite_") {
		c := complement{predicate: american.Replace(key), kind: extract.KindFact, functional: true}
		if strings.HasPrefix(c.predicate, "favorite") {
			c.kind = extract.KindPreference
		}
		return c, true
	}
	return complement{}, false
}

// note reads "Birthday: May 8" and "Allergies: nuts, milk" in a memory as facts about the speaker.
func (d *doc) note(s *language.Sentence) bool {
	colon := -1
	for i := s.Lo + 1; i < min(s.Hi-1, s.Lo+4); i++ {
		if d.IsPunct(s, i, ':') {
			colon = i
			break
		}
	}
	if colon < 0 || !d.in.Memory {
		return false
	}
	words := d.SpanText(s.Lo, colon)
	c, ok := noteKey(words)
	if !ok || c.predicate == "" {
		return false
	}
	base := extract.Fact{Subject: s.Speaker, Predicate: c.predicate, Kind: c.kind, Functional: c.functional, Confidence: confState}
	add := func(object string) {
		f := base
		f.Object = object
		f.Text = s.Speaker + "'s " + strings.ToLower(words) + ": " + object + "."
		d.addFact(s, f)
	}
	if c.functional {
		if object := d.object(colon+1, s.Hi); object != "" {
			add(object)
		}
		return true
	}
	d.eachObject(s, colon+1, s.Hi, add)
	return true
}
