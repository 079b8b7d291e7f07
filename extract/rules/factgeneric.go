package rules

import (
	"strings"
	"time"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// genericFact adds a fact for a verb whose meaning no other reading knows.
func (d *doc) genericFact(a *action) {
	f := a.f
	f.Predicate, f.Object, f.Kind = a.name, d.object(a.next, d.movedEnd(a)), extract.KindFact
	f.Confidence *= confGeneric / confState
	if a.name == "name" {
		f.Predicate = "named" // of something else: "name" is the speaker's own name
	}
	if a.g.past && !a.g.ended && !(a.g.perfect && d.goesOn(a.s, a.g)) {
		f.Kind = extract.KindEvent
	}
	switch {
	case d.incomplete(a, f.Object) || d.halfAction(a):
	case d.prepositional(a.s, a.g, &f, a.verb):
		if f.Object != "" {
			d.addFact(a.s, f)
		}
	case a.next < a.g.hi && d.particleAt(a):
		d.particleFact(a, f)
	case a.next < a.g.hi && d.Tokens[a.next].WordIs(language.Preposition|language.Adverb|language.Conjunction) && !d.Tokens[a.next].Is(language.Adjective|language.Determiner):
		d.prepositionFact(a, f)
	case d.manner(a):
	default:
		d.directPredicate(a, &f)
		d.addFact(a.s, f)
	}
}

// movedEnd returns where the words for what an action moved end, before the place: "moved the studio to Sheffield".
func (d *doc) movedEnd(a *action) int {
	if d.in.Memory && (a.name == "move" || a.name == "relocate") && a.next < a.g.hi && !wordLists()["moving-oneself"][d.WordKey(a.next)] {
		for i := a.next + 1; i+1 < a.g.hi; i++ {
			if d.IsOneOf(a.s, i, "to", "into") {
				return i
			}
		}
	}
	return a.g.hi
}

// incomplete reports whether an action says nothing without the object that it lacks.
func (d *doc) incomplete(a *action, object string) bool {
	g, more := a.g, a.next < a.g.hi
	if d.objectIsPronoun(a.next, g.hi) {
		return true
	}
	if object != "" {
		return false
	}
	unknown := d.Tokens[a.verb].Word().Verb == 0
	switch {
	case more && !(g.ended && d.WordKey(a.next) == "anymore"):
		return true
	case g.hi-g.lo < 3 && unknown && !d.Tokens[a.verb].Is(language.Temporal):
		return true
	case g.negated:
		return false
	}
	return g.past && !g.ended && unknown || wordLists()["light"][a.name] || wordLists()["grasping"][a.name] || d.transitive(a.verb)
}

// halfAction reports whether the verb of an action is no verb here, or has its meaning only with words that follow: "took the aids out",
// "went to tell the hives".
func (d *doc) halfAction(a *action) bool {
	hi := a.g.hi
	if a.name == "keep" && a.next < hi && strings.HasSuffix(d.TokenText(a.next), "ing") {
		return true
	}
	if !d.in.Memory {
		return false
	}
	if (a.name == "put" || a.name == "take") && hi-1 > a.next && wordLists()["aways"][d.WordKey(hi-1)] {
		return true
	}
	return d.noVerb(a.s, a.g, a.verb) || wordLists()["light"][a.name] && d.toInfinitive(a.s, a.next)
}

// particleAt reports whether the word after the verb is a particle: "turned down the offer". A preposition before a lower-case word is none,
// unless it can only be a particle there.
func (d *doc) particleAt(a *action) bool {
	if !wordLists()["particles"][d.WordKey(a.next)] {
		return false
	}
	return a.next+1 >= a.g.hi || d.Tokens[a.next+1].Shape != language.LowerCase || !d.Tokens[a.next].Is(language.Preposition) || d.IsOneOf(a.s, a.next, "up", "out", "off", "down")
}

// particleFact adds the object after the particle of a verb.
func (d *doc) particleFact(a *action, f extract.Fact) {
	object := a.next + 1
	f.Object = d.withoutArticle(object, a.g.hi)
	if f.Object == "" || d.objectIsPronoun(object, a.g.hi) || wordLists()["light"][a.name] && a.name != "take" && a.name != "give" {
		return
	}
	f.Predicate = a.name + "_" + d.WordKey(a.next)
	if d.in.Memory && f.Predicate == "find_out" && (d.Tokens[object].Is(language.Preposition) || d.Tokens[object].Kind == language.KindNumber) {
		return // "found out from the capo"
	}
	d.addFact(a.s, f)
}

// prepositionFact adds the object after a preposition: "relies on the tram". It adds nothing for "live for Fridays" and "lied and said".
func (d *doc) prepositionFact(a *action, f extract.Fact) {
	if wordLists()["light"][a.name] || !d.Tokens[a.next].Is(language.Preposition) {
		return
	}
	if d.in.Memory && d.dateCut(a.s, a.next+1, a.g.hi) && d.IsOneOf(a.s, a.next, "in", "on", "at", "since", "from", "during") {
		return // "qualified in 2018 from De Montfort"
	}
	f.Object = d.withoutArticle(a.next+1, a.g.hi)
	if f.Object == "" || d.objectIsPronoun(a.next+1, a.g.hi) {
		return
	}
	f.Predicate = a.name + "_" + d.WordKey(a.next)
	d.addFact(a.s, f)
}

// manner reports whether the words after a verb say how or when, not what: "run late", "work best at night".
func (d *doc) manner(a *action) bool {
	if a.next >= a.g.hi || d.Tokens[a.next].Shape != language.LowerCase {
		return false
	}
	t := &d.Tokens[a.next]
	if (a.name == "work" || a.name == "live") && t.Kind == language.KindWord {
		return true
	}
	return t.Is(language.DatePart|language.Adverb) && (a.next+1 == a.g.hi || d.Tokens[a.next+1].Is(language.Determiner|language.Preposition)) && wordLists()["light"][a.name]
}

// directPredicate gives a fact the predicate and kind of the verb's frame with a direct object, if it has one.
func (d *doc) directPredicate(a *action, f *extract.Fact) {
	if a.name == "find" && !a.g.past {
		f.Predicate = "finds" // "I find beetroot disgusting"
		return
	}
	if d.Tokens[a.verb].Word().Verb == 0 || a.next < a.g.hi && d.Tokens[a.next].Is(language.Preposition) {
		return
	}
	fr := directFrame(d.Tokens[a.verb].Word())
	if fr == nil || a.g.perfect && fr.kind == extract.KindEvent && d.Tokens[a.verb].Word().Form&language.IngForm != 0 && d.goesOn(a.s, a.g) { // "I've been seeing him since May"
		return
	}
	f.Predicate = d.habitual(a.g.verbClause(a.verb), fr.predicate)
	if fr.kind != extract.KindEvent {
		f.Kind = fr.kind
	}
	dislike(f)
}

// verbClause returns the tense of a segment as a clause of the verb at token i.
func (g *segment) verbClause(i int) *clause {
	return &clause{verbTok: i, past: g.past, perfect: g.perfect, ended: g.ended}
}

// directFrame returns the first frame of a verb that has a direct object, or nil.
func directFrame(w language.Word) *frame {
	frames := framesOf(w)
	for i := range frames {
		if fr := &frames[i]; len(fr.preps) == 0 && !fr.passive {
			return fr
		}
	}
	return nil
}

// transitive reports whether the verb at token i has a frame with a direct object, so that the verb alone says nothing.
func (d *doc) transitive(i int) bool {
	if d.Tokens[i].Word().Verb == 0 {
		return false
	}
	for _, fr := range framesOf(d.Tokens[i].Word()) {
		if len(fr.preps) == 0 && !fr.passive && fr.kind == extract.KindEvent {
			return true
		}
	}
	return false
}

// prepositional reads the object after a preposition of the verb's frames: "Works at Zorblax". It reports whether the verb has such a frame;
// the object is then empty if it does not fit.
func (d *doc) prepositional(s *language.Sentence, g *segment, f *extract.Fact, verb int) bool {
	fr := d.frameBefore(verb+1, g.hi)
	if fr == nil {
		return false
	}
	if d.in.Memory && d.IsWord(s, verb+1, "to") && d.notPreposition(s, verb+1) {
		return true // "went to tell the hives"
	}
	end, fits := d.typedEnd(s, fr.predicate, verb+2, g.hi)
	f.Predicate, f.Object, f.Functional, f.Kind = fr.predicate, d.withoutArticle(verb+2, end), fr.functional && (!g.past || fr.kind == extract.KindEvent), fr.kind
	if f.Functional {
		f.Kind, f.ValidTo = extract.KindFact, time.Time{}
	}
	upcoming := d.in.Memory && g.progress && !g.past && !g.perfect && fr.kind == extract.KindEvent // "I'm going with Jess" has not happened
	if !upcoming {
		f.Predicate = d.habitual(g.verbClause(verb), f.Predicate)
	}
	if !fits || upcoming || d.noPlace(s, g, f, fr, verb) {
		f.Object = ""
	} else if d.in.Memory && strings.HasSuffix(fr.predicate, "_with") {
		f.Object = d.withoutArticle(verb+2, d.untilPlace(verb+2, end)) // "live with my sister in a flat"
	}
	return true
}

// frameBefore returns the active frame of the verb before token i whose preposition stands there, or nil.
func (d *doc) frameBefore(i, hi int) *frame {
	if d.Tokens[i-1].Word().Verb == 0 || i+1 >= hi {
		return nil
	}
	frames := framesOf(d.Tokens[i-1].Word())
	for k := range frames {
		if fr := &frames[k]; !fr.passive && fr.matches(d.TokenText(i)) {
			return fr
		}
	}
	return nil
}

// noPlace reports whether the object of a frame's preposition after the verb cannot be what the frame says, as the place where somebody goes.
func (d *doc) noPlace(s *language.Sentence, g *segment, f *extract.Fact, fr *frame, verb int) bool {
	if g.negated && !g.ended && fr.functional && fr.kind == extract.KindEvent {
		return true // "I'm not moving to Perth"
	}
	if fr.predicate == "works_in" && wordLists()["no-field"][d.WordKey(g.hi-1)] {
		return true
	}
	if !d.in.Memory {
		return false
	}
	if strings.HasSuffix(fr.predicate, "_to") {
		return d.IsWord(s, verb+2, "half") || d.verbName(verb) == "go" && d.shareAt(verb+2) // "went to half past five starts", "gone to one spoon"
	}
	return fr.predicate == "located_in" && f.Subject == s.Speaker && strings.ToLower(f.Object) == f.Object // "I'm lying in the bath"
}

// shareAt reports whether a number or a part of something stands at token i.
func (d *doc) shareAt(i int) bool {
	t := &d.Tokens[i]
	return t.Kind == language.KindNumber || t.Is(language.NumberWord) || wordLists()["shares"][d.WordKey(i)]
}

// goesOn reports whether a segment says since when or for how long.
func (d *doc) goesOn(s *language.Sentence, g *segment) bool {
	for i := g.comp; i < g.hi; i++ {
		if d.IsWord(s, i, "since") || d.IsWord(s, i, "for") {
			return true
		}
	}
	return false
}

// dateCut reports whether a date begins at token i and ends before hi.
func (d *doc) dateCut(s *language.Sentence, i, hi int) bool {
	for _, h := range d.datesOf(s) {
		if h.Lo == i {
			return h.Hi < hi
		}
	}
	return false
}

// dateBegins reports whether a date begins at token i.
func (d *doc) dateBegins(s *language.Sentence, i int) bool {
	for _, h := range d.datesOf(s) {
		if h.Lo == i {
			return true
		}
	}
	return false
}
