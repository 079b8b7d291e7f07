package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// openSegment reads the subject and the verb group of a segment.
func (d *doc) openSegment(s *language.Sentence, g *segment) bool {
	t := &d.Tokens[g.lo]
	i := g.lo + 1
	switch {
	case t.Kind != language.KindWord:
		return false
	case t.Is(language.FirstPerson|language.FirstPlural) && t.Is(language.Possessive):
		g.my = true
		return d.openMy(s, g)
	case t.Is(language.FirstPerson) && !d.IsWord(s, g.lo, "me") && !d.IsWord(s, g.lo, "myself"):
		if d.IsWord(s, g.lo, "im") || d.IsWord(s, g.lo, "i'm") {
			i = g.lo // subject and verb are one word
		}
	case t.Is(language.FirstPlural) && !d.IsWord(s, g.lo, "us"):
		g.we = true
	case d.IsWord(s, g.lo, "the") && d.IsWord(s, g.lo+1, "user"):
		g.third = true
		i++
	case d.IsWord(s, g.lo, "user"), language.FoldEqual(d.TokenText(g.lo), s.Speaker):
		g.third = true
	case t.Word().Verb > 0 && t.Word().Form == language.ThirdForm && d.in.Memory && !d.saysI() && d.actsOn(g) && !d.IsWord(s, g.lo+1, "to") && !d.behindOther(s) && !d.asksBare(g):
		g.bare, g.verb, g.comp = true, g.lo, g.lo+1
		return true
	case d.in.Memory && g.lo == d.skipOpeners(s, s.Lo) && d.barePast(s, g):
		return true
	case d.complementWord(s, g.lo) && d.in.Memory && d.standsAlone(g) && !(t.Word().Verb > 0 && d.behindOther(s)):
		g.bare, g.be, g.verb, g.comp = true, true, g.lo, g.lo
		return true
	default:
		return false
	}
	return d.openVerb(s, g, i)
}

// barePast reads a note that begins with what the writer did: "Started at Acme", "just moved to Oslo".
func (d *doc) barePast(s *language.Sentence, g *segment) bool {
	i := g.lo
	if d.IsWord(s, i, "just") || d.IsWord(s, i, "finally") || d.IsWord(s, i, "recently") {
		i++
	}
	if i+1 >= g.hi {
		return false
	}
	t := &d.Tokens[i]
	if n := &d.Tokens[i+1]; n.Kind == language.KindPunct && n.Sign != '"' || d.IsWord(s, i+1, "by") || d.IsPunct(s, i+2, ':') || n.Capital() && (d.IsWord(s, i, "called") || d.IsWord(s, i, "named")) {
		return false // "Sent, ten minutes to spare", "Checked by Lujan", "Called Mizzle"
	}
	if c := d.ClauseOf(i); c == nil || c.About != extract.AboutSpeaker || t.Kind != language.KindWord || t.Word().Verb == 0 || t.Word().Form&language.PastForm == 0 || t.Word().Form&language.BaseForm != 0 || t.Is(language.FormOfBe|language.FormOfHave|language.FormOfDo) || d.IsWord(s, i+1, "to") || d.participleAt(i+1, g.hi) {
		return false
	}
	if d.behindOther(s) {
		return false
	}
	g.bare, g.past, g.verb, g.comp = true, true, i, i+1
	return true
}

// complementWord reports whether a note may begin with the word at i without a subject: "Allergic to nuts", "Vegetarian".
func (d *doc) complementWord(s *language.Sentence, i int) bool {
	_, ok := beComplement(strings.ToLower(d.TokenText(i)))
	return ok
}

// openVerb reads auxiliaries from token i to the main verb. It reports whether the segment has a verb, or a form of "be" with a complement.
func (d *doc) openVerb(s *language.Sentence, g *segment, i int) bool {
	for i < g.hi {
		n := d.auxiliaryAt(s, g, i)
		if n == 0 {
			break
		}
		i += n
	}
	if i < g.hi && d.mainVerb(g, i) {
		return true
	}
	g.comp = i
	return g.be && i < g.hi
}

// mainVerb makes the word at token i the verb of a segment, if it can be. A participle after "be" is a state and no verb.
func (d *doc) mainVerb(g *segment, i int) bool {
	t := &d.Tokens[i]
	if t.Kind != language.KindWord {
		return false
	}
	w := strings.ToLower(d.TokenText(i))
	switch form := t.Word().Form; {
	case t.Word().Verb > 0 && !(g.be && form&(language.IngForm|language.Participle) == 0):
		if g.be && form&language.IngForm == 0 {
			return false
		}
		g.progress, g.be = g.progress || g.be, false
		g.past = g.past || g.perfect || t.OnlyPast()
	case !g.be && t.Shape == language.LowerCase && !t.Is(language.FunctionWord) && w != "tho" && !(d.in.Memory && t.Is(language.Adjective)): // a verb that is not in the tables
		g.past = g.past || strings.HasSuffix(w, "ed")
	default:
		return false
	}
	g.verb, g.comp = i, i+1
	return true
}

// auxiliaryAt notes in a segment what the auxiliary or adverb at token i says. It returns its number of words, 0 if there is none.
func (d *doc) auxiliaryAt(s *language.Sentence, g *segment, i int) int {
	t := &d.Tokens[i]
	if t.Kind == language.KindPunct || t.Kind == language.KindNumber {
		return 0
	}
	w := strings.ToLower(d.TokenText(i))
	if n := d.auxiliaryWord(s, g, i, w); n > 0 {
		return n
	}
	switch {
	case t.Is(language.Future):
		g.future = true
	case t.Is(language.Modal):
		g.hyp = g.hyp || t.Is(language.Hypothetical)
		g.may = g.may || !t.Is(language.Negation)
	case t.Is(language.FormOfDo) && d.auxiliaryDo(g, i, w):
		g.past = g.past || w == "did" || w == "didn't" || w == "didnt"
	case t.Is(language.FormOfHave) && d.auxiliary(s, i) && !d.IsWord(s, i+1, "to"):
		g.perfect = true
	case t.Is(language.FormOfBe) && !(t.Kind == language.KindClitic && w == "'s"):
		g.be, g.verb = true, i
		g.past = g.past || w == "was" || w == "were"
	case t.Is(language.Negation), t.Is(language.Adverb) && t.Word().Verb == 0, t.Word().Verb == 0 && t.Word().Flags == 0 && len(w) > 5 && strings.HasSuffix(w, "ly"):
		g.hyp = g.hyp || t.Is(language.Hypothetical)
	default:
		return 0
	}
	g.negated = g.negated || t.Is(language.Negation)
	return 1
}

// auxiliaryWord is auxiliaryAt for words w whose flags do not tell their meaning.
func (d *doc) auxiliaryWord(s *language.Sentence, g *segment, i int, w string) int {
	switch w {
	case "used":
		if d.IsWord(s, i+1, "to") {
			g.ended, g.past = true, true
			return 2
		}
	case "no":
		if d.IsWord(s, i+1, "longer") {
			g.ended = true
			return 2
		}
	case "gotta", "wanna":
		g.hyp = true
		return 1
	case "sort", "kind":
		if d.in.Memory && d.IsWord(s, i+1, "of") && d.verbWithin(g, i+2) {
			return 2 // "I sort of miss her"
		}
	case "'d", "would":
		d.would(s, g, i, w)
		return 1
	case "gonna":
		if g.be {
			g.future, g.be = true, false
			return 1
		}
	case "going":
		if g.be && d.IsWord(s, i+1, "to") && d.verbWithin(g, i+2) {
			g.future, g.be = true, false
			return 2
		}
	}
	return 0
}

// would notes whether "would" or "'d" at token i makes a segment a wish, the past or a supposition.
func (d *doc) would(s *language.Sentence, g *segment, i int, w string) {
	switch {
	case d.IsOneOf(s, i+1, "like", "love", "rather", "prefer"):
		g.wish = true
	case w == "'d" && i+1 < g.hi && d.Tokens[i+1].Word().Form&language.Participle != 0 && d.Tokens[i+1].Word().Form&language.BaseForm == 0:
		g.past = true
	default:
		g.hyp = true
	}
}

// verbWithin reports whether token i is in a segment and can be a verb.
func (d *doc) verbWithin(g *segment, i int) bool { return i < g.hi && d.Tokens[i].Word().Verb > 0 }

// auxiliaryDo reports whether the form w of "do" at token i has a verb of its own after it, and no object: not "I do nights".
func (d *doc) auxiliaryDo(g *segment, i int, w string) bool {
	if i+1 >= g.hi || !d.leadsToVerb(i+1) || d.doesThing(g, i) || d.didThing(i, w) {
		return false
	}
	next := &d.Tokens[i+1]
	things := (w == "do" || w == "does") && next.Word().Verb == 0 && plainPlural(d.TokenText(i+1)) && !next.Is(language.Adverb|language.Negation)
	return !things
}

// leadsToVerb reports whether a verb follows at i, possibly after adverbs.
func (d *doc) leadsToVerb(i int) bool {
	for j := i; j < len(d.Tokens) && j < i+4; j++ {
		t := &d.Tokens[j]
		if t.Kind == language.KindWord && t.Word().Verb > 0 {
			return true
		}
		if !t.Is(language.Adverb | language.Negation) {
			return t.Kind == language.KindWord && !t.Is(language.FunctionWord)
		}
	}
	return false
}

func (d *doc) isName(i int) bool { return d.Tokens[i].Shape != language.LowerCase }
