package rules

import (
	"strings"
	"time"

	"github.com/contextmem/contextmem/extract"
)

// chatter are verbs whose statements say nothing about the speaker that lasts.
var chatter = map[string]bool{"think": true, "guess": true, "mean": true, "suppose": true, "wonder": true, "see": true, "understand": true, "agree": true,
	"say": true, "tell": true, "ask": true, "thank": true, "appreciate": true, "notice": true, "believe": true, "assume": true, "imagine": true, "doubt": true,
	"realize": true, "recommend": true, "suggest": true, "mention": true, "seem": true, "hear": true, "let": true, "know": true, "welcome": true, "expect": true}

// goalVerbs take "to" and make a goal of what follows.
var goalVerbs = map[string]bool{"want": true, "plan": true, "hope": true, "intend": true, "aim": true, "need": true, "wish": true, "dream": true,
	"try": true, "decide": true, "promise": true, "prepare": true, "consider": true, "look": true, "think": true, "save": true, "train": true}

// requestWords behind "I want to" and the like make a request to the assistant.
var requestWords = map[string]bool{"know": true, "help": true, "understand": true, "ask": true, "see": true, "hear": true, "question": true, "you": true, "your": true,
	"advice": true, "suggestions": true, "recommendations": true, "tips": true, "information": true, "ideas": true, "clarification": true}

// verbFact reads "I VERB ...": preferences, goals, possessions, events and habits.
func (d *doc) verbFact(s *sentence, g *segment, f extract.Fact, sts []statement) {
	verb := g.verb
	if g.be || d.toks[verb].is(fBe) {
		verb = g.comp
	}
	name := d.verbName(verb)
	next := verb + 1
	toVerb := d.isWord(s, next, "to") && next+1 < g.hi
	switch {
	case name == "have" && toVerb:
		d.goal(s, g, f, "needs", next+1)
		return
	case name == "look" && d.isWord(s, next, "forward"):
		d.goal(s, g, f, "looks_forward_to", min(next+2, g.hi))
		return
	case name == "look" && d.isWord(s, next, "for"):
		d.goal(s, g, f, "looks_for", next+1)
		return
	case (name == "think" || name == "dream") && g.progress && (d.isWord(s, next, "of") || d.isWord(s, next, "about")):
		d.goal(s, g, f, "considers", next+1)
		return
	case g.wish && !g.hyp:
		if name != "like" && name != "love" && name != "prefer" {
			next = verb // "would rather walk"
		} else if toVerb {
			next++
		}
		d.goal(s, g, f, "wants", next)
		return
	case goalVerbs[name] && (toVerb || name == "want" || name == "need"):
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
	case name == "call" && d.isWord(s, next, "me"):
		return
	case chatter[name] && !(name == "know" && d.isWord(s, next, "how")) && !d.linkedVerb(verb, sts):
		return
	case g.future:
		d.goal(s, g, f, "plans", verb)
		return
	}
	if name == "leave" && d.leftEmployer(s, g, f, sts) || d.linkedFacts(s, g, f, sts) {
		return
	}
	d.genericFact(s, g, f, name, verb)
}

func (d *doc) goalPredicate(name string) string {
	if w := lookup(name); w.verb > 0 {
		return verbs[w.verb-1].third
	}
	return name
}

// genericFact keeps a statement whose verb has no frame.
func (d *doc) genericFact(s *sentence, g *segment, f extract.Fact, name string, verb int) {
	f.Predicate, f.Object = name, d.object(verb+1, g.hi)
	f.Confidence *= confGeneric / confState
	f.Kind = extract.KindFact
	if g.past && !g.ended && !(g.perfect && d.goesOn(s, g)) {
		f.Kind = extract.KindEvent
	}
	if f.Object == "" && verb+1 < g.hi || f.Object == "" && g.hi-g.lo < 3 && !d.toks[verb].is(fTemporal) && d.toks[verb].w.verb == 0 {
		return
	}
	if d.objectIsPronoun(verb+1, g.hi) {
		return
	}
	if d.prepositional(g, &f, verb) {
		d.addFact(s, f)
		return
	}
	if v := d.toks[verb].w.verb; v > 0 && !(verb+1 < g.hi && d.toks[verb+1].is(fPrep)) {
		for i := range verbs[v-1].frames {
			if fr := &verbs[v-1].frames[i]; len(fr.preps) == 0 && !fr.passive {
				f.Predicate = fr.predicate
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

// prepositional reads the object behind a preposition that the verb's frames know: "Works at Zorblax".
func (d *doc) prepositional(g *segment, f *extract.Fact, verb int) bool {
	v := d.toks[verb].w.verb
	if v == 0 || verb+2 >= g.hi {
		return false
	}
	for i := range verbs[v-1].frames {
		if fr := &verbs[v-1].frames[i]; !fr.passive && fr.matches(d.str(verb+1)) {
			f.Predicate, f.Object, f.Functional, f.Kind = fr.predicate, d.withoutArticle(verb+2, g.hi), fr.functional && !g.past, fr.kind
			return f.Object != ""
		}
	}
	return false
}

// goesOn reports whether a segment says since when or for how long.
func (d *doc) goesOn(s *sentence, g *segment) bool {
	for i := g.comp; i < g.hi; i++ {
		if d.isWord(s, i, "since") || d.isWord(s, i, "for") {
			return true
		}
	}
	return false
}

// objectIsPronoun reports whether an object says nothing alone: "it", "that".
func (d *doc) objectIsPronoun(i, hi int) bool {
	if i >= hi || d.toks[i].kind != kWord {
		return false
	}
	w := strings.ToLower(d.str(i))
	return d.toks[i].is(fIt|fThey) && !d.toks[i].is(fPoss) || w == "that" || w == "this" && i+1 == hi || w == "so"
}

// dislike turns "does not like" into "dislikes".
func dislike(f *extract.Fact) {
	if f.Predicate == "likes" && f.Negated {
		f.Predicate, f.Negated = "dislikes", false
	}
}

// goal adds what the speaker wants or plans, unless it is a request to the one who listens.
func (d *doc) goal(s *sentence, g *segment, f extract.Fact, predicate string, i int) {
	for j := i; j < g.hi && j < i+4; j++ {
		if requestWords[strings.ToLower(d.str(j))] {
			return
		}
	}
	if d.objectIsPronoun(i, g.hi) {
		return // needs what stands before
	}
	f.Predicate, f.Object, f.Kind, f.Confidence = predicate, d.object(i, g.hi), extract.KindGoal, f.Confidence*confGoal/confState
	if f.Object != "" {
		d.addFact(s, f)
	}
}

// becomes reads "I got married".
func (d *doc) becomes(s *sentence, g *segment, f extract.Fact, i int) bool {
	c, ok := beComplements[strings.ToLower(d.str(i))]
	if ok && c.functional {
		d.complementFact(s, g, f, &c, i)
	}
	return ok && c.functional
}

// stopped reads "I stopped eating meat", "I gave up coffee", "I quit my job at Acme".
func (d *doc) stopped(s *sentence, g *segment, f extract.Fact, verb int) bool {
	i := verb + 1
	if d.verbName(verb) == "give" {
		if !d.isWord(s, i, "up") {
			return false
		}
		i++
	}
	if i >= g.hi {
		return false
	}
	f.Retracts, f.Negated, f.Kind = true, false, extract.KindFact
	d.endAt(&f)
	if t := &d.toks[i]; t.w.verb > 0 && t.w.form&formIng != 0 {
		f.Predicate, f.Object = d.verbName(i), d.withoutArticle(i+1, g.hi)
		v := &verbs[t.w.verb-1]
		for k := range v.frames {
			fr := &v.frames[k]
			switch {
			case len(fr.preps) == 0 && !fr.passive && (i+1 >= g.hi || !d.toks[i+1].is(fPrep)):
				f.Predicate, f.Kind, f.Functional = fr.predicate, fr.kind, fr.functional
			case !fr.passive && i+1 < g.hi && fr.matches(d.str(i+1)):
				f.Predicate, f.Object, f.Kind, f.Functional = fr.predicate, d.withoutArticle(i+2, g.hi), fr.kind, fr.functional
			default:
				continue
			}
			break
		}
		if f.Kind == extract.KindEvent {
			f.Kind = extract.KindFact
		}
		d.addFact(s, f)
		return true
	}
	for j := i; j < g.hi; j++ {
		if (d.isWord(s, j, "job") || d.isWord(s, j, "position") || d.isWord(s, j, "work")) && (d.isWord(s, j+1, "at") || d.isWord(s, j+1, "with")) {
			f.Predicate, f.Object, f.Functional = "works_at", d.withoutArticle(j+2, g.hi), true
			d.addFact(s, f)
			return true
		}
	}
	f.Predicate, f.Object = "does", d.withoutArticle(i, g.hi)
	d.addFact(s, f)
	return true
}

// endAt moves the date of an ending to where validity ends.
func (d *doc) endAt(f *extract.Fact) {
	if !f.ValidFrom.IsZero() {
		f.ValidFrom, f.ValidTo = time.Time{}, f.ValidFrom
		return
	}
	if f.ValidTo.IsZero() && !d.ref.IsZero() {
		f.ValidTo, f.Precision = midnight(d.ref), extract.PrecisionDay
	}
}

// leftEmployer reads "I left Acme" as the end of working there.
func (d *doc) leftEmployer(s *sentence, g *segment, f extract.Fact, sts []statement) bool {
	for i := range sts {
		st := &sts[i]
		if st.predicate == "left" && st.target.kind == nodeName && st.target.typ == extract.TypeOrganization && st.target.lo >= g.lo && st.target.hi <= g.hi {
			f.Predicate, f.Object, f.Kind, f.Retracts, f.Functional = "works_at", d.nodeName(&st.target), extract.KindFact, true, true
			d.endAt(&f)
			d.addFact(s, f)
			return true
		}
	}
	return false
}

// linkedVerb reports whether a relation was found for the verb at token i.
func (d *doc) linkedVerb(i int, sts []statement) bool {
	for k := range sts {
		if sts[k].clause != nil && sts[k].clause.verbTok == i {
			return true
		}
	}
	return false
}

// linkedFacts turns the relations of a segment's clause into facts.
func (d *doc) linkedFacts(s *sentence, g *segment, f extract.Fact, sts []statement) bool {
	self := extract.Key(s.speaker)
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
		case st.predicate == "has" && g.past && !g.ended:
			fact.Kind = extract.KindEvent
		case st.predicate == "also_known_as":
			fact.Predicate, fact.Functional = "name", true
		}
		fact.ValidFrom, fact.ValidTo, fact.Precision = d.validity(s, d.datesOf(s), st)
		fact.Object = d.fullObject(s, g, st, fact.Object)
		if count > 1 && st.frame != nil && len(st.frame.preps) == 0 && st.clause.verbTok == g.verb {
			fact.Text = d.restate(s, g, st.target.hi)
			if between := d.surface(st.clause.hi-1, st.target.hi); strings.ContainsAny(between, ",") || strings.Contains(between, " and ") {
				fact.Text = strings.TrimSuffix(d.restate(s, g, st.clause.hi), ".") + " " + fact.Object + "."
			}
		}
		dislike(&fact)
		d.addFact(s, fact)
	}
	return count > 0
}

// fullObject extends the object of a preference to the end of its segment: "prefers tea to coffee".
func (d *doc) fullObject(s *sentence, g *segment, st *statement, object string) string {
	if st.predicate != "prefers" || st.target.hi >= g.hi {
		return object
	}
	if i := st.target.hi; d.isWord(s, i, "to") || d.isWord(s, i, "over") || d.isWord(s, i, "rather") || d.isWord(s, i, "instead") || d.isWord(s, i, "for") || d.isWord(s, i, "in") || d.isWord(s, i, "on") {
		return d.object(st.target.lo, g.hi)
	}
	return object
}

func (d *doc) inSegment(st *statement, g *segment, self string) bool {
	return st.source.key == self && st.clause != nil && st.clause.verbTok >= g.lo && st.clause.verbTok < g.hi && st.predicate != "related_to"
}

// verbName is the base form of the verb at token i.
func (d *doc) verbName(i int) string {
	t := &d.toks[i]
	if t.w.verb > 0 {
		return verbs[t.w.verb-1].base
	}
	return snake(d.str(i))
}
