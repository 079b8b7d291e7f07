package rules

import (
	"strings"
	"time"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// linkedVerb reports whether a relation was found for the verb at token i.
func (d *doc) linkedVerb(i int, sts []statement) bool {
	for k := range sts {
		if sts[k].clause != nil && sts[k].clause.verbTok == i {
			return true
		}
	}
	return false
}

// linkedFacts adds the relations of a segment's clause as facts. It reports whether there are any.
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
		d.stateLinked(s, g, st, &fact)
		if count > 1 && st.frame != nil && len(st.frame.preps) == 0 && st.clause.verbTok == g.verb {
			fact.Text = d.oneOfList(s, g, st, fact.Object)
		}
		dislike(&fact)
		d.addFact(s, fact)
	}
	return count > 0
}

// stateLinked makes f state what a relation of the segment states.
func (d *doc) stateLinked(s *language.Sentence, g *segment, st *statement, f *extract.Fact) {
	f.Predicate, f.Object, f.Confidence, f.Kind = st.predicate, d.nodeName(&st.target), max(st.conf, confState)*f.Confidence/confState, extract.KindFact
	f.Negated = f.Negated || st.clause.negated && !st.clause.ended && !g.ended
	if st.frame != nil {
		f.Kind, f.Functional, f.Asserted = st.frame.kind, d.functional(st), d.asserted(s, d.datesOf(s), st)
		if f.Kind == extract.KindEvent && st.frame.functional && !strings.HasSuffix(st.predicate, "_to") {
			f.Kind = extract.KindFact
		}
	}
	switch gone := g.past && !g.ended; st.predicate {
	case "has", "had":
		if gone {
			f.Predicate, f.Kind = "had", extract.KindEvent
		}
	case "also_known_as":
		f.Predicate, f.Functional = "name", true
	case "is_a", "has_role", "diet":
		if gone && d.in.Memory && !g.perfect {
			f.Predicate, f.Kind, f.Functional = "was", extract.KindEvent, false // "I was a fisherman"
		}
	}
	f.ValidFrom, f.ValidTo, f.Precision = d.validity(s, d.datesOf(s), st)
	f.Object = d.fullObject(s, g, st, f.Object)
}

// oneOfList returns the sentence for one of several objects of a verb, without the objects before it.
func (d *doc) oneOfList(s *language.Sentence, g *segment, st *statement, object string) string {
	between := d.SpanText(st.clause.hi-1, st.target.hi)
	if strings.Contains(between, ",") || strings.Contains(between, " and ") {
		return strings.TrimSuffix(d.restate(s, g, st.clause.hi), ".") + " " + object + "."
	}
	return d.restate(s, g, st.target.hi)
}

// fullObject extends the object of a preference to the end of its segment: "prefers tea to coffee".
func (d *doc) fullObject(s *language.Sentence, g *segment, st *statement, object string) string {
	if st.predicate != "prefers" || st.target.hi >= g.hi {
		return object
	}
	if d.IsOneOf(s, st.target.hi, "to", "over", "rather", "instead", "for", "in", "on") {
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
	if t.Word().Verb > 0 {
		return language.VerbAt(t.Word().Verb).Base
	}
	return snake(d.TokenText(i))
}

// dislike changes "does not like" to "dislikes".
func dislike(f *extract.Fact) {
	if f.Predicate == "likes" && f.Negated {
		f.Predicate, f.Negated = "dislikes", false
	}
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
