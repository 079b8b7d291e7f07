package rules

import (
	"sort"
	"strings"
	"time"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// emit adds a statement as a relation, and mentions for its ends if they have none yet.
func (d *doc) emit(s *language.Sentence, st *statement, dates []language.Date) {
	mode, ok := d.statementMode(st)
	if !ok || len(d.out.Relations) >= maxRelations || d.off(s) || emptyObject(st.predicate, st.target.key) || s.Role == language.RoleAssistant && st.clause != nil {
		return
	}
	mode = d.stillMode(s, st, dates, mode)
	if d.in.Memory && d.untoldInMemory(s, st) || st.clause != nil && d.unreal(s, st.clause.verbTok) {
		return
	}
	if st.predicate != "related_to" && !d.soundRelation(s, st, mode) {
		return
	}
	d.mentionNode(&st.source, st.frame, true)
	d.mentionNode(&st.target, st.frame, false)
	if mode == extract.ModePlan && st.frame != nil && st.frame.kind == extract.KindEvent {
		if from, _, _ := d.validity(s, dates, st); !from.After(d.Reference) {
			return // "we will get a dog" states nothing that happened
		}
	}
	rel := extract.Relation{Source: st.source.key, Target: st.target.key, Predicate: st.predicate, Raw: st.raw, Confidence: st.conf, Mode: mode, Chunk: d.chunkOf(s)}
	rel.Context = clip(d.Text[d.Tokens[s.Lo].Start:d.Tokens[s.Hi-1].End])
	rel.Temporal = d.temporalWords(s, dates)
	if st.clause != nil {
		rel.Negated, rel.Retracts, rel.Functional = st.clause.negated || st.clause.ended, st.clause.ended, (d.functional(st) || st.predicate == "diet" && st.clause.holds()) && !d.bygone(st.predicate, st.clause.verbTok)
		rel.Asserted = d.asserted(s, dates, st)
		rel.ValidFrom, rel.ValidTo, rel.Precision = d.validity(s, dates, st)
	}
	if rel.Asserted.IsZero() {
		rel.Asserted = d.earlier(s)
	}
	d.out.Relations = append(d.out.Relations, rel)
	if implied, ok := d.implied(s, st, rel); ok {
		d.out.Relations = append(d.out.Relations, implied)
	}
}

// stillMode is the mode of a relation in a clause of mode m: what went on from then is asserted, what may be over is past.
func (d *doc) stillMode(s *language.Sentence, st *statement, dates []language.Date, m extract.Mode) extract.Mode {
	c := st.clause
	switch {
	case m == extract.ModePast && c == nil && d.stillRelated(st.predicate, st.target.lo), m == extract.ModePlan && c == nil && d.ownedBy(st.target.lo):
		return extract.ModeAsserted
	case m == extract.ModeAsserted && c != nil && d.bygone(st.predicate, c.verbTok):
		return extract.ModePast
	case m == extract.ModePast && c != nil && !c.ended:
		if from, _, _ := d.validity(s, dates, st); d.arrived(s, st.predicate, c.verbTok, from) {
			return extract.ModeAsserted
		}
	}
	return m
}

// untoldInMemory reports whether a statement of a memory is not what its words tell: the object says nothing, or the words are those of
// somebody else, a belief, or about a time that is over.
func (d *doc) untoldInMemory(s *language.Sentence, st *statement) bool {
	target, c := &st.target, st.clause
	if target.kind == nodePhrase && hollow(st.predicate, target.key) || target.kind != nodeName && timeAlone(st.predicate, target.key) {
		return true
	}
	if c == nil {
		return false
	}
	if d.supposed(s, c.verbTok) || st.source.kind == nodeSpeaker && d.hearsay(s, c.verbTok) {
		return true
	}
	if c.future && c.negated && !c.ended && st.frame != nil {
		return true // "will not hear a word" states nothing that happened
	}
	if !c.past || c.perfect || c.ended {
		return false
	}
	return st.predicate == "is_a" || st.predicate == "diet" || st.predicate == "has_role" && c.verbTok > 0 && d.Tokens[c.verbTok].Is(language.FormOfBe) // "I was vegan for two years"
}

// implied returns the relation that a statement in a memory implies about somebody's job. Leaving a company ends the job there;
// starting a job at a company, or joining it in some role, begins one. Leaving a place implies nothing, since the person may come
// back.
func (d *doc) implied(s *language.Sentence, st *statement, rel extract.Relation) (extract.Relation, bool) {
	c := st.clause
	if !d.in.Memory || c == nil || rel.Negated || rel.Mode == extract.ModePlan || st.target.kind != nodeName || st.source.kind != nodeSpeaker && st.source.typ != extract.TypePerson && st.source.key != "user" {
		return rel, false
	}
	switch typ := st.target.typ; st.predicate {
	case "left", "quit":
		if typ != extract.TypeOrganization && typ != extract.TypeConcept && typ != "" || d.Tokens[st.target.lo].Is(language.PlaceName) {
			return rel, false
		}
		rel.Predicate, rel.Negated, rel.Retracts, rel.Functional, rel.ValidFrom, rel.ValidTo = "works_at", true, true, false, time.Time{}, rel.ValidFrom
	case "started_at":
		if !d.anyWord(s, c.lo, c.end, "job", "position", "role", "working", "work") {
			return rel, false
		}
		rel.Predicate, rel.Functional = "works_at", true
	case "member_of":
		if !d.IsWord(s, st.target.hi, "as") || typ == extract.TypePerson || typ == extract.TypeLocation {
			return rel, false
		}
		rel.Predicate, rel.Functional = "works_at", true
	default:
		return rel, false
	}
	return rel, true
}

// anyWord reports whether one of the given words occurs in [lo, hi).
func (d *doc) anyWord(s *language.Sentence, lo, hi int, list ...string) bool {
	for i := max(lo, s.Lo); i < min(hi, s.Hi); i++ {
		if d.IsOneOf(s, i, list...) {
			return true
		}
	}
	return false
}

// chunkOf returns the last chunk that contains the start of a sentence.
func (d *doc) chunkOf(s *language.Sentence) (chunk int) {
	if len(d.in.Chunks) > 0 {
		_, chunk = language.ChunksAt(d.in.Chunks, int(d.Tokens[s.Lo].Start))
	}
	return chunk
}

// mentionNode makes sure that an end of a relation is a mention. The frame gives the name a type if nothing else does.
func (d *doc) mentionNode(n *node, fr *frame, source bool) {
	typ := n.typ
	if fr != nil {
		want := fr.target
		if source != fr.swap {
			want = fr.source
		}
		if want != "" && (typ == extract.TypeConcept || typ == "") && n.kind != nodePhrase {
			typ = want
		}
	}
	switch n.kind {
	case nodePronoun, nodeDate, nodeLiteral:
		return
	}
	m := extract.Mention{Name: n.name, Key: n.key, Type: typ, Start: int(d.Tokens[n.lo].Start), End: int(d.Tokens[n.hi-1].End), Weak: n.weak, Phrase: n.kind == nodePhrase}
	if m.Name == "" {
		m.Name = d.Text[m.Start:m.End]
	}
	d.AddMention(m)
}

// clip shortens a sentence to MaxContext bytes at a rune boundary.
func clip(s string) string {
	if len(s) <= extract.MaxContext {
		return s
	}
	n := extract.MaxContext
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

// datesOf returns the dates of a sentence.
func (d *doc) datesOf(s *language.Sentence) []language.Date {
	lo := sort.Search(len(d.Dates), func(i int) bool { return d.Dates[i].Lo >= s.Lo })
	hi := lo
	for hi < len(d.Dates) && d.Dates[hi].Lo < s.Hi {
		hi++
	}
	return d.Dates[lo:hi]
}

// temporalWords joins the words of a sentence that express a time.
func (d *doc) temporalWords(s *language.Sentence, dates []language.Date) string {
	first, rest := "", []string(nil)
	add := func(w string) {
		if first == "" {
			first = w
		} else if len(rest) < 8 {
			rest = append(rest, w)
		}
	}
	di := 0
	for i := s.Lo; i < s.Hi; i++ {
		for di < len(dates) && dates[di].Lo < i {
			di++
		}
		if di < len(dates) && dates[di].Lo == i {
			lo := i
			if i > s.Lo && d.Tokens[i-1].Kind == language.KindWord && d.Tokens[i-1].Is(language.Preposition) {
				lo = i - 1
			}
			add(d.SpanText(lo, dates[di].Hi))
			i = dates[di].Hi - 1
			continue
		}
		if t := &d.Tokens[i]; t.Kind == language.KindWord && t.Shape == language.LowerCase && t.Is(language.Temporal) && !t.Is(language.Preposition|language.Adjective) {
			add(d.TokenText(i))
		}
	}
	if len(rest) == 0 {
		return first
	}
	return first + "; " + strings.Join(rest, "; ")
}

// firstYear is the first year that a number in a memory can mean: "my goal is 1400" tells no time.
const firstYear = 1850

// validity derives the bounds of a statement from the dates of its sentence. "since" sets the start, "until" the end, "from ... to"
// both. A date alone bounds an event and a past state on both sides, and is the start of a state that continues.
func (d *doc) validity(s *language.Sentence, dates []language.Date, st *statement) (from, to time.Time, prec string) {
	c := st.clause
	count := 0
	for i := range dates {
		h := &dates[i]
		if d.elsewhere(s, h, c) || d.otherDate(s, h, c) || d.anniversary(s, h) {
			continue
		}
		count++
		coarser(&prec, h.Precision)
		switch {
		case d.endsPeriod(s, h.Lo-1, count == 2), d.untilClause(s, h, c), d.untilThing(s, h):
			to = h.To
		case d.IsOneOf(s, h.Lo-1, "since", "from", "after", "between"):
			from = h.From
			if h.Precision == extract.PrecisionDay && h.To.Sub(h.From) > 2*24*time.Hour && d.IsOneOf(s, h.Lo-1, "from", "between") { // "from 3 to 12 September"
				to = h.To
			}
		case count == 1:
			from = h.From
			if !st.lasts() && (c.past || st.isEvent()) {
				to = h.To
			}
		}
	}
	if count == 0 {
		from, prec = d.goneOn(s, c)
	}
	if c.ended && to.IsZero() && !d.Reference.IsZero() {
		to = language.Midnight(d.Reference)
		if !from.IsZero() && !from.Before(to) {
			from = time.Time{}
		}
		coarser(&prec, extract.PrecisionDay)
	}
	if !from.IsZero() && !to.IsZero() && to.Before(from) {
		to = time.Time{}
	}
	if d.setAhead(c, from) {
		from, to = time.Time{}, time.Time{} // "she got the letter, for September"
	}
	if from.IsZero() && to.IsZero() {
		prec = ""
	}
	return from, to, prec
}

// setAhead reports whether a clause in the past has a date that lies ahead, and a verb of which it cannot be the date.
func (d *doc) setAhead(c *clause, from time.Time) bool {
	return c.past && !c.future && d.in.Memory && !d.Reference.IsZero() && from.After(d.Reference) && !d.arranges(c.verbTok)
}

// arranges reports whether the verb at token i is one of setting something for a later time, or of having it: "booked a cruise for May", "got a
// place on 26 April".
func (d *doc) arranges(i int) bool {
	if i < 0 {
		return false
	}
	switch d.verbName(i) {
	case "book", "rebook", "reserve", "schedule", "reschedule", "postpone", "arrange", "enroll", "register", "sign", "move", "delay", "push", "get", "have", "set", "plan", "extend", "invite", "offer":
		return true
	}
	return false
}

// elsewhere reports whether a date tells nothing about a clause: it is unresolved, no year, or stands outside of the clause and not at the
// start of the sentence or of the clause: "... and in 2015 we moved".
func (d *doc) elsewhere(s *language.Sentence, h *language.Date, c *clause) bool {
	if h.From.IsZero() || d.in.Memory && h.Precision == extract.PrecisionYear && h.From.Year() < firstYear {
		return true
	}
	if h.Lo >= c.end && c.end > 0 {
		return true
	}
	if h.Lo >= c.lo || h.Lo <= s.Lo+2 {
		return false
	}
	return !d.in.Memory || c.verbTok-h.Hi > 3 || !d.opensNext(s, h.Lo-1, h.Hi) && !d.opensNext(s, h.Lo, h.Hi)
}

// endsPeriod reports whether the word at token i makes the date after it the end of a period; second says that it is the second date.
func (d *doc) endsPeriod(s *language.Sentence, i int, second bool) bool {
	return d.IsOneOf(s, i, "until", "till", "til", "before") || second && (d.IsOneOf(s, i, "to", "and") || d.IsPunct(s, i, '-'))
}

// isEvent reports whether a statement is one of an event.
func (st *statement) isEvent() bool { return st.frame != nil && st.frame.kind == extract.KindEvent }

// lasts reports whether what a statement says holds on after it has begun.
func (st *statement) lasts() bool {
	return st.frame != nil && st.frame.functional && (st.isEvent() || !st.clause.past || st.clause.perfect)
}

// functional reports whether a statement is about the present and its predicate has one value at a time.
func (d *doc) functional(st *statement) bool {
	f, c := st.frame, st.clause
	if f == nil || !f.functional || c == nil {
		return false
	}
	gone := f.kind != extract.KindEvent && c.past && !c.perfect && !c.passive // "worked at" says nothing about the present
	return !gone && !c.future && !c.hyp && !c.negated && !c.ended
}

// holds reports whether a clause says that something is so now.
func (c *clause) holds() bool { return !c.past && !c.future && !c.hyp && !c.negated && !c.ended }

// asserted returns the end of the period of a dated change: "in 2015 I moved to Oslo" says nothing about later years. Zero means that
// the statement is about the time at which it was said.
func (d *doc) asserted(s *language.Sentence, dates []language.Date, st *statement) time.Time {
	if !d.functional(st) || st.frame.kind != extract.KindEvent || d.Reference.IsZero() {
		return time.Time{}
	}
	from, _, _ := d.validity(s, dates, st)
	for i := range dates {
		if h := &dates[i]; !from.IsZero() && h.From.Equal(from) && h.To.Before(d.Reference) {
			return h.To
		}
	}
	return time.Time{}
}

// earlier returns when a sentence was said if that is before the time of the item, else zero.
func (d *doc) earlier(s *language.Sentence) time.Time {
	if s.Said.IsZero() || !s.Said.Before(d.in.Time) {
		return time.Time{}
	}
	return s.Said
}

// coarser sets prec to the coarser of two precisions.
func coarser(prec *string, p string) {
	if *prec == "" || p == extract.PrecisionYear || p == extract.PrecisionMonth && *prec == extract.PrecisionDay {
		*prec = p
	}
}
