package rules

import (
	"strings"
	"time"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// verbFact reads "I VERB ...": preferences, goals, possessions, events and habits.
func (d *doc) verbFact(s *language.Sentence, g *segment, f extract.Fact, sts []statement) {
	verb := g.verb
	if g.be || d.Tokens[verb].Is(language.FormOfBe) {
		verb = g.comp
	}
	name := d.verbName(verb)
	next := verb + 1
	toVerb := d.IsWord(s, next, "to") && next+1 < g.hi
	switch {
	case wordLists()["grasping"][name] && !toVerb && d.abstractObject(next, g.hi), name == "get" && (g.perfect || d.in.Memory) && toVerb:
		return
	case d.in.Memory && name == "do" && (next < g.hi && d.Tokens[next].Kind == language.KindPunct && d.Tokens[next].Sign != '"' || next < g.hi && d.Tokens[next].Kind == language.KindWord && d.Tokens[next].Is(language.Preposition)):
		return // "I did, through the Rockies"
	case toVerb && d.IsWord(s, next+1, "be") && (name == "have" || name == "need"), next < g.hi && d.Tokens[next].Is(language.WhWord) && name != "know":
		return // "I have to be honest", "I love how you explain it"
	case name == "have" && toVerb && g.past, name == "find" && (d.IsWord(s, next, "this") || d.IsWord(s, next, "that") || d.IsWord(s, next, "it")):
		return // "we had to put him down", "I find this boring"
	case name == "have" && toVerb:
		d.goal(s, g, f, "needs", next+1)
		return
	case name == "look" && d.IsWord(s, next, "forward"):
		d.goal(s, g, f, "looks_forward_to", min(next+2, g.hi))
		return
	case name == "look" && d.IsWord(s, next, "for"):
		d.goal(s, g, f, "looks_for", next+1)
		return
	case (name == "think" || name == "dream") && g.progress && (d.IsWord(s, next, "of") || d.IsWord(s, next, "about")):
		d.goal(s, g, f, "considers", next+1)
		return
	case g.wish && !g.hyp:
		for i := next; i < g.hi; i++ {
			if d.IsWord(s, i, "than") {
				return // "I'd rather live in a tent than"
			}
		}
		if name != "like" && name != "love" && name != "prefer" {
			next = verb // "would rather walk"
		} else if toVerb {
			next++
		}
		d.goal(s, g, f, "wants", next)
		return
	case wordLists()["goal-verbs"][name] && (toVerb || name == "want" || name == "need"):
		if toVerb {
			next++
		}
		d.goal(s, g, f, d.goalPredicate(name), next)
		return
	case (name == "stop" || name == "quit" || name == "give") && d.stopped(s, g, f, verb):
		return
	case name == "stand" && g.negated:
		f.Predicate, f.Object, f.Kind, f.Negated = "dislikes", d.withoutArticle(next, g.hi), extract.KindPreference, false
		d.addFact(s, f)
		return
	case name == "get" && next < g.hi && d.becomes(s, g, f, next):
		return
	case d.in.Memory && name == "have" && g.progress && !g.past && !g.arranged && !g.future:
		return // "we're having a picnic"
	case d.in.Memory && (name == "get" || name == "have") && (d.going(s, next, g.hi) || d.visits(s, next)):
		return // "got the raffle going on a quilt", "got people over"
	case d.in.Memory && name == "have" && g.past && !g.ended && d.hadSomebody(s, next):
		return
	case d.in.Memory && (d.doubted(s, g) || d.verbBehind(next, g.hi) || name == "call" && d.callsSomething(next, g.hi)):
		return // "I think I left my jacket", "everything I owned smelled of vinegar", "I call her Mavis"
	case name == "call" && d.IsWord(s, next, "me"), (name == "read" || name == "learn") && d.IsWord(s, next, "that") && d.clauseBehind(s, next+1), name == "get" && d.IsWord(s, next, "rid"), name == "hear" && !g.past, name == "promise" && !toVerb:
		return
	case wordLists()["chatter"][name] && !(name == "know" && d.IsWord(s, next, "how")) && !d.linkedVerb(verb, sts):
		return
	case g.future || g.arranged && !g.perfect:
		d.goal(s, g, f, "plans", verb)
		return
	case name == "marry" && next < g.hi && d.Tokens[next].Is(language.Possessive|language.Determiner) && !d.objectFits(s, "married_to", next, g.hi) && !d.dateBegins(s, next):
		return // "married my notes into one file"
	case name == "marry" && !d.objectFits(s, "married_to", next, g.hi) && !g.negated:
		f.Predicate, f.Object, f.Kind, f.Functional, f.ValidTo = "marital_status", "married", extract.KindFact, true, time.Time{} // "I married last summer"
		d.addFact(s, f)
		return
	case name == "get" && d.participleAt(next, g.hi), name == "have" && g.negated && verb > g.lo && d.Tokens[verb-1].Is(language.Modal):
		return // "got voted shop steward", "can't have egg"
	case d.newJob(s, g, f, name, next):
		return
	case name == "leave" && d.leftJob(s, g, f, next):
		return
	case d.objectIsPronoun(next, g.hi), d.in.Memory && wordLists()["giving"][name] && d.personBeside(s, next) && !d.linkedVerb(verb, sts):
		return
	}
	if name == "leave" && d.leftEmployer(s, g, f, sts) || d.linkedFacts(s, g, f, sts) {
		return
	}
	d.genericFact(s, g, f, name, verb)
}

func (d *doc) goalPredicate(name string) string {
	if w := language.Lookup(name); w.Verb > 0 {
		return language.VerbAt(w.Verb).Third
	}
	return name
}

// genericFact adds a fact for a verb without a frame.
func (d *doc) genericFact(s *language.Sentence, g *segment, f extract.Fact, name string, verb int) {
	f.Predicate, f.Object = name, d.object(verb+1, g.hi)
	f.Confidence *= confGeneric / confState
	if name == "name" {
		f.Predicate = "named" // of something else: "name" is the speaker's own name
	}
	f.Kind = extract.KindFact
	if g.past && !g.ended && !(g.perfect && d.goesOn(s, g)) {
		f.Kind = extract.KindEvent
	}
	if d.in.Memory && (d.noVerb(s, g, verb) || (name == "put" || name == "take") && g.hi-1 > verb+1 && wordLists()["aways"][d.WordKey(g.hi-1)]) {
		return // "took the aids out"
	}
	if f.Object == "" && verb+1 < g.hi && !(g.ended && d.WordKey(verb+1) == "anymore") || f.Object == "" && g.hi-g.lo < 3 && !d.Tokens[verb].Is(language.Temporal) && d.Tokens[verb].Word.Verb == 0 {
		return
	}
	if d.objectIsPronoun(verb+1, g.hi) || f.Object == "" && !g.negated && (g.past && !g.ended && d.Tokens[verb].Word.Verb == 0 || wordLists()["light"][name] || wordLists()["grasping"][name] || d.transitive(verb)) {
		return
	}
	if name == "keep" && verb+1 < g.hi && strings.HasSuffix(d.TokenText(verb+1), "ing") {
		return
	}
	if d.in.Memory && d.toInfinitive(s, verb+1) && wordLists()["light"][name] {
		return // "went to tell the hives"
	}
	if d.prepositional(s, g, &f, verb) {
		if f.Object != "" {
			d.addFact(s, f)
		}
		return
	}
	if verb+1 < g.hi && wordLists()["particles"][d.WordKey(verb+1)] && (verb+2 >= g.hi || d.Tokens[verb+2].Shape != language.LowerCase || d.Tokens[verb+1].Word.Flags&language.Preposition == 0 || d.IsWord(s, verb+1, "up") || d.IsWord(s, verb+1, "out") || d.IsWord(s, verb+1, "off") || d.IsWord(s, verb+1, "down")) {
		if f.Object = d.withoutArticle(verb+2, g.hi); f.Object == "" || d.objectIsPronoun(verb+2, g.hi) || wordLists()["light"][name] && name != "take" && name != "give" {
			return
		}
		if f.Predicate = name + "_" + d.WordKey(verb+1); d.in.Memory && f.Predicate == "find_out" && (d.Tokens[verb+2].Is(language.Preposition) || d.Tokens[verb+2].Kind == language.KindNumber) {
			return // "found out from the capo"
		}
		d.addFact(s, f)
		return
	}
	if verb+1 < g.hi && d.Tokens[verb+1].Kind == language.KindWord && d.Tokens[verb+1].Is(language.Preposition|language.Adverb|language.Conjunction) && !d.Tokens[verb+1].Is(language.Adjective|language.Determiner) {
		if wordLists()["light"][name] || !d.Tokens[verb+1].Is(language.Preposition) {
			return // "live for Fridays", "lied and said"
		}
		if f.Object = d.withoutArticle(verb+2, g.hi); f.Object == "" || d.objectIsPronoun(verb+2, g.hi) {
			return
		}
		f.Predicate = name + "_" + d.WordKey(verb+1)
		d.addFact(s, f)
		return
	}
	if verb+1 < g.hi && d.Tokens[verb+1].Is(language.DatePart|language.Adverb) && d.Tokens[verb+1].Shape == language.LowerCase && (verb+2 == g.hi || d.Tokens[verb+2].Is(language.Determiner|language.Preposition)) && wordLists()["light"][name] {
		return // "run late"
	}
	if (name == "work" || name == "live") && verb+1 < g.hi && d.Tokens[verb+1].Kind == language.KindWord && d.Tokens[verb+1].Shape == language.LowerCase {
		return // "work best at night"
	}
	if name == "find" && !g.past {
		f.Predicate = "finds" // "I find beetroot disgusting"
	} else if v := d.Tokens[verb].Word.Verb; v > 0 && !(verb+1 < g.hi && d.Tokens[verb+1].Is(language.Preposition)) {
		for i := range frames()[v-1] {
			if fr := &frames()[v-1][i]; len(fr.preps) == 0 && !fr.passive {
				f.Predicate = d.habitual(&clause{verbTok: verb, past: g.past, perfect: g.perfect, ended: g.ended}, fr.predicate)
				if fr.kind != extract.KindEvent {
					f.Kind = fr.kind
				}
				dislike(&f)
				break
			}
		}
	}
	d.addFact(s, f)
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

// transitive reports whether the verb at token i has a frame with a direct object, so that the verb alone says nothing.
func (d *doc) transitive(i int) bool {
	if d.Tokens[i].Word.Verb == 0 {
		return false
	}
	for _, fr := range framesOf(d.Tokens[i].Word) {
		if len(fr.preps) == 0 && !fr.passive && fr.kind == extract.KindEvent {
			return true
		}
	}
	return false
}

// prepositional reads the object after a preposition of the verb's frames: "Works at Zorblax".
func (d *doc) prepositional(s *language.Sentence, g *segment, f *extract.Fact, verb int) bool {
	v := d.Tokens[verb].Word.Verb
	if v == 0 || verb+2 >= g.hi {
		return false
	}
	for i := range frames()[v-1] {
		if fr := &frames()[v-1][i]; !fr.passive && fr.matches(d.TokenText(verb+1)) {
			if d.in.Memory && d.IsWord(s, verb+1, "to") && d.notPreposition(s, verb+1) {
				return true // "went to tell the hives"
			}
			end, ok := d.typedEnd(s, fr.predicate, verb+2, g.hi)
			f.Predicate, f.Object, f.Functional, f.Kind = fr.predicate, d.withoutArticle(verb+2, end), fr.functional && (!g.past || fr.kind == extract.KindEvent), fr.kind
			if f.Functional {
				f.Kind, f.ValidTo = extract.KindFact, time.Time{}
			}
			if d.in.Memory && g.progress && !g.past && !g.perfect && fr.kind == extract.KindEvent {
				ok = false // "I'm going with Jess" has not happened
			} else {
				f.Predicate = d.habitual(&clause{verbTok: verb, past: g.past, perfect: g.perfect, ended: g.ended}, f.Predicate)
			}
			if d.in.Memory && strings.HasSuffix(fr.predicate, "_to") && d.IsWord(s, verb+2, "half") {
				ok = false // "went to half past five starts"
			}
			if d.in.Memory && strings.HasSuffix(fr.predicate, "_to") && d.verbName(verb) == "go" && (d.Tokens[verb+2].Kind == language.KindNumber || d.Tokens[verb+2].Is(language.NumberWord) || wordLists()["shares"][d.WordKey(verb+2)]) {
				ok = false // "gone to one spoon"
			}
			if d.in.Memory && fr.predicate == "located_in" && f.Subject == s.Speaker && strings.ToLower(f.Object) == f.Object {
				ok = false // "I'm lying in the bath"
			}
			if d.in.Memory && strings.HasSuffix(fr.predicate, "_with") {
				f.Object = d.withoutArticle(verb+2, d.untilPlace(verb+2, end)) // "live with my sister in a flat"
			}
			if g.negated && !g.ended && fr.functional && fr.kind == extract.KindEvent {
				ok = false // "I'm not moving to Perth"
			}
			if !ok || fr.predicate == "works_in" && wordLists()["no-field"][d.WordKey(g.hi-1)] {
				f.Object = ""
			}
			return true
		}
	}
	return false
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

// objectIsPronoun reports whether an object says nothing on its own: "it", "that".
func (d *doc) objectIsPronoun(i, hi int) bool {
	if i >= hi || d.Tokens[i].Kind != language.KindWord {
		return false
	}
	if d.Tokens[i].Is(language.SecondPerson) {
		return true // "your number"
	}
	w := strings.ToLower(d.TokenText(i))
	if w == "myself" || w == "ourselves" {
		return false
	}
	return d.Tokens[i].Is(language.Neuter|language.ThirdPlural|language.SecondPerson|language.Masculine|language.Feminine|language.FirstPerson|language.FirstPlural) && !d.Tokens[i].Is(language.Possessive) || w == "that" || w == "this" && i+1 == hi || w == "so"
}

// dislike changes "does not like" to "dislikes".
func dislike(f *extract.Fact) {
	if f.Predicate == "likes" && f.Negated {
		f.Predicate, f.Negated = "dislikes", false
	}
}

// goal adds what the speaker wants or plans, unless it is a request to the listener.
func (d *doc) goal(s *language.Sentence, g *segment, f extract.Fact, predicate string, i int) {
	for j := i; j < g.hi && j < i+4; j++ {
		if wordLists()["request-words"][strings.ToLower(d.TokenText(j))] {
			return
		}
	}
	if d.objectIsPronoun(i, g.hi) || d.in.Memory && i+2 == g.hi && d.objectIsPronoun(i+1, g.hi) || d.in.Memory && g.past && !g.perfect && (!g.progress && !g.future || g.future && predicate == "plans") {
		return // it is not understandable alone; "I wanted a boat" says nothing about the present
	}
	f.Predicate, f.Object, f.Kind, f.Confidence = predicate, d.object(i, g.hi), extract.KindGoal, f.Confidence*confGoal/confState
	if d.in.Memory && (wordLists()["no-plan"][strings.ToLower(f.Object)] || (predicate == "wants" || predicate == "needs") && (d.IsWord(s, i, "near") || d.IsWord(s, i, "for"))) {
		return // "I'm going to."
	}
	if f.Object != "" {
		d.addFact(s, f)
	}
}

// becomes reads "I got married".
func (d *doc) becomes(s *language.Sentence, g *segment, f extract.Fact, i int) bool {
	c, ok := beComplement(strings.ToLower(d.TokenText(i)))
	if ok && c.functional {
		d.complementFact(s, g, f, &c, i)
	}
	return ok && c.functional
}

func (d *doc) endAt(f *extract.Fact) {
	if !f.ValidFrom.IsZero() {
		f.ValidFrom, f.ValidTo = time.Time{}, f.ValidFrom
		return
	}
	if f.ValidTo.IsZero() && !d.Reference.IsZero() {
		f.ValidTo, f.Precision = language.Midnight(d.Reference), extract.PrecisionDay
	}
}

func (d *doc) linkedVerb(i int, sts []statement) bool {
	for k := range sts {
		if sts[k].clause != nil && sts[k].clause.verbTok == i {
			return true
		}
	}
	return false
}

// linkedFacts adds the relations of a segment's clause as facts.
func (d *doc) linkedFacts(s *language.Sentence, g *segment, f extract.Fact, sts []statement) bool {
	self := extract.Key(s.Speaker)
	count := 0
	for i := range sts {
		if d.inSegment(&sts[i], g, self) {
			count++
		}
	}
	for i := range sts {
		st := &sts[i]
		if !d.inSegment(st, g, self) {
			continue
		}
		fact := f
		fact.Predicate, fact.Object, fact.Confidence, fact.Kind = st.predicate, d.nodeName(&st.target), max(st.conf, confState)*f.Confidence/confState, extract.KindFact
		fact.Negated = f.Negated || st.clause.negated && !st.clause.ended && !g.ended
		if st.frame != nil {
			fact.Kind, fact.Functional, fact.Asserted = st.frame.kind, d.functional(st), d.asserted(s, d.datesOf(s), st)
			if fact.Kind == extract.KindEvent && st.frame.functional && !strings.HasSuffix(st.predicate, "_to") {
				fact.Kind = extract.KindFact
			}
		}
		switch {
		case (st.predicate == "has" || st.predicate == "had") && g.past && !g.ended:
			fact.Predicate, fact.Kind = "had", extract.KindEvent
		case st.predicate == "also_known_as":
			fact.Predicate, fact.Functional = "name", true
		case (st.predicate == "is_a" || st.predicate == "has_role") && d.in.Memory && g.past && !g.perfect && !g.ended:
			fact.Predicate, fact.Kind, fact.Functional = "was", extract.KindEvent, false // "I was a fisherman"
		}
		fact.ValidFrom, fact.ValidTo, fact.Precision = d.validity(s, d.datesOf(s), st)
		fact.Object = d.fullObject(s, g, st, fact.Object)
		if count > 1 && st.frame != nil && len(st.frame.preps) == 0 && st.clause.verbTok == g.verb {
			fact.Text = d.restate(s, g, st.target.hi)
			if between := d.SpanText(st.clause.hi-1, st.target.hi); strings.ContainsAny(between, ",") || strings.Contains(between, " and ") {
				fact.Text = strings.TrimSuffix(d.restate(s, g, st.clause.hi), ".") + " " + fact.Object + "."
			}
		}
		dislike(&fact)
		d.addFact(s, fact)
	}
	return count > 0
}

// fullObject extends the object of a preference to the end of its segment: "prefers tea to coffee".
func (d *doc) fullObject(s *language.Sentence, g *segment, st *statement, object string) string {
	if st.predicate != "prefers" || st.target.hi >= g.hi {
		return object
	}
	if i := st.target.hi; d.IsWord(s, i, "to") || d.IsWord(s, i, "over") || d.IsWord(s, i, "rather") || d.IsWord(s, i, "instead") || d.IsWord(s, i, "for") || d.IsWord(s, i, "in") || d.IsWord(s, i, "on") {
		return d.object(st.target.lo, g.hi)
	}
	return object
}

func (d *doc) inSegment(st *statement, g *segment, self string) bool {
	return st.source.key == self && st.clause != nil && st.clause.verbTok >= g.lo && st.clause.verbTok < g.hi && st.predicate != "related_to"
}

// verbName returns the base form of the verb at token i.
func (d *doc) verbName(i int) string {
	t := &d.Tokens[i]
	if t.Word.Verb > 0 {
		return language.VerbAt(t.Word.Verb).Base
	}
	return snake(d.TokenText(i))
}
