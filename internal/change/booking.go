package change

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/lazyregexp"
)

// People say that they booked something in the past tense, and later that it was cancelled, by a part of its name: "We booked Lisbon! Flying out
// 9 May", "the trip to Lisbon is cancelled". The words of what was cancelled have to be words of the booking. A noun for events may be left over
// if the booking has a name in common with it.

var (
	arranged = lazyregexp.New(`(?i)\b(?:booked|reserved|scheduled|arranged|organi[sz]ed|planned|registered|enrolled|hired|rented|ordered|set up|lined up|signed (?:\pL+ )?up|put (?:down )?(?:a|the) deposit|paid (?:a|the) deposit)\b` +
		`|(?i)\b(?:bought|got|have)\b.*\btickets?\b|\b(?:i|we)(?:['’]ve)? (?:got|have|found) (?:us |me |\pL+ )?(?:an? |the )?(?:babysitter|sitter|viewing|appointment|reservation|booking|slot|table|room)\b|\b(?:got|have) .* booked\b`)
	offThing = lazyregexp.New(`(?i)^` + offStart + `(.+?)(?:(?: is|['’]s| are| was| were| has| have| got| just)+(?: been| just| now| all| definitely| sadly| also| completely)* (?:off|cancelled|canceled|called off|scrapped|not (?:happening|going ahead|taking place|running))` +
		`|(?: is|['’]s| are|)(?:n['’]t| not) (?:happening|going ahead|taking place|running)(?: any ?more| after all)?)` + offEnd)
	offBy = lazyregexp.New(`(?i)^` + offStart + `((?:[\pL\d'’-]+ ){1,3}?)(?:has |have |had |just |now |already |also |sadly |had to |have to |has to |['’]ve )*(?:cancelled|canceled|called off|scrapped|cancel|call off)(?: (?:on )?(?:me|us|him|her|them)\b)?( .+?)?` + offEnd)
)

const (
	offStart = `(?:(?:so|and|well|sadly|ok|okay|but|anyway|right|actually|update|bad news|turns out|unfortunately|sorry)[,:]? +)*`
	offEnd   = `(?:,.*| (?:because|for now|after all|again|then|due|since|altogether|in the end|by (?:the|a)|any ?more|this (?:week|weekend|time|year|month)|on (?:me|us)|so)\b.*)?$`
)

var (
	// notYet matches clauses in which nothing is cancelled yet.
	notYet = lazyregexp.New(`(?i)\b(?:nearly|almost|might|may|could|can|should|would|will|won['’]t|['’]ll|want|wants|going to|about to|thinking|never|haven['’]t|hasn['’]t|didn['’]t|don['’]t|not|refuse[ds]?|if|unless)\b|\?`)
	theirs = lazyregexp.New(`(?i)^(?:his|her|their|its|your)\b`)
	// bookingForm are words by which a cancellation names any booking.
	bookingForm = words(`booking bookings reservation reservations ticket tickets plan plans order thing whole stuff deposit seat seats place`)
	pronouns    = words(`i we they he she you it i've we've they've who`)
)

// cancelled is what a statement says is cancelled.
type cancelled struct {
	thing string
	nouns []string // its words without words of form
	by    string   // who cancelled it, if that is neither the speaker nor unknown
	text  string   // the clause
}

// bookingsOff returns what a statement says is cancelled, and computes it once.
func (s *statement) bookingsOff() []cancelled {
	if s.offRead {
		return s.bookings
	}
	s.offRead = true
	if len(s.text) > maxStated || triggersOf(s.text)&(mayCancel|mayCallOff) == 0 {
		return nil
	}
	for _, c := range s.parse() {
		switch c.Mode {
		case extract.ModeQuestion, extract.ModeHypothetical, extract.ModeQuote, extract.ModeFiction, extract.ModeJoke, extract.ModeWish, extract.ModeInstruction:
			continue
		}
		text := strings.TrimRight(strings.TrimSpace(c.Text), ".!;,")
		var x cancelled
		if m := offThing.FindStringSubmatch(text); m != nil && !notYet.MatchString(m[1]) {
			x = cancelled{thing: m[1]}
		} else if m := offBy.FindStringSubmatch(text); m != nil && !notYet.MatchString(text) {
			x = cancelled{thing: strings.TrimSpace(m[2]), by: strings.TrimSpace(m[1])}
			if x.thing == "" { // "the babysitter cancelled on us"
				x.thing, x.by = x.by, ""
			}
			if theirs.MatchString(x.thing) {
				continue
			}
			if pronouns[strings.ToLower(x.by)] {
				x.by = ""
			}
		}
		if x.text = c.Text; x.thing == "" || pronouns[strings.ToLower(x.thing)] {
			continue
		}
		for _, w := range lettersOf.Compiled().FindAllString(strings.NewReplacer("'s", "", "’s", "").Replace(x.thing), -1) {
			if l := strings.ToLower(w); !eventForm[l] && !bookingForm[l] && !cueWords[l] {
				x.nouns = append(x.nouns, l)
			}
		}
		if len(x.nouns) > 0 {
			s.bookings = append(s.bookings, x)
		}
	}
	return s.bookings
}

// byBooking decides by a booking in the earlier statement that the later one says is cancelled.
func byBooking(later, earlier *statement, v *vocabulary) (verdict, bool) {
	offs := later.bookingsOff()
	if len(offs) == 0 || len(earlier.text) > maxStated || !arranged.MatchString(earlier.text) {
		return verdict{}, false
	}
	all := earlier.parse()
	for i := range all {
		e := &all[i]
		if e.Mode != extract.ModePast && e.Mode != extract.ModeAsserted && e.Mode != extract.ModePlan || e.About == extract.AboutAssistant || !arranged.MatchString(e.Text) {
			continue
		}
		for _, x := range offs {
			if x.cancels(e, earlier.text, v) {
				return verdict{confidence: ruleConfidence, retracts: true, matter: e.Text, evidence: x.text, decider: "rules: cancelled"}, true
			}
		}
	}
	return verdict{}, false
}

// cancels reports whether a booking is what was cancelled. text is the statement of the booking.
func (x *cancelled) cancels(e *clause, text string, v *vocabulary) bool {
	said := termsOf(text)
	shared, named, event := false, false, false
	for _, w := range x.nouns {
		own := termsOf(w)
		if len(own) == 0 {
			continue
		}
		for t := range own {
			switch {
			case e.terms()[t] && !isValue(t) && v.rare(t):
				shared = true
				named = named || nameIn(e.Text, w)
			case said[t]:
			case groupOf(strings.TrimSuffix(w, "s")) >= 0:
				event = true
			default:
				return false
			}
		}
	}
	if x.by != "" && !contains(said, termsOf(x.by)) {
		return false
	}
	return shared && (named || !event)
}

// contains reports whether all of some terms are in others, and there are any.
func contains(in, terms map[string]bool) bool { return len(terms) > 0 && namesAll(terms, in) }

// nameIn reports whether a text has a lower-case word as a name, with a capital inside a sentence.
func nameIn(text, word string) bool {
	lower := strings.ToLower(text)
	for at := 0; ; {
		i := strings.Index(lower[at:], word)
		if i < 0 || at+i >= len(text) {
			return false
		}
		r, _ := utf8.DecodeRuneInString(text[at+i:])
		if at+i > 0 && unicode.IsUpper(r) {
			return true
		}
		at += i + len(word)
	}
}
