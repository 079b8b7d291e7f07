package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// stateEnd returns where the state that begins at token i ends: before the first "and" in a memory, since what follows may be a clause, as in
// "bald and wear a hat". Lists behind a preposition are whole: "bad at maths and physics".
func (d *doc) stateEnd(i, hi int) int {
	preposition := false
	for j := i + 1; j+1 < hi && d.in.Memory; j++ {
		switch {
		case d.WordKey(j) == "between":
			return d.untilAnd(i, hi) // "torn between rest and work"
		case d.Tokens[j].Is(language.Preposition):
			preposition = true
		case d.WordKey(j) == "and" && !(preposition && d.plainThing(j+1, hi)):
			return j
		}
	}
	return hi
}

// plainThing reports whether the tokens [i, hi) are one word that can be a thing and no state or deed.
func (d *doc) plainThing(i, hi int) bool {
	hi = d.withoutDateWords(i, hi)
	if hi-i != 1 || d.Tokens[i].Kind != language.KindWord {
		return false
	}
	t := &d.Tokens[i]
	return !t.Is(language.FunctionWord|language.Adjective|language.Adverb) && (t.Word().Verb == 0 || t.Word().Form&language.IngForm != 0)
}

// addJoinedQuality adds the quality behind "and" as a fact of its own, if it is one beyond doubt: "short and stocky", "half deaf and half blind".
func (d *doc) addJoinedQuality(s *language.Sentence, g *segment, f extract.Fact, i int) {
	hi := d.untilComma(i, g.hi)
	and := d.stateEnd(i, hi)
	if f.Predicate != "is" || f.Negated || f.Retracts || g.negated || g.ended || and >= hi || hi < g.hi && d.isSign(hi, ',') {
		return
	}
	lo := and + 1
	hi = d.withoutDateWords(lo, hi)
	same := func(a, b int) bool { return d.WordKey(a) == d.WordKey(b) }
	paired := and-i == 2 && hi-lo == 2 && same(i, lo) != same(i+1, lo+1)
	if paired || hi-lo == 1 && and-i == 1 && d.surelyQuality(lo) {
		f.Object = d.SpanText(lo, hi)
		d.addFact(s, f)
	}
}

// surelyQuality reports whether the word at token i names a quality that lasts, and can be no deed.
func (d *doc) surelyQuality(i int) bool {
	t, w := &d.Tokens[i], strings.ToLower(d.TokenText(i))
	if t.Kind != language.KindWord {
		return false
	}
	return wordLists()["qualities"][w] || t.Is(language.Demonym)
}

// ownSubject reports whether the element [lo, hi) of a list, whose first element begins at token first, has a subject and a preposition of its own:
// "allergic to nuts and my sister to cats".
func (d *doc) ownSubject(first, lo, hi int) bool {
	if first == 0 || lo >= hi || !d.Tokens[first-1].Is(language.Preposition) {
		return false
	}
	prep, t := d.WordKey(first-1), &d.Tokens[lo]
	person := t.Is(language.Possessive|language.Masculine|language.Feminine|language.ThirdPlural) || t.Capital()
	if !person && (prep != "to" || t.Word().Verb > 0 && t.Word().Form&language.IngForm != 0) {
		return false
	}
	for k := lo + 1; k < hi; k++ {
		if d.WordKey(k) == prep {
			return true
		}
	}
	return false
}
