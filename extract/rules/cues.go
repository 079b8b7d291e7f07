package rules

import (
	"slices"
	"strings"
	"time"

	"github.com/contextmem/contextmem/extract"
)

// Intent says which time a question asks about (the modes of the contract's temporal layer).
type Intent string

// The intents of QueryCues.
const (
	IntentNone     Intent = ""         // no time is asked for
	IntentCurrent  Intent = "current"  // what holds now
	IntentAsOf     Intent = "as_of"    // what held at Cutoff
	IntentRange    Intent = "range"    // what happened between WindowStart and WindowEnd
	IntentUpcoming Intent = "upcoming" // what comes after now
)

// Bounds of a question; longer ones are read up to here.
const (
	maxQuery      = 4096 // bytes
	maxGramWords  = 64   // words that windows begin at
	maxGramLength = 6    // words of a window (recall recipe, step 2b)
)

// Cues is what the words of a question say about the answer that it wants.
type Cues struct {
	// Dates are the days, months and years that the question names, relative ones resolved against now.
	Dates []extract.DateRef
	// Intent, with its bounds: Cutoff for IntentAsOf, the window (a zero end is open) for IntentRange and IntentUpcoming.
	Intent                         Intent
	Cutoff, WindowStart, WindowEnd time.Time
	// When: asks for a date. YesNo: asks whether. List: asks for several things. Count: asks how many.
	// Comparison: weighs two things. First: asks for the first, last or latest of several.
	When, YesNo, List, Count, Comparison, First bool
	// Quoted are the quoted strings, without their quotes.
	Quoted []string
	// Identifiers are the keys of codes, versions, paths, addresses and handles.
	Identifiers []string
	// Names are the capitalised names; Start and End are offsets in the question.
	Names []extract.Mention
	// Grams are the windows of one to six words, by start, longest first: look them up among known entities.
	Grams []Gram

	windows windows
}

// CueKind says which cues are wanted of a question.
type CueKind uint8

// Kinds of cues, which are added up.
const (
	CueTimes   CueKind = 1 << iota // Dates and When
	CueIntent                      // Dates and Intent with its bounds
	CueGrams                       // Grams, and EachGram
	CueWindows                     // EachGram, which takes less memory
	CueRest                        // all others
	AllCues    = CueTimes | CueIntent | CueGrams | CueWindows | CueRest
)

// QueryCues reads a question; now resolves its relative dates. It is deterministic and bounded.
func QueryCues(q string, now time.Time) Cues { return SomeCues(q, now, AllCues) }

// SomeCues is QueryCues for some kinds of cues, which costs less; the others may be zero.
func SomeCues(q string, now time.Time, kinds CueKind) (c Cues) {
	if len(q) > maxQuery {
		q = q[:maxQuery]
	}
	d := newDoc(q)
	defer d.free()
	d.ask(now)
	d.tokenize()
	if kinds&^(CueGrams|CueWindows) != 0 {
		d.split()
		d.languages()
		d.findDates()
		d.finishDates()
		c.Dates = d.out.Dates
	}
	if kinds&CueRest != 0 {
		d.findAmounts()
		d.findNames()
		d.textMentions()
		c.Quoted = quoted(q)
		c.mentions(d.out.Mentions)
	}
	if kinds&(CueTimes|CueRest) != 0 {
		for k := range d.sents {
			d.questionForm(&d.sents[k], &c)
		}
	}
	if kinds&CueIntent != 0 {
		d.intent(&c, now)
	}
	if kinds&(CueGrams|CueWindows) != 0 {
		c.windows = d.windows()
		if kinds&CueGrams != 0 {
			c.Grams = c.windows.grams()
		}
		c.windows.words = slices.Clone(c.windows.words)
	}
	return c
}

// mentions divides what the question mentions into names and identifiers.
func (c *Cues) mentions(ms []extract.Mention) {
	for _, m := range ms {
		switch m.Type {
		case extract.TypeIdentifier, extract.TypeErrorCode, extract.TypeURL, extract.TypeEmail, extract.TypeHandle:
			c.Identifiers = append(c.Identifiers, m.Key)
		case extract.TypeDate, extract.TypeQuantity, extract.TypeMoney:
		default:
			c.Names = append(c.Names, m)
		}
	}
}

// questionForm notes what kind of answer a sentence wants.
func (d *doc) questionForm(s *sentence, c *Cues) {
	first := s.lo
	for first < s.hi && d.toks[first].kind != kWord {
		first++
	}
	if first == s.hi {
		return
	}
	t := &d.toks[first]
	request := t.is(fModal) && d.isWord(s, first+1, "you") // "can you tell me ..."
	c.YesNo = c.YesNo || !request && t.is(fBe|fHave|fDo|fModal) && t.kind == kWord && (s.question || d.isQuestionOrder(s, first))
	var buf [maxCueWord]byte
	for i := first; i < s.hi; i++ {
		next := i + 1
		switch string(d.lowerWord(i, &buf)) {
		case "when":
			c.When = c.When || i == first || d.isWord(s, i-1, "and") || d.isWord(s, i-1, "since") || s.question && i <= first+3
		case "how":
			c.Count = c.Count || d.isWord(s, next, "many") || d.isWord(s, next, "much")
			c.When = c.When || d.isWord(s, next, "long") && d.isWord(s, next+1, "ago")
		case "or", "than", "versus", "vs", "compare", "compared":
			c.Comparison = true
		case "between":
			c.Comparison = c.Comparison || d.isWord(s, i-1, "difference")
		case "first", "last", "latest", "earliest", "recent":
			c.First = c.First || next < s.hi && !d.toks[next].is(fTimeUnit|fMonth|fWeekday|fSeason)
		case "list", "enumerate":
			c.List = c.List || i <= first+3
		case "all", "every":
			c.List = c.List || i > first
		case "what", "which":
			c.List = c.List || d.asksForSeveral(s, next)
			if (d.isWord(s, next, "year") || d.isWord(s, next, "date") || d.isWord(s, next, "day") || d.isWord(s, next, "month") || d.isWord(s, next, "time")) && !d.isWord(s, next+1, "of") {
				c.When = true
			}
		}
	}
}

// maxCueWord is the length of the longest word that questionForm and intent look for.
const maxCueWord = 9

// lowerWord returns word token i in lower case, nothing where it is no word or longer than those looked for.
func (d *doc) lowerWord(i int, buf *[maxCueWord]byte) []byte {
	t := &d.toks[i]
	n := int(t.end - t.start)
	if t.kind != kWord || n > len(buf) {
		return nil
	}
	for k, c := range []byte(d.text[t.start:t.end]) {
		if isUpperByte(c) {
			c |= 0x20
		}
		buf[k] = c
	}
	return buf[:n]
}

// isQuestionOrder reports whether an auxiliary is followed by a subject, as in a question without its mark.
func (d *doc) isQuestionOrder(s *sentence, i int) bool {
	return i+1 < s.hi && (d.toks[i+1].is(fI|fWe|fYou|fHe|fShe|fIt|fThey|fDet) || d.toks[i+1].capital())
}

// asksForSeveral reports whether "what" or "which" before token i is followed by a plural: "what books", "which of the
// cities", "what are Anna's hobbies".
func (d *doc) asksForSeveral(s *sentence, i int) bool {
	if d.isWord(s, i, "are") || d.isWord(s, i, "were") || d.isWord(s, i, "of") {
		return true
	}
	for j := i; j < s.hi && j < i+4; j++ {
		t := &d.toks[j]
		if t.kind != kWord || t.is(fBe|fHave|fDo|fModal|fPrep|fI|fWe|fYou|fHe|fShe|fThey) {
			return false
		}
		if t.is(fAdj|fStop) || t.capital() {
			continue
		}
		if w := d.str(j); plural(w) {
			// "which song motivates": a verb, unless an auxiliary follows ("what books has")
			return t.w.verb == 0 || t.w.form&form3s == 0 || j+1 < s.hi && d.toks[j+1].is(fBe|fHave|fDo|fModal)
		}
	}
	return false
}

// plural reports whether a lower-case word looks like a plural noun.
func plural(w string) bool {
	switch w {
	case "news", "politics", "mathematics", "physics", "economics", "always":
		return false
	case "people", "children", "men", "women", "feet", "kinds", "types", "sorts":
		return true
	}
	return len(w) > 3 && w[len(w)-1] == 's' && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is")
}

// intent decides which time the question asks about.
func (d *doc) intent(c *Cues, now time.Time) {
	var from, to time.Time
	for i := range c.Dates {
		if from.IsZero() || c.Dates[i].From.Before(from) {
			from = c.Dates[i].From
		}
		if c.Dates[i].To.After(to) {
			to = c.Dates[i].To
		}
	}
	current, upcoming, asOf := false, false, false
	before, after := false, false
	var buf [maxCueWord]byte
	for k := range d.sents {
		s := &d.sents[k]
		for i := s.lo; i < s.hi; i++ {
			switch string(d.lowerWord(i, &buf)) {
			case "as":
				asOf = asOf || d.isWord(s, i+1, "of") || d.isWord(s, i+1, "at")
			case "back":
				asOf = asOf || d.isWord(s, i+1, "in")
			case "currently", "now", "nowadays", "current", "still", "latest":
				current = true
			case "these":
				current = current || d.isWord(s, i+1, "days")
			case "moment":
				current = current || d.isWord(s, i-1, "the")
			case "upcoming", "next", "planned", "scheduled", "tomorrow":
				upcoming = true
			case "planning", "plans":
				upcoming = upcoming || d.isWord(s, i+1, "to") || d.isWord(s, i+1, "on") || d.isWord(s, i+1, "for")
			case "before", "until", "till":
				before = before || d.dateFollows(i)
			case "after", "since":
				after = after || d.dateFollows(i)
			default:
				upcoming = upcoming || d.toks[i].kind == kWord && d.toks[i].is(fFuture)
			}
		}
	}
	switch {
	case len(c.Dates) > 0 && asOf:
		c.Intent, c.Cutoff = IntentAsOf, to
	case len(c.Dates) > 0 && before && !after:
		c.Intent, c.WindowEnd = IntentRange, from
	case len(c.Dates) > 0 && after && !before:
		c.Intent, c.WindowStart = IntentRange, from
	case len(c.Dates) > 0:
		c.Intent, c.WindowStart, c.WindowEnd = IntentRange, from, to
		if upcoming && from.After(now) {
			c.Intent = IntentUpcoming
		}
	case upcoming:
		c.Intent, c.WindowStart = IntentUpcoming, now
	case current:
		c.Intent = IntentCurrent
	}
}

// dateFollows reports whether a date begins within two tokens behind i.
func (d *doc) dateFollows(i int) bool {
	for k := range d.dates {
		if lo := d.dates[k].lo; lo > i && lo <= i+2 {
			return true
		}
	}
	return false
}

// quoted returns the strings between quotes.
func quoted(q string) []string {
	var out []string
	for _, pair := range [...][2]string{{`"`, `"`}, {"“", "”"}, {"«", "»"}, {"„", "“"}} {
		rest := q
		for len(out) < 16 {
			_, after, ok := strings.Cut(rest, pair[0])
			if !ok {
				break
			}
			inner, tail, ok := strings.Cut(after, pair[1])
			if !ok {
				break
			}
			if s := strings.TrimSpace(inner); s != "" {
				out = append(out, s)
			}
			rest = tail
		}
	}
	return out
}
