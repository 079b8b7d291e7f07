package rules

import "github.com/contextmem/contextmem/internal/language"

// otherTongue reports whether a sentence is in another language than English, so that what looks like English words in it means something else:
// "Moja siostra mieszka, a brat pracuje", "I hab zwei Nächte geweint". In an English text only the text decides, since one sentence may be
// nothing but names.
func (d *doc) otherTongue(s *language.Sentence) bool {
	if at := (language.Span{Lo: s.Lo, Hi: s.Hi}); d.tongueOf != at {
		d.tongueOf, d.isForeign = at, d.foreignWords(s)
	}
	return d.isForeign
}

// wordsOfEnglish is how many words of an English sentence, without its names, have at least one that occurs in English alone.
const wordsOfEnglish = 6

// foreignWords is otherTongue without its cache. Most sentences are English by their words alone, which is cheaper than a guess.
func (d *doc) foreignWords(s *language.Sentence) bool {
	words, english := 0, 0
	for i := s.Lo; i < s.Hi; i++ {
		t := &d.Tokens[i]
		if t.Kind != language.KindWord || t.Capital() && i > s.Lo {
			continue
		}
		words++
		if n := t.End - t.Start; !t.Is(language.ForeignWord) && (n > 2 && t.Is(language.English) || n > 3 && (t.Word().Verb > 0 || t.Is(language.Month|language.KinNoun|language.Occupation|language.TimeUnit|language.NumberWord))) {
			english++
		}
	}
	if english*wordsOfEnglish >= words {
		return false
	}
	tongue := language.Guess(d.Text[d.Tokens[s.Lo].Start:d.Tokens[s.Hi-1].End])
	if tongue == "en" {
		return false
	}
	text := d.textTongue()
	return text != "en" && (text != "" || tongue != "")
}
