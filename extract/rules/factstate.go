package rules

import (
	"strings"
	"time"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// segmentFacts adds the facts of one segment.
func (d *doc) segmentFacts(s *language.Sentence, g *segment, sts []statement) {
	if g.hyp || g.verb < 0 {
		return
	}
	if d.in.Memory && g.may && !g.negated && !g.future && !g.wish && !d.skill(g) {
		return // "I can have bananas"
	}
	d.at = g.verb
	if c := d.ClauseOf(g.verb); c != nil {
		if c.Report && !c.Mode.Believable() {
			return
		}
		g.arranged = c.Mode == extract.ModePlan
		if hi := max(min(g.hi, c.Hi), min(g.hi, g.comp)); !d.onlySigns(hi, g.hi) {
			g.hi = hi
		}
	}
	for i := g.comp; g.negated && i < g.hi; i++ {
		g.ended = g.ended || d.IsWord(s, i, "anymore") || d.IsWord(s, i, "any") && (d.IsWord(s, i+1, "more") || d.IsWord(s, i+1, "longer"))
	}
	base := extract.Fact{Subject: s.Speaker, Confidence: confState, Retracts: g.ended, Negated: g.negated && !g.ended}
	if g.we {
		base.Confidence *= factorWe
	}
	c := clause{verbTok: g.verb, lo: g.lo, hi: g.comp, end: g.hi, past: g.past, perfect: g.perfect, ended: g.ended}
	base.ValidFrom, base.ValidTo, base.Precision = d.validity(s, d.datesOf(s), &statement{clause: &c})
	base.Text = d.restate(s, g, g.hi)
	switch {
	case base.Text == "":
	case g.my:
		d.myFact(s, g, base, sts)
	case g.be:
		d.stateFact(s, g, base, sts)
	default:
		d.verbFact(s, g, base, sts)
	}
}

// onlySigns reports whether the tokens [lo, hi) contain no words.
func (d *doc) onlySigns(lo, hi int) bool {
	for i := lo; i < hi; i++ {
		if d.Tokens[i].Kind != language.KindPunct {
			return false
		}
	}
	return true
}

// listEnd returns the end, at most hi, of an object that begins at lo. It ends at a comma, unless a list continues to "and" or "or".
func (d *doc) listEnd(lo, hi int) int {
	comma := -1
	for i := lo; i < hi; i++ {
		t := &d.Tokens[i]
		switch {
		case t.Kind == language.KindPunct && t.Sign == ',' && comma < 0:
			comma = i
		case comma >= 0 && t.Kind == language.KindWord && (language.FoldEqual(d.TokenText(i), "and") || language.FoldEqual(d.TokenText(i), "or")):
			return hi
		}
	}
	if comma > lo && !(d.Tokens[comma-1].Capital() && comma+1 < hi && d.Tokens[comma+1].Capital()) {
		return comma
	}
	return hi
}

// object returns the words [lo, hi) without signs and date words at the end.
func (d *doc) object(lo, hi int) string {
	hi = d.withoutAgo(lo, d.listEnd(lo, hi))
	for i := lo + 1; i < hi; i++ {
		if d.Tokens[i].Kind == language.KindPunct && d.Tokens[i].Sign == ':' && i+1 < hi && d.Tokens[i+1].Gap == language.SpaceGap {
			hi = i // "got my results: not celiac"
		} else if d.in.Memory && d.Tokens[i].Kind == language.KindPunct && d.Tokens[i].Sign == '(' {
			hi = i // "Mrs Patel (84, from Kampala)"
		} else if d.slang(i) || d.in.Memory && (d.newStatement(i, hi) || d.clauseBegins(i, hi)) {
			hi = i // "dairy bc it makes me ill"
		}
	}
	for hi > lo && (d.Tokens[hi-1].Kind == language.KindPunct && d.Tokens[hi-1].Sign != '%' || d.Tokens[hi-1].Kind == language.KindWord && (d.Tokens[hi-1].Is(language.DayWord|language.Preposition|language.Conjunction) || d.isAdverbEnd(hi-1)) && hi-1 > lo) {
		hi--
	}
	if hi > lo && hi < len(d.Tokens) && language.FoldEqual(d.TokenText(hi-1), "right") && language.FoldEqual(d.TokenText(hi), "now") {
		hi--
	}
	if d.in.Memory {
		lo, hi = d.withoutReflexive(lo, hi), d.withoutPhraseEnd(lo, hi)
	}
	if d.in.Memory && lo < hi && d.Tokens[lo].Kind == language.KindPunct && (d.Tokens[lo].Sign == ',' || d.Tokens[lo].Sign == ';') {
		return "" // "stopped drinking, day 12"
	}
	for lo < hi && d.Tokens[lo].Kind == language.KindPunct && d.Tokens[lo].Sign != '$' {
		lo++
	}
	for hi = min(hi, lo+16); d.in.Memory && hi-lo == 16 && d.Tokens[hi-1].Kind == language.KindWord && d.Tokens[hi-1].Is(language.Preposition|language.Conjunction|language.Determiner|language.Possessive); {
		hi--
	}
	if d.in.Memory && lo < hi && (d.WordKey(lo) == "and" || d.WordKey(lo) == "but" || d.WordKey(lo) == "or") {
		return "" // "died and the boat leans"
	}
	if lo >= hi || hi-lo == 1 && d.in.Memory && d.WordKey(lo) == "anymore" || hi-lo == 1 && d.Tokens[lo].Kind == language.KindWord && d.Tokens[lo].Is(language.Preposition|language.Conjunction|language.Adverb) && !d.Tokens[lo].Is(language.Adjective) {
		return ""
	}
	return d.SpanText(lo, hi)
}

func (d *doc) isAdverbEnd(i int) bool {
	switch strings.ToLower(d.TokenText(i)) {
	case "anymore", "too", "either", "now", "again", "lately", "recently", "though", "already", "then", "once", "twice", "alone", "together", "yet", "tonight", "btw", "haha", "hahaha", "ha", "lol", "tho", "anyway", "anyhow", "actually", "even", "mostly", "especially", "myself", "meself", "obviously", "finally",
		"instead", "apparently", "honestly", "please", "pls", "hopefully", "probably", "basically", "literally", "seriously", "luckily", "sadly", "thankfully":
		return true
	}
	return false
}

// withoutArticle returns the object from token i on, without its article.
func (d *doc) withoutArticle(i, hi int) string {
	for i < hi-1 && d.Tokens[i].Kind == language.KindWord && (language.FoldEqual(d.TokenText(i), "a") || language.FoldEqual(d.TokenText(i), "an") || language.FoldEqual(d.TokenText(i), "the") || d.Tokens[i].Is(language.Possessive)) {
		i++
	}
	return d.object(i, hi)
}

// stateFact reads "I'm ...": age, role, origin, diet, feelings, plans.
func (d *doc) stateFact(s *language.Sentence, g *segment, f extract.Fact, sts []statement) {
	i := g.comp
	for i < g.hi && d.Tokens[i].Kind == language.KindWord && (d.Tokens[i].Is(language.Adverb) && d.Tokens[i].Word.Verb == 0 || i+1 < g.hi && d.Tokens[i].Word.Flags == 0 && strings.HasSuffix(d.TokenText(i), "ly")) {
		i++
	}
	if i >= g.hi {
		return
	}
	t := &d.Tokens[i]
	w := strings.ToLower(d.TokenText(i))
	if n, ok := d.age(s, g, i); ok && !(d.in.Memory && (g.we || g.past && !g.ended)) {
		f.Predicate, f.Object, f.Kind, f.Functional = "age", n, extract.KindFact, true
		d.addFact(s, f)
		return
	}
	if c, ok := beComplement(w); ok {
		d.complementFact(s, g, f, &c, i)
		return
	}
	if d.fanOf(s, g, i, &f) {
		d.addFact(s, f)
		return
	}
	if d.linkedFacts(s, g, f, sts) {
		return
	}
	f.Kind = extract.KindFact
	switch {
	case w == "to" && d.IsWord(s, g.verb, "been"):
		f.Predicate, f.Object, f.Kind = "visited", d.withoutArticle(i+1, g.hi), extract.KindEvent
		if !d.objectFits(s, "lives_in", i+1, g.hi) {
			return // "been to hell and back"
		}
	case w == "called" || w == "named":
		f.Predicate, f.Object, f.Functional = "name", d.object(i+1, g.hi), true
	case t.Word.Form&language.IngForm != 0 && t.Word.Verb > 0:
		d.verbFact(s, g, f, sts)
		return
	case t.Is(language.Determiner):
		if w == "no" && d.in.Memory {
			f.Negated, i = true, i+1 // "I'm no diabetic"
		}
		f.Predicate, f.Object = "is_a", d.withoutArticle(i, g.hi)
		n, ok := d.phraseNode(s, i)
		if d.Tokens[i].Is(language.Possessive) || !ok || !d.kindOfPerson(&n) {
			return
		}
	case t.Word.Verb > 0 && t.Word.Form&language.Participle != 0 && i+1 < g.hi && d.passiveFrame(t.Word, d.TokenText(i+1)):
		return // "born in the wrong century": not a place
	case t.Word.Verb > 0 && t.Word.Form&language.Participle != 0 && (d.IsWord(s, i+1, "to") || wordLists()["fleeting"][w]):
		return // "born to dance", "done with winter"
	case t.Word.Verb > 0 && t.Word.Form&language.Participle != 0:
		if next := d.WordKey(min(i+1, len(d.Tokens)-1)); d.in.Memory && wordLists()["aways"][next] && next != "in" {
			return // "put down for the rehab", "fed up with"
		}
		f.Predicate, f.Object, f.Kind = "was_"+snake(w), d.object(i+1, g.hi), extract.KindEvent
		if (w == "allowed" || w == "based") && !g.past && !g.perfect {
			f.Predicate, f.Kind = "is_"+w, extract.KindFact
		}
	case t.Capital() && t.Shape == language.Capitalized && !t.Is(language.Demonym) && !d.greets(s) && i+1 >= g.hi:
		return // "I'm Batman"
	case t.Kind == language.KindWord && !t.Is(language.FunctionWord) && (strings.HasSuffix(w, "ing") && t.Word.Flags == 0 && (g.hi > i+1 || g.negated || d.in.Memory) || d.in.Memory && clippedIng(t, w) || d.IsWord(s, i+1, "to") && w == "born"):
		return // "I'm framing it": only a current activity
	case t.Kind == language.KindWord && !t.Is(language.FunctionWord):
		if d.in.Memory && wordLists()["royals"][w] {
			return // "I'm emperor of a shed"
		}
		f.Predicate, f.Object, f.Confidence = "is", d.object(i, d.untilAnd(i, d.untilComma(i, g.hi))), confGeneric*f.Confidence/confState
		if d.in.Memory && (g.negated && g.perfect || strings.HasSuffix(f.Object, " to say") || t.Is(language.NumberWord) && g.we || t.End-t.Start == 1 && t.Shape == language.LowerCase) {
			return // "I've never been happier", "we're eleven", "I'm w a bloke"
		}
		if g.past {
			f.Predicate, f.Kind = "was", extract.KindEvent
		}
		if g.bare || wordLists()["fleeting"][w] && (!g.past || i+1 >= g.hi) || i+2 < g.hi && d.Tokens[i+1].Is(language.Preposition) && d.Tokens[i+2].Is(language.Possessive) {
			return
		}
	default:
		return
	}
	if f.Object != "" {
		d.addFact(s, f)
	}
}

// fanOf reads "I'm a (big) fan of X".
func (d *doc) fanOf(s *language.Sentence, g *segment, i int, f *extract.Fact) bool {
	for j := i; j < min(g.hi, i+5); j++ {
		if (d.IsWord(s, j, "fan") || d.IsWord(s, j, "lover")) && d.IsWord(s, j+1, "of") {
			f.Predicate, f.Object, f.Kind = "likes", d.withoutArticle(j+2, g.hi), extract.KindPreference
			if f.Negated {
				f.Predicate, f.Negated = "dislikes", false
			}
			return true
		}
	}
	return false
}

// age reads "34" and "34 years old"; "turning 40 next week" is not an age.
func (d *doc) age(s *language.Sentence, g *segment, i int) (string, bool) {
	n, ok := d.Number(i)
	if !ok || n < 1 || n > 120 {
		return "", false
	}
	j := i + 1
	if d.IsWord(s, j, "years") || d.IsWord(s, j, "yrs") || d.IsWord(s, j, "yo") {
		return d.TokenText(i), true
	}
	return d.TokenText(i), j >= g.hi || d.Tokens[j].Kind == language.KindPunct && d.Tokens[j].Sign != '%' && d.Tokens[j].Sign != '\'' && d.Tokens[j].Sign != '"' || d.IsWord(s, j, "and") || d.IsWord(s, j, "now")
}

// complementFact adds what a known word after "be" states, once for each object of a list.
func (d *doc) complementFact(s *language.Sentence, g *segment, f extract.Fact, c *complement, i int) {
	f.Kind, f.Predicate, f.Functional = c.kind, c.predicate, c.functional
	if (c.predicate == "diet" || d.in.Memory && c.predicate == "marital_status" && g.be) && g.past && !g.perfect && !g.ended {
		return // "I was vegan for two years", "we were married for nine years"
	}
	if c.functional && !f.Negated && !f.Retracts {
		f.ValidTo = time.Time{} // "I got married yesterday" lasts
	}
	if d.IsWord(s, i, "into") && i+1 < g.hi && d.Tokens[i+1].Is(language.Possessive) {
		return // "into my third coffee"
	}
	j := i + 1
	if c.predicate == "marital_status" && c.object == "single" && j < g.hi && d.Tokens[j].Kind == language.KindWord && !d.Tokens[j].Is(language.Preposition|language.Conjunction|language.Adverb|language.Temporal) {
		return // "a single bed"
	}
	if c.preps != "" && j < g.hi && strings.Contains(" "+c.preps+" ", " "+strings.ToLower(d.TokenText(j))+" ") {
		j++
		if c.predicate == "marital_status" && !d.objectFits(s, "married_to", j, g.hi) {
			return // "married to my job"
		}
	} else if c.preps != "" || c.object != "" {
		f.Object = c.object
		if f.Object == "" && wordLists()["fleeting"][strings.ToLower(d.TokenText(i))] && !g.past {
			return // "I'm good, thanks"
		}
		if f.Object == "" {
			if g.bare {
				return // "bad." without a subject
			}
			f.Predicate, f.Object, f.Confidence, f.Kind = "is", d.object(i, g.hi), confGeneric, extract.KindFact
		}
		d.addFact(s, f)
		return
	}
	if c.predicate == "marital_status" && j < g.hi {
		status := f
		status.Object = c.object
		d.addFact(s, status)
		f.Predicate = "married_to"
		if c.object == "engaged" {
			f.Predicate = "engaged_to"
		}
	}
	if c.predicate == "employment_status" {
		f.Object = c.object
		d.addFact(s, f)
		return
	}
	d.eachObject(s, j, d.untilTime(j, g.hi), func(object string) {
		fact := f
		fact.Object = object
		d.addFact(s, fact)
	})
}

// eachObject calls yield for each element of a list: "nuts, shellfish and milk".
func (d *doc) eachObject(s *language.Sentence, i, hi int, yield func(string)) {
	lo := i
	for n := 0; i <= hi && n < maxObjects; i++ {
		if i < hi && !d.IsPunct(s, i, ',') && !d.IsWord(s, i, "and") && !d.IsWord(s, i, "or") {
			continue
		}
		if w := d.withoutArticle(lo, i); w != "" {
			yield(w)
			n++
		}
		lo = i + 1
		if d.in.Memory && i < hi && d.IsPunct(s, i, ',') && d.aside(s, lo, hi) {
			return // "penicillin, full on hives as a kid"
		}
		if lo < hi && (d.IsWord(s, lo, "and") || d.IsWord(s, lo, "or")) {
			continue
		}
		if lo < hi && d.Tokens[lo].Kind == language.KindWord && !d.Tokens[lo].Is(language.Determiner|language.Possessive) && (d.Tokens[lo].Is(language.FunctionWord|language.Adverb) || d.Tokens[lo].Word.Verb > 0 && d.Tokens[lo].Word.Form&(language.BaseForm|language.IngForm) == 0) {
			return // ", who ...": the list has ended
		}
	}
}

// american converts the names of attributes to American spelling.
var american = strings.NewReplacer("favourite", "favorite", "colour", "color")

// passiveFrame reports whether a verb has a frame for "is VERBed PREPOSITION"; that frame would already have taken a fitting object.
func (d *doc) passiveFrame(w language.Word, prep string) bool {
	for _, fr := range framesOf(w) {
		if fr.passive && fr.matches(prep) {
			return objectType(&fr) != "" || fr.predicate == "located_in"
		}
	}
	return false
}
