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
		if hi := max(min(g.hi, c.Hi), min(g.hi, g.comp)); !d.onlySigns(hi, g.hi) && !d.lastingBehind(s, g, hi) {
			g.hi = hi
		}
	}
	for i := g.comp; g.negated && i < g.hi; i++ {
		g.ended = g.ended || d.anymoreAt(s, i)
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

// stateFact reads "I'm ...": age, role, origin, diet, feelings, plans, and the states that are joined to the first one.
func (d *doc) stateFact(s *language.Sentence, g *segment, f extract.Fact, sts []statement) {
	i := d.afterAdverbs(g.comp, g.hi)
	if i >= g.hi {
		return
	}
	first, joined := *g, d.joinedStates(s, i, g.hi)
	if len(joined) > 0 {
		first.hi = joined[0].lo
	}
	d.firstState(s, &first, f, sts, i)
	d.addJoinedStates(s, g, f, joined)
}

// firstState reads the state whose first word is token i.
func (d *doc) firstState(s *language.Sentence, g *segment, f extract.Fact, sts []statement, i int) {
	if n, ok := d.age(s, g, i); ok && !(d.in.Memory && (g.we || g.past && !g.ended)) {
		f.Predicate, f.Object, f.Kind, f.Functional = "age", n, extract.KindFact, true
		d.addFact(s, f)
		return
	}
	if c, ok := beComplement(strings.ToLower(d.TokenText(i))); ok {
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
	if t := &d.Tokens[i]; t.Word().Verb > 0 && t.Word().Form&language.IngForm != 0 {
		d.verbFact(s, g, f, sts)
		return
	}
	if d.state(s, g, i, &f) && f.Object != "" {
		d.addFact(s, f)
		d.addJoinedQuality(s, g, f, i)
	}
}

// afterAdverbs returns the first token in [i, hi) that is no adverb.
func (d *doc) afterAdverbs(i, hi int) int {
	for ; i < hi && d.Tokens[i].Kind == language.KindWord; i++ {
		t := &d.Tokens[i]
		adverb := t.Is(language.Adverb) && t.Word().Verb == 0
		if !adverb && (i+1 >= hi || t.Word().Flags != 0 || !strings.HasSuffix(d.TokenText(i), "ly")) {
			return i
		}
	}
	return i
}

// state gives f the predicate and the object for the words from token i on after a form of "be". It reports whether they state anything.
func (d *doc) state(s *language.Sentence, g *segment, i int, f *extract.Fact) bool {
	t := &d.Tokens[i]
	switch w := strings.ToLower(d.TokenText(i)); {
	case w == "to" && d.IsWord(s, g.verb, "been"):
		f.Predicate, f.Object, f.Kind = "visited", d.withoutArticle(i+1, g.hi), extract.KindEvent
		return d.objectFits(s, "lives_in", i+1, g.hi) // not "been to hell and back"
	case w == "called" || w == "named":
		f.Predicate, f.Object, f.Functional = "name", d.object(i+1, g.hi), true
		return true
	case t.Is(language.Determiner):
		return d.kindState(s, g, i, f)
	case t.Word().Verb > 0 && t.Word().Form&language.Participle != 0:
		return d.participleState(s, g, i, f)
	case t.Kind == language.KindWord && !t.Is(language.FunctionWord):
		return d.quality(s, g, i, f)
	}
	return false
}

// kindState reads what kind of person somebody is: "I'm a night owl", "I'm no diabetic".
func (d *doc) kindState(s *language.Sentence, g *segment, i int, f *extract.Fact) bool {
	if d.in.Memory && d.IsWord(s, i, "no") {
		f.Negated, i = true, i+1
	}
	f.Predicate, f.Object = "is_a", d.withoutArticle(i, g.hi)
	n, ok := d.phraseNode(s, i)
	return ok && !d.Tokens[i].Is(language.Possessive) && d.kindOfPerson(&n)
}

// participleState reads what was done to somebody: "I was promoted to lead". It reports false for "born in the wrong century", "born to
// dance", "done with winter" and "fed up with".
func (d *doc) participleState(s *language.Sentence, g *segment, i int, f *extract.Fact) bool {
	w := strings.ToLower(d.TokenText(i))
	if i+1 < g.hi && d.passiveFrame(d.Tokens[i].Word(), d.TokenText(i+1)) || d.IsWord(s, i+1, "to") || wordLists()["fleeting"][w] {
		return false
	}
	if next := d.WordKey(min(i+1, len(d.Tokens)-1)); d.in.Memory && wordLists()["aways"][next] && next != "in" {
		return false
	}
	f.Predicate, f.Object, f.Kind = "was_"+snake(w), d.object(i+1, g.hi), extract.KindEvent
	if (w == "closed" || w == "shut") && !g.past && !g.perfect {
		f.Predicate, f.Object, f.Kind = "is", w, extract.KindFact // "we're closed on Mondays"
		return true
	}
	if (w == "allowed" || w == "based") && !g.past && !g.perfect {
		f.Predicate, f.Kind = "is_"+w, extract.KindFact
	}
	return true
}

// quality reads "I'm tall" and "I was shy". It reports false for names as in "I'm Batman", and for what passes or tells nothing.
func (d *doc) quality(s *language.Sentence, g *segment, i int, f *extract.Fact) bool {
	t, w := &d.Tokens[i], strings.ToLower(d.TokenText(i))
	switch {
	case t.Capital() && t.Shape == language.Capitalized && !t.Is(language.Demonym) && i+1 >= g.hi && !d.greets(s):
		return false
	case language.FoldEqual(d.TokenText(i), s.Speaker):
		return false // "I'm Dana, I run a studio", which Dana says
	case d.activity(s, g, i, w):
		return false
	case d.in.Memory && wordLists()["royals"][w]:
		return false // "I'm emperor of a shed"
	case g.bare || wordLists()["fleeting"][w] && (!g.past || i+1 >= g.hi):
		return false
	case i+2 < g.hi && d.Tokens[i+1].Is(language.Preposition) && d.Tokens[i+2].Is(language.Possessive):
		return false
	}
	f.Predicate, f.Object, f.Confidence = "is", d.object(i, d.stateEnd(i, d.untilComma(i, g.hi))), confGeneric*f.Confidence/confState
	if g.past {
		f.Predicate, f.Kind = "was", extract.KindEvent
	}
	if !d.in.Memory {
		return true
	}
	letter := t.End-t.Start == 1 && t.Shape == language.LowerCase
	return !letter && !(g.negated && g.perfect) && !(g.we && t.Is(language.NumberWord)) && !strings.HasSuffix(f.Object, " to say") // "I'm w a bloke", "I've never been happier", "we're eleven"
}

// activity reports whether the word w at token i only says what somebody is doing, although the tables do not know its verb: "I'm framing it".
func (d *doc) activity(s *language.Sentence, g *segment, i int, w string) bool {
	t := &d.Tokens[i]
	if strings.HasSuffix(w, "ing") && t.Word().Flags == 0 && (g.hi > i+1 || g.negated || d.in.Memory) {
		return true
	}
	return d.in.Memory && clippedIng(t, w) || w == "born" && d.IsWord(s, i+1, "to")
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
	if d.in.Memory && !d.wholeAge(s, i) {
		return "", false
	}
	return d.TokenText(i), j >= g.hi || d.Tokens[j].Kind == language.KindPunct && d.Tokens[j].Sign != '%' && d.Tokens[j].Sign != '\'' && d.Tokens[j].Sign != '"' || d.IsWord(s, j, "and") || d.IsWord(s, j, "now")
}

// complementFact adds what a known word after "be" states, once for each object of a list.
func (d *doc) complementFact(s *language.Sentence, g *segment, f extract.Fact, c *complement, i int) {
	if d.isOver(g, c) || d.hasOtherSense(s, g, c, i) {
		return
	}
	f.Kind, f.Predicate, f.Functional = c.kind, c.predicate, c.functional
	if c.functional && !f.Negated && !f.Retracts {
		f.ValidTo = time.Time{} // "I got married yesterday" lasts
	}
	j := i + 1
	switch {
	case c.preps != "" && j < g.hi && strings.Contains(" "+c.preps+" ", " "+strings.ToLower(d.TokenText(j))+" "):
		j++
		if c.predicate == "marital_status" && !d.objectFits(s, "married_to", j, g.hi) {
			return // "married to my job"
		}
	case c.preps != "" || c.object != "":
		d.complementAlone(s, g, f, c, i)
		return
	}
	switch {
	case c.predicate == "employment_status":
		f.Object = c.object
		d.addFact(s, f)
		return
	case c.predicate == "marital_status" && j < g.hi: // "married to Bob" says the status, and to whom
		status := f
		status.Object = c.object
		d.addFact(s, status)
		f.Predicate = "married_to"
		if c.object == "engaged" {
			f.Predicate = "engaged_to"
		}
	}
	d.eachObject(s, j, d.untilTime(j, g.hi), func(object string) {
		fact := f
		fact.Object = object
		d.addFact(s, fact)
	})
}

// isOver reports whether a clause tells of a state that it says nothing about now: "I was vegan for two years", "we were married for nine
// years".
func (d *doc) isOver(g *segment, c *complement) bool {
	state := c.predicate == "diet" || d.in.Memory && c.predicate == "marital_status" && g.be
	return state && g.past && !g.perfect && !g.ended
}

// hasOtherSense reports whether the known word at i means something else before the word that follows: "into my third coffee", "a single bed".
func (d *doc) hasOtherSense(s *language.Sentence, g *segment, c *complement, i int) bool {
	if i+1 >= g.hi {
		return false
	}
	next := &d.Tokens[i+1]
	return d.IsWord(s, i, "into") && next.Is(language.Possessive) ||
		c.predicate == "marital_status" && c.object == "single" && next.Kind == language.KindWord &&
			!next.Is(language.Preposition|language.Conjunction|language.Adverb|language.Temporal)
}

// complementAlone adds what a known word states without a preposition and an object of its own.
func (d *doc) complementAlone(s *language.Sentence, g *segment, f extract.Fact, c *complement, i int) {
	f.Object = c.object
	if f.Object == "" {
		fleeting := wordLists()["fleeting"][strings.ToLower(d.TokenText(i))] && !g.past // "I'm good, thanks"
		if fleeting || g.bare {                                                         // "bad." without a subject
			return
		}
		f.Predicate, f.Object, f.Confidence, f.Kind = "is", d.object(i, d.stateEnd(i, g.hi)), confGeneric, extract.KindFact
	}
	d.addFact(s, f)
}

// eachObject calls yield for each element of a list: "nuts, shellfish and milk".
func (d *doc) eachObject(s *language.Sentence, i, hi int, yield func(string)) {
	first, lo := i, i
	for n := 0; i <= hi && n < maxObjects; i++ {
		if i < hi && !d.IsPunct(s, i, ',') && !d.IsWord(s, i, "and") && !d.IsWord(s, i, "or") {
			continue
		}
		if d.in.Memory && lo > first && d.ownSubject(first, lo, i) {
			return
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
		if lo < hi && d.Tokens[lo].Kind == language.KindWord && !d.Tokens[lo].Is(language.Determiner|language.Possessive) && (d.Tokens[lo].Is(language.FunctionWord|language.Adverb) || d.Tokens[lo].Word().Verb > 0 && d.Tokens[lo].Word().Form&(language.BaseForm|language.IngForm) == 0) {
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
