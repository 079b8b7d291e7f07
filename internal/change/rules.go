package change

import (
	"math"
	"slices"
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/lazyregexp"
	"github.com/contextmem/contextmem/internal/slot"
)

// cueWords say that something changed, but not what.
var cueWords = words(`no not never longer anymore any more now today yesterday tomorrow since ago still yet already again off back over up down
	quit quits quitting stop stops stopped stopping give gave given giving drop dropped cancel cancelled canceled cancelling called call
	forget ignore scratch correction correct actually turn turns turned out wrong mistake meant mean sorry wait instead said say says saying told tell think thought
	got get gets getting go goes went gone going come came make made take took put new old last next this week weeks month months year years day days
	one two ago first really just only well ok okay yes yeah nah nope right thing things bit lot much many good bad
	i'm i've i'd i'll it's that's monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december
	use used sell sold swap swapped switch switched replace replaced instead`)

func words(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

// verdict is what a decider says about a later and an earlier statement.
type verdict struct {
	confidence float64
	retracts   bool
	matter     string // words of the earlier statement
	evidence   string // words of the later statement
	decider    string
	matters    []string // see Asked; nil: unknown
	loose      bool     // the statements name a thing in other words, so that only one earlier statement may be about it
}

// Bounds of the rules, chosen on conversations that the rules were not written for.
const (
	ruleConfidence = 0.85
	likely         = 0.7 // orders two memories and is not shown
	minCoverage    = 0.5 // share of a clause's weight that another clause has to contain
	minShared      = 0.5 // share of the shorter clause's weight, without values, that two clauses about one thing have in common
	rareShare      = 0.05
	rareFloor      = 3 // a term in at most this many chunks is rare in any collection
)

// vocabulary holds how many chunks of a collection use each term of a statement.
type vocabulary struct {
	docs int
	df   map[string]int
}

func (v *vocabulary) weight(term string) float64 {
	return math.Log(1 + float64(v.docs+1)/float64(v.df[term]+1))
}

// rare reports whether a term occurs in so few chunks that two clauses with it are about one thing.
func (v *vocabulary) rare(term string) bool {
	return v.df[term] <= max(rareFloor, int(rareShare*float64(v.docs)))
}

// doing is the effect of a clause on earlier statements.
type doing struct {
	cue                      string // see cueOf
	moves                    bool   // a value changed
	disproved, gone, swapped string // what the clause says is untrue, has ended, or is no longer used; empty if nothing
}

// do returns the effect of a clause, and computes it once.
func (c *clause) do() *doing {
	if c.does == nil {
		may := triggersOf(c.Text)
		first := func(needs trigger, r *lazyregexp.Regexp) string {
			if may&needs == 0 {
				return ""
			}
			if m := r.FindStringSubmatch(c.Text); m != nil {
				return m[1]
			}
			return ""
		}
		c.does = &doing{cueOf(c, may), may&mayMove != 0 && changes.MatchString(c.Text), first(mayDisprove, disproves), first(mayBeGone, gone), first(maySwap, swapped)}
		if opinion.MatchString(c.does.disproved) {
			c.does.disproved = ""
		}
	}
	return c.does
}

// nothing reports whether a clause has no effect on earlier statements.
func (d *doing) nothing() bool { return *d == doing{} }

// byRules decides whether later replaces earlier by the cues, the facts and the values in later. Slots of t name the matters of facts.
func byRules(later, earlier *statement, v *vocabulary, t *slot.Taxonomy) (verdict, bool) {
	if x, ok := byEnding(later, earlier); ok {
		if f, also := byFacts(later, earlier, t); also {
			x.matters = f.matters
		}
		return x, true
	}
	x, cued := byCues(later, earlier, v)
	f, ok := byFacts(later, earlier, t)
	switch {
	case !cued && ok:
		return f, true
	case cued && ok && (strings.Contains(f.matter, x.matter) || strings.Contains(x.matter, f.matter)):
		x.matters = f.matters
		if len(f.matter) < len(x.matter) {
			x.matter = f.matter
		}
	}
	if !cued {
		if x, cued = byOwner(later, earlier); cued {
			return x, true
		}
		x, cued = byAttribute(later, earlier)
	}
	if !cued {
		x, cued = byVersion(later, earlier)
	}
	if !cued {
		x, cued = byResumption(later, earlier, v)
	}
	if !cued {
		x, cued = byPause(later, earlier, v)
	}
	if !cued {
		x, cued = byMove(later, earlier)
	}
	if !cued {
		x, cued = byShift(later, earlier, v)
	}
	if !cued {
		if x, cued = byCallOff(later, earlier); cued {
			return x, true
		}
		if x, cued = byBooking(later, earlier, v); cued {
			return x, true
		}
		if x, cued = byDropping(later, earlier, v); cued {
			return x, true
		}
	}
	if f, exact, ok := byEvent(later, earlier); ok {
		if cued {
			x.matters = f.matters
			return x, true
		}
		f.loose = !exact
		return f, true
	}
	return x, cued
}

// keepExact drops loose verdicts of a later statement that has another verdict of the rules: of two earlier statements that it may be about, it is
// about one at most.
func keepExact(s *statement, near []*statement, out []verdict) {
	alone := map[*statement]int{} // by later statement: the number of verdicts; a loose one needs to be alone
	for i, n := range near {
		if later, _ := order(s, n); out[i].confidence > 0 {
			alone[later]++
		}
	}
	for i, n := range near {
		if later, _ := order(s, n); out[i].loose && alone[later] > 1 {
			out[i] = verdict{}
		}
	}
}

// byCues decides by the cues in later: that something ended, was called off, or was said wrongly.
func byCues(later, earlier *statement, v *vocabulary) (verdict, bool) {
	ls, es := later.parse(), earlier.parse()
	for i := range ls {
		l := &ls[i]
		does := l.do()
		if does.nothing() {
			continue
		}
		for j := range es {
			if cue := byValue(l, &es[j], earlier, v); cue != "" {
				return verdict{confidence: ruleConfidence, retracts: cue == "disproved", matter: earlier.guessed(cue, es, j), evidence: l.Text, decider: "rules: " + cue}, true
			}
		}
		if does.cue == "" || does.cue == "ended" && later.endsClass(l.Text) {
			continue
		}
		for j := range es {
			if e := &es[j]; (states(e) || does.cue == "cancelled" && e.Mode == extract.ModePast && service.MatchString(e.Text) && withdrew.MatchString(l.Text)) && e.do().cue == "" && fits(does.cue, l, e, later, v) {
				return verdict{confidence: ruleConfidence, retracts: does.cue != "ended" && does.cue != "replaced", matter: e.Text, evidence: l.Text, decider: "rules: " + does.cue}, true
			}
		}
	}
	return verdict{}, false
}

// refersBack matches clauses about what the clause before them tells.
var refersBack = lazyregexp.New(`(?i)^(?:(?:and|so|but|that)[, ]+)*(?:it|it['’]s|its|this|that|that['’]s|they|they['’]re|those|these)\b`)

// guessed returns the words of an earlier statement that a clause with a cue ends: clause j, and of a disproved guess what it is a guess about too, as in
// "I cough since November. Keane thinks it is the iroko".
func (s *statement) guessed(cue string, all []clause, j int) string {
	if cue != "disproved" || !refersBack.MatchString(all[j].Text) {
		return all[j].Text
	}
	from := j
	for from > 0 && believes.MatchString(all[from-1].Text) && len(all[from-1].terms()) < minTerms { // "Keane thinks"
		from--
	}
	from = max(from-1, 0)
	return strings.TrimSpace(s.text[all[from].Start:all[j].End])
}

// cued reports whether a statement has a clause with an effect on earlier statements. The result is computed once.
func (s *statement) cued() bool {
	if !s.looked {
		s.looked = true
		may := triggersOf(s.text)
		s.changes = may&mayHand != 0 && len(s.owners()) > 0 || may&mayGet != 0 && upgraded.MatchString(s.text) || may&mayShift != 0 && slices.ContainsFunc(s.events(), func(e event) bool { return e.changed })
		s.changes = s.changes || may&mayPass != 0 && slices.ContainsFunc(s.plainFacts(), func(f fact) bool { return !f.vague }) || (may&mayTell != 0 || may&mayState != 0 && factual.MatchString(s.text)) && len(s.facts()) > 0
		s.changes = s.changes || s.stopsOrGoesOn(may)
		if may&mayCancel != 0 && !s.changes {
			noun, _, _ := s.cancelledNoun()
			s.changes = noun != "" || len(s.bookingsOff()) > 0
		}
		may = triggersWithin(s.text) // the text is split into clauses only if it has a trigger word
		s.changes = s.changes || may&mayValue != 0 && len(s.attributes()) > 0
		if s.changes || may&mayDo == 0 {
			return s.changes
		}
		all := s.parse()
		for i := 0; i < len(all) && !s.changes; i++ {
			s.changes = !all[i].do().nothing()
		}
	}
	return s.changes
}

// stopsOrGoesOn reports whether a statement says that something ended, was called off or moved, or that the speaker does it again.
func (s *statement) stopsOrGoesOn(may trigger) bool {
	return may&mayCorrect != 0 && s.correcting() || may&mayGiveUp != 0 && len(s.endings()) > 0 || may&mayResume != 0 && len(s.resumptions()) > 0 || may&mayGoOn != 0 && len(s.goings()) > 0 || may&mayMoveHouse != 0 && len(s.moves()) > 0 || may&mayDrop != 0 && len(s.droppings()) > 0 ||
		may&mayCarry != 0 && len(s.shifts()) > 0 || may&mayCallOff != 0 && len(s.offs()) > 0
}

// believed reports whether a statement is somebody's guess of a cause. The result is computed once.
func (s *statement) believed() bool {
	if !s.asked {
		s.asked, s.guess = true, believes.MatchString(s.text)
	}
	return s.guess
}

// states reports whether a clause says something that can end.
func states(c *clause) bool {
	switch c.Mode {
	case extract.ModeAsserted, extract.ModePlan, extract.ModeWish, "":
		return c.About != extract.AboutAssistant
	}
	return false
}

var (
	withdraws   = lazyregexp.New(`(?i)\b(forget|ignore|scratch|disregard) (what|everything|that bit|the (bit|part|thing)) `)
	withdrew    = lazyregexp.New(`(?i)\b(?:(?:pull|pulled|pulling|back|backed|backing|drop|dropped|dropping|bailed) out|withdrew|withdrawn)\b`)
	firstPerson = lazyregexp.New(`(?i)\b(i|i'm|i've|i'd|we|we're|we've|my|our|me|us)\b`)
	anyMore     = lazyregexp.New(`(?i)\b(don['’]?t|doesn['’]?t|not|no)\b.*\b(any ?more|any longer)\b`)
	denied      = lazyregexp.New(`(?i)\b(won['’]?t|would|(?:i|we)['’]d|never|not going to|not gonna|don['’]?t|can['’]?t|wouldn['’]?t|couldn['’]?t|haven['’]?t|hasn['’]?t|didn['’]?t) (?:\pL+ )?(?:quit|stop|give up|sell|leave|drop|cancel|end)`) // "I won't quit"
	othersThing = lazyregexp.New(`(?i)\b(my|our) \pL+['’]s `)                                                                                                                                                                                     // "my sister's car"
	dated       = lazyregexp.New(`(?i)\b(jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec|january|february|march|april|june|july|august|september|october|november|december|(mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|next (week|month|year|spring|summer|autumn|fall|winter)|\d{1,2}(st|nd|rd|th))\b`)
	// oldValue matches the old value that a clause names beside the new one.
	oldValue = lazyregexp.New(`(?i)(?:\bnot (?:the |a |an )?([\pL\d][\pL\d.,:]*)(?: but\b|[.!,;)]*$)|\binstead of (?:the |a |an |my |our )?([\pL\d][\pL\d.,:]*)|\b(?:switched|moved|went) from ([\pL\d][\pL\d.,:]*) to\b)`)
)

// cueOf returns the effect of a clause on earlier statements; empty if it has none.
func cueOf(c *clause, may trigger) string {
	switch {
	case c.Mode == extract.ModeCancelled && withdraws.MatchString(c.Text):
		return "withdrawn"
	case may&mayBeOurs != 0 && othersThing.MatchString(c.Text):
		return ""
	case c.Mode == extract.ModeCancelled && c.About == extract.AboutOther:
		return ""
	case c.Mode == extract.ModeCancelled:
		return "cancelled"
	case may&mayDeny != 0 && denied.MatchString(c.Text):
		return ""
	case (c.Mode == extract.ModeEnded || c.Mode == extract.ModeNegated && may&mayEnd != 0 && anyMore.MatchString(c.Text)) && c.About == extract.AboutSpeaker && firstPerson.MatchString(c.Text):
		return "ended"
	case (c.Mode == extract.ModeCorrected || c.Mode == extract.ModeAsserted || c.Mode == extract.ModePast) && may&mayReplace != 0 && oldValue.MatchString(c.Text):
		return "replaced"
	}
	return ""
}

// fits reports whether a clause with a cue is about an earlier clause.
func fits(cue string, l, e *clause, later *statement, v *vocabulary) bool {
	switch cue {
	case "replaced":
		return fitsValue(l, e, v)
	case "cancelled":
		if e.Mode != extract.ModePlan && e.Mode != extract.ModeWish && !dated.MatchString(e.Text) && !service.MatchString(e.Text) {
			return false
		}
		if m := takesBack.FindStringSubmatch(strings.TrimRight(strings.TrimSpace(l.Text), ".!;,")); m != nil { // "forget the fire alarm" is not about the fire walk
			if _, _, head := dropTerms(m[1]); head != "" && !e.terms()[head] {
				return false
			}
		}
	case "ended":
		if e.About != extract.AboutSpeaker {
			return false
		}
	}
	var all, shared float64
	rare := false
	earlier := e.terms()
	for t := range l.terms() {
		w := v.weight(t)
		all += w
		if earlier[t] {
			shared += w
			rare = rare || v.rare(t) && !isValue(t)
		}
	}
	return rare && shared >= minCoverage*all
}

// fitsValue reports whether an earlier clause has the value that l replaces and is about the same thing.
func fitsValue(l, e *clause, v *vocabulary) bool {
	m := oldValue.FindStringSubmatch(l.Text)
	value := ""
	for _, g := range m[1:] {
		value += g
	}
	old, terms := termsOf(value), e.terms()
	for t := range old {
		if !terms[t] || !v.rare(t) {
			return false
		}
	}
	if len(old) == 0 {
		return false
	}
	for t := range l.terms() {
		if !old[t] && terms[t] && v.rare(t) {
			return true
		}
	}
	return false
}
