package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// namedStates reads what somebody else with a name cannot eat or does not eat: "Elsie's allergic to kiwi", "Tom is vegan". Relations do not say
// it, since what follows is no name.
func (d *doc) namedStates(s *language.Sentence) {
	if !d.in.Memory || s.Question {
		return
	}
	names := d.rel.names
	for k := range names {
		h := &names[k]
		if h.Lo >= s.Hi {
			return
		}
		if h.Lo < s.Lo || h.Part || h.Type == extract.TypeLocation || h.Type == extract.TypeOrganization || !d.beginsStatement(s, h.Lo) || strings.EqualFold(d.SpanText(h.Lo, h.Hi), s.Speaker) {
			continue
		}
		if d.namedDiet(s, h) {
			continue
		}
		be := h.Hi
		if be+1 >= s.Hi || !d.Tokens[be].Is(language.FormOfBe) || d.IsOneOf(s, be, "was", "were", "wasn't", "weren't") {
			continue
		}
		g := segment{lo: h.Lo, verb: be, hi: s.Hi}
		d.at = be
		if c := d.ClauseOf(be); c != nil {
			if g.hi = min(g.hi, c.Hi); c.Mode == extract.ModePast {
				d.at = -1 // "Elsie's allergic to kiwi, we found out": the verb is "'s"
			}
		}
		if d.openBe(&g, be); g.negated || g.comp >= g.hi {
			continue
		}
		if at, ok := d.dietAt(s, g.comp, g.hi); ok {
			g.comp = at
		}
		switch w := d.WordKey(g.comp); w {
		case "allergic", "vegan", "vegetarian", "veggie", "coeliac", "celiac", "diabetic", "pescatarian":
			c, ok := beComplement(w)
			if !ok {
				continue
			}
			if !d.endsState(s, &g, w) {
				continue
			}
			f := extract.Fact{Subject: d.SpanText(h.Lo, h.Hi), Confidence: confOther, Text: capitalised(d.SpanText(h.Lo, g.hi)) + "."}
			d.complementAndJoined(s, &g, f, &c, g.comp)
		}
	}
}

// endsState reports whether a state that the word of a segment names ends with it, and an allergy says to what: "London is vegan friendly", "vegan on
// Mondays", "Tom's allergic reaction". A segment with an allergy ends at a comma that no list goes beyond.
func (d *doc) endsState(s *language.Sentence, g *segment, word string) bool {
	next := g.comp + 1
	if word == "allergic" {
		if g.hi = d.listEnd(next, g.hi); next+1 >= g.hi {
			return false
		}
		return d.IsWord(s, next, "to")
	}
	if next >= s.Hi {
		return true
	}
	if d.Tokens[next].Kind != language.KindWord {
		return !d.IsWord(s, next+1, "not")
	}
	return d.Tokens[next].WordIs(language.Preposition|language.Conjunction|language.Adverb) && !d.IsOneOf(s, next, "on", "except", "until", "apart", "outside", "before", "after")
}

// beginsStatement reports whether a statement begins at token i: at the start of a sentence or behind a sign or a joining word.
func (d *doc) beginsStatement(s *language.Sentence, i int) bool {
	if i == s.Lo {
		return true
	}
	p := &d.Tokens[i-1]
	return p.Kind == language.KindPunct && (p.Sign == ',' || p.Sign == ';' || p.Sign == '-') || d.IsOneOf(s, i-1, "and", "because", "so") || d.IsWord(s, i-1, "but") && i-2 > s.Lo && d.Tokens[i-2].Kind == language.KindPunct
}
