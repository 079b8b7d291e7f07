package rules

import (
	"sort"

	"github.com/contextmem/contextmem/internal/language"
)

// phraseSubject is whom a phrase in the third person is about.
type phraseSubject struct {
	name     language.Name // the words that name the subject
	relative string        // "Ana's hermana", if the name is not known
	hi       int           // the token behind the subject, or behind what was last said about it; 0 if nobody is known
}

// text returns the name of a subject.
func (h *phraseSubject) text(d *doc) string {
	if h.relative != "" {
		return h.relative
	}
	return d.SpanText(h.name.Lo, h.name.Hi)
}

// phraseSubjectAt returns whom the phrase at token i is about: a name before it, with or without "who" between, a relative of the speaker
// ("mi hermana trabaja"), or whom the last statement was about ("mi hermana se llama Clara y vive").
func (d *doc) phraseSubjectAt(s *language.Sentence, l *phrases, f *tableForm, i int, about phraseSubject) phraseSubject {
	before := i
	if d.checked() {
		if i-1 > s.Lo && l.who[d.WordKey(i-1)] {
			if before--; d.IsPunct(s, before-1, ',') {
				before--
			}
		}
		if about.hi > 0 && about.hi == i-1 && d.joinsAt(l, i-1) {
			return about
		}
	}
	if about.hi > 0 && about.hi == before {
		return about
	}
	if h := d.nameBefore(s, before); h != nil && !(d.checked() && d.noSubject(s, l, h)) {
		return phraseSubject{name: *h, hi: before}
	}
	if k := before - 1; d.checked() && before == i && s.Speaker != "" && k > s.Lo && f.predicate != "wants" && l.kin[d.WordKey(k)] != "" && l.mine[d.WordKey(k-1)] && !d.belongs(s, k-1) {
		return phraseSubject{name: language.Name{Lo: k - 1, Hi: before}, relative: s.Speaker + "'s " + d.TokenText(k), hi: before}
	}
	return phraseSubject{}
}

// belongs reports whether what begins at token i is only whose something is: "el perro de Ana vive en casa", "der Bruder von Ana".
func (d *doc) belongs(s *language.Sentence, i int) bool {
	return i > s.Lo && wordLists()["phrase-whose"][d.WordKey(i-1)]
}

// noSubject reports whether what looks like a name is none of a person: "Wer wohnt", "Brat pracuje", "Hund von Ana".
func (d *doc) noSubject(s *language.Sentence, l *phrases, h *language.Name) bool {
	first := d.WordKey(h.Lo)
	if h.Hi-h.Lo == 1 {
		return wordLists()["phrase-no-subject"][first] || l.he[first] || h.Lo == s.Lo && (l.adverbs[first] || l.things[first] || len(l.things) > 0 && l.roles[first]) || h.Lo == s.Lo && l.kin[first] != "" || d.belongs(s, h.Lo)
	}
	return d.belongs(s, h.Lo) || l.kin[first] != "" && wordLists()["phrase-whose"][d.WordKey(h.Lo+1)]
}

// nameBefore returns the name that ends right before token i. It skips the names of earlier sentences.
func (d *doc) nameBefore(s *language.Sentence, i int) *language.Name {
	names := d.rel.names
	for k := sort.Search(len(names), func(n int) bool { return names[n].Lo >= s.Lo }); k < len(names) && names[k].Lo < i; k++ {
		if h := &names[k]; h.Hi == i && !h.Part {
			return h
		}
	}
	return nil
}
