package rules

import (
	"strings"
	"time"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// dietAt returns the token of the word for a diet at token i, behind an article and words such as "strict": "a strict vegetarian". It reports
// false if the word describes something else: "a vegetarian cook".
func (d *doc) dietAt(s *language.Sentence, i, hi int) (int, bool) {
	if i < hi && d.IsWord(s, i, "a") || d.IsWord(s, i, "an") {
		i++
	}
	for i < hi && wordLists()["keen-on-diets"][d.WordKey(i)] {
		i++
	}
	if i >= hi {
		return 0, false
	}
	w := d.WordKey(i)
	if c, ok := beComplement(w); !ok || c.predicate != "diet" {
		return 0, false
	}
	if i+1 < hi && d.Tokens[i+1].Kind == language.KindClitic {
		return 0, false // "a vegetarian's daughter"
	}
	return i, i+1 >= hi || d.timeAfter(s, i+1, hi) || d.endsState(s, &segment{comp: i, hi: hi}, w)
}

// timeAfter reports whether a time begins at token i: "last month", "two years ago", "a fortnight ago".
func (d *doc) timeAfter(s *language.Sentence, i, hi int) bool {
	for _, h := range d.datesOf(s) {
		if h.Lo == i {
			return true
		}
	}
	for j := i; j < min(hi, i+4); j++ {
		if d.IsWord(s, j, "ago") {
			return true
		}
	}
	return i < hi && d.IsOneOf(s, i, "these", "nowadays", "now")
}

// dietBegun reads "I've gone fully vegan" and "I became a vegetarian".
func (d *doc) dietBegun(a *action) bool {
	if !d.in.Memory || a.g.negated || a.g.progress || a.g.we || !a.g.past && !a.g.perfect {
		return false
	}
	i, ok := d.dietAt(a.s, d.afterAdverbs(a.next, a.g.hi), a.g.hi)
	if !ok || d.leftOpenDiet(a.s, i+1, a.g.hi) {
		return false
	}
	d.addDiet(a.s, a.f, i)
	return true
}

// relativeDiet reads "my wife went vegan" and "my son has gone veggie", whose subject ends at token nounHi.
func (d *doc) relativeDiet(s *language.Sentence, g *segment, f extract.Fact, nounHi int) bool {
	if !d.in.Memory || !d.kinBefore(g.lo, nounHi) || g.negated || g.progress || g.be {
		return false
	}
	switch d.verbName(g.verb) {
	case "go", "become", "turn":
	default:
		return false
	}
	i, ok := d.dietAt(s, d.afterAdverbs(g.verb+1, g.hi), g.hi)
	if !ok || !g.past && !g.perfect || d.leftOpenDiet(s, i+1, g.hi) {
		return false
	}
	f.Subject = d.relative(s, g.lo, nounHi)
	f.Confidence *= confOther / confState
	d.addDiet(s, f, i)
	return true
}

// namedDiet reads "Tom went vegan last month" and "Tom has gone veggie" behind a name.
func (d *doc) namedDiet(s *language.Sentence, h *language.Name) bool {
	i := h.Hi
	perfect := i < s.Hi && d.Tokens[i].Is(language.FormOfHave) || d.IsWord(s, i, "'s")
	if perfect {
		i++
	}
	i = d.afterAdverbs(i, s.Hi)
	if i >= s.Hi || !(d.IsOneOf(s, i, "went", "became", "turned") || perfect && d.IsOneOf(s, i, "gone", "become", "turned")) {
		return false
	}
	hi := s.Hi
	c := d.ClauseOf(i)
	if c != nil {
		hi = min(hi, c.Hi)
		if c.Mode == extract.ModeHypothetical || c.Mode == extract.ModeQuestion || c.Mode == extract.ModeQuote || c.Mode == extract.ModeFiction {
			return false
		}
	}
	j, ok := d.dietAt(s, d.afterAdverbs(i+1, hi), hi)
	if !ok || d.leftOpenDiet(s, j+1, hi) {
		return false
	}
	d.at = i
	if c != nil && c.Mode == extract.ModePast {
		d.at = -1 // what began lasts
	}
	d.addDiet(s, extract.Fact{Subject: d.SpanText(h.Lo, h.Hi), Confidence: confOther, Text: capitalised(d.SpanText(h.Lo, hi)) + "."}, j)
	return true
}

// sentenceEndsAt reports whether nothing that a word describes follows it: a sign, a joining word or nothing.
func (d *doc) sentenceEndsAt(i, hi int) bool {
	return i+1 >= hi || d.Tokens[i+1].Kind != language.KindWord || d.Tokens[i+1].WordIs(language.Preposition|language.Conjunction|language.Adverb)
}

// addDiet adds the diet at token i, which lasts.
func (d *doc) addDiet(s *language.Sentence, f extract.Fact, i int) {
	c, _ := beComplement(d.WordKey(i))
	f.Kind, f.Predicate, f.Object, f.Functional, f.ValidTo = c.kind, c.predicate, c.object, c.functional, time.Time{}
	d.addFact(s, f)
}

// leftOpenDiet reports whether words say that a diet was only for a time: "went vegan for Lent", "for a month".
func (d *doc) leftOpenDiet(s *language.Sentence, i, hi int) bool {
	return i < hi && (d.IsOneOf(s, i, "once", "during", "when", "while", "again") || d.IsWord(s, i, "for") && !d.IsWord(s, i+1, "good"))
}

// drinksAgain reads "I'm drinking again" and "started drinking again" as drinking alcohol, where nothing else is named.
func (d *doc) drinksAgain(a *action) bool {
	i := a.verb
	switch a.name {
	case "start", "begin":
		i++
	}
	if !d.in.Memory || a.g.negated || a.g.we || !d.IsWord(a.s, i, "drinking") || !d.IsWord(a.s, i+1, "again") {
		return false
	}
	if j := i + 2; j < a.g.hi && d.Tokens[j].Kind == language.KindWord && !d.IsOneOf(a.s, j, "since", "now", "after", "these", "most", "and", "but", "because", "regularly") && !d.timeAfter(a.s, j, a.g.hi) &&
		!(d.IsOneOf(a.s, j, "at", "in") && d.timeAfter(a.s, j+1, a.g.hi)) || j < a.g.hi && d.IsOneOf(a.s, j, "today", "tonight", "tomorrow") {
		return true // "drinking again from a cup"
	}
	f := a.f
	f.Predicate, f.Object, f.Kind, f.ValidTo = "drinks", "alcohol", extract.KindPreference, time.Time{}
	d.addFact(a.s, f)
	return true
}

// isDiet reports whether a word is one for a diet.
func isDiet(w string) bool {
	c, ok := beComplement(strings.ToLower(w))
	return ok && c.predicate == "diet"
}
