package rules

import (
	"strings"

	"github.com/contextmem/contextmem/internal/language"
)

// othersDeed reports whether a phrase in the first person at token i may be said of somebody else. In Russian a verb in the past does not tell the
// person: "переехал в Казань" is said of the speaker only if "я" or "мы" stands before it, or nobody.
func (d *doc) othersDeed(s *language.Sentence, l *phrases, p *phrase, i int) bool {
	if len(l.we) == 0 || !d.checked() {
		return false
	}
	past := false
	for _, w := range p.before {
		if l.we[w] {
			return false
		}
		past = past || strings.HasSuffix(w, "л") || strings.HasSuffix(w, "ла") || strings.HasSuffix(w, "ли")
	}
	if !past {
		return false
	}
	for j := i - 1; j >= s.Lo; j-- {
		switch t := &d.Tokens[j]; {
		case l.we[d.WordKey(j)]:
			return false
		case t.Kind == language.KindWord && !t.Used && d.candidate(s, l, j, i):
			return true
		}
	}
	return d.toldBefore(s, l)
}

// candidate reports whether the word at token j, before the verb at token i, may be the subject: it stands right before the verb, which adverbs
// leave open, or is a pronoun, a word of family or a name.
func (d *doc) candidate(s *language.Sentence, l *phrases, j, i int) bool {
	k := d.WordKey(j)
	switch {
	case j > s.Lo && (l.preps[d.WordKey(j-1)] || l.we[d.WordKey(j-1)]), l.adverbs[k], l.preps[k]:
		return false // "в мае", "я Катя"
	case l.he[k], l.kin[k] != "", d.Tokens[j].Capital() && (j > s.Lo || d.nameBefore(s, j+1) != nil):
		return true
	case j == i-1:
		return !l.joins[k] && !l.cuts[k] && !(j > s.Lo+1 && l.preps[d.WordKey(j-2)])
	}
	return false
}

// toldBefore reports whether the sentence before names somebody else and not the speaker: "Звонил Паша. Переехал в Выборг".
func (d *doc) toldBefore(s *language.Sentence, l *phrases) bool {
	other := false
	for j, n := s.Lo-1, 0; j >= 0 && n < 16; j, n = j-1, n+1 {
		t, k := &d.Tokens[j], d.WordKey(j)
		switch {
		case t.Kind == language.KindPunct && n > 0 && (t.Sign == '.' || t.Sign == '!' || t.Sign == '?'):
			return other
		case l.we[k] || l.mine[k]:
			return false
		case t.Kind == language.KindWord:
			other = other || l.he[k] || l.kin[k] != "" || t.Capital() && j > 0 && d.Tokens[j-1].Kind == language.KindWord && !l.preps[d.WordKey(j-1)]
		}
	}
	return other
}
