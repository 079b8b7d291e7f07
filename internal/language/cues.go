package language

import (
	"slices"
	"strings"
	"time"

	"github.com/contextmem/contextmem/extract"
)

// Intent says which time a question asks about. The values are the modes of the API's temporal layer.
type Intent string

// The values of Cues.Intent.
const (
	IntentNone     Intent = ""         // no time is asked for
	IntentCurrent  Intent = "current"  // what holds now
	IntentAsOf     Intent = "as_of"    // what held at Cutoff
	IntentRange    Intent = "range"    // what happened between WindowStart and WindowEnd
	IntentUpcoming Intent = "upcoming" // what comes after now
)

// Bounds of a question; the rest of a longer one is not read.
const (
	maxQuery      = 4096 // bytes
	maxGramWords  = 64   // words at which windows begin
	maxGramLength = 6    // words in a window (docs/recall.md, "Knowledge")
)

// Cues describes the answer that a question asks for, as far as its words tell.
type Cues struct {
	// Dates are the days, months and years that the question names, relative ones resolved against now.
	Dates []extract.DateRef
	// Intent is the time that the question asks about. Cutoff is the bound of IntentAsOf; WindowStart and WindowEnd are those of
	// IntentRange and IntentUpcoming, where zero means open.
	Intent                         Intent
	Cutoff, WindowStart, WindowEnd time.Time
	// When: the question asks for a date. YesNo: it asks whether something is so. List: it asks for several things. Count: it asks for
	// a number. Comparison: it compares two things. First: it asks for the first, last or latest of several.
	When, YesNo, List, Count, Comparison, First bool
	// Quoted are the quoted strings, without their quotes.
	Quoted []string
	// Identifiers are the keys of codes, versions, paths, addresses and handles.
	Identifiers []string
	// Names are the capitalised names in the question; Start and End are offsets in it.
	Names []extract.Mention

	windows windows
}

// CueKind selects kinds of cues.
type CueKind uint8

// Kinds of cues; combine them with |.
const (
	CueTimes   CueKind = 1 << iota // Dates and When
	CueIntent                      // Dates and Intent with its bounds
	CueWindows                     // EachGram
	CueRest                        // all others
	AllCues    = CueTimes | CueIntent | CueWindows | CueRest
)

// QueryCues reads a question; relative dates are resolved against now. It is deterministic, and its time is bounded.
func QueryCues(q string, now time.Time) Cues { return SomeCues(q, now, AllCues) }

// SomeCues is a faster QueryCues that fills in only the given kinds of cues; the others may be zero.
func SomeCues(q string, now time.Time, kinds CueKind) (c Cues) {
	if len(q) > maxQuery {
		q = q[:maxQuery]
	}
	d := newDocument(q, now)
	defer d.free()
	if kinds&^CueWindows != 0 {
		d.Read()
		c.Dates = d.DateRefs()
	} else {
		d.tokenize()
	}
	if kinds&CueRest != 0 {
		d.ReadNames()
		d.TextMentions()
		c.Quoted = quoted(q)
		c.mentions(d.Mentions)
	}
	if kinds&(CueTimes|CueRest) != 0 {
		for k := range d.Sentences {
			d.questionForm(&d.Sentences[k], &c)
		}
		c.When = c.When || asksWhen(q)
	}
	if kinds&CueIntent != 0 {
		d.intent(&c, now)
	}
	if kinds&CueWindows != 0 {
		c.windows = d.windows()
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

// questionForm notes what kind of answer a sentence asks for.
func (d *Document) questionForm(s *Sentence, c *Cues) {
	first := s.Lo
	for first < s.Hi && d.Tokens[first].Kind != KindWord {
		first++
	}
	if first == s.Hi {
		return
	}
	c.YesNo = c.YesNo || d.asksWhether(s, first)
	var buf [maxCueWord]byte
	for i := first; i < s.Hi; i++ {
		next := i + 1
		switch string(d.lowerWord(i, &buf)) {
		case "when":
			c.When = c.When || i == first || d.IsOneOf(s, i-1, "and", "since") || s.Question && i <= first+3
		case "how":
			c.Count = c.Count || d.IsOneOf(s, next, "many", "much")
			c.When = c.When || d.IsWord(s, next, "long") && d.IsWord(s, next+1, "ago")
		case "or", "than", "versus", "vs", "compare", "compared":
			c.Comparison = true
		case "between":
			c.Comparison = c.Comparison || d.IsWord(s, i-1, "difference")
		case "first", "last", "latest", "earliest", "recent":
			c.First = c.First || next < s.Hi && !d.Tokens[next].Is(TimeUnit|Month|Weekday|Season)
		case "list", "enumerate":
			c.List = c.List || i <= first+3
		case "all", "every":
			c.List = c.List || i > first
		case "what", "which":
			c.List = c.List || d.asksForSeveral(s, next)
			c.When = c.When || d.IsOneOf(s, next, "year", "date", "day", "month", "time") && !d.IsWord(s, next+1, "of")
		}
	}
}

// asksWhether reports whether the first word of a sentence, at token i, asks for yes or no. "Can you tell me" asks for more.
func (d *Document) asksWhether(s *Sentence, i int) bool {
	t := &d.Tokens[i]
	if !t.Is(FormOfBe|FormOfHave|FormOfDo|Modal) || t.Is(Modal) && d.IsWord(s, i+1, "you") {
		return false
	}
	return s.Question || d.isQuestionOrder(s, i)
}

// maxCueWord is the maximum length of the words that questionForm and intent look for.
const maxCueWord = 9

// lowerWord returns word token i in lower case, or nil if it is no word or longer than maxCueWord.
func (d *Document) lowerWord(i int, buf *[maxCueWord]byte) []byte {
	t := &d.Tokens[i]
	n := int(t.End - t.Start)
	if t.Kind != KindWord || n > len(buf) {
		return nil
	}
	for k, c := range []byte(d.Text[t.Start:t.End]) {
		if IsUpperByte(c) {
			c |= 0x20
		}
		buf[k] = c
	}
	return buf[:n]
}

// isQuestionOrder reports whether an auxiliary is followed by a subject, as in a question without a question mark.
func (d *Document) isQuestionOrder(s *Sentence, i int) bool {
	return i+1 < s.Hi && (d.Tokens[i+1].Is(FirstPerson|FirstPlural|SecondPerson|Masculine|Feminine|Neuter|ThirdPlural|Determiner) || d.Tokens[i+1].Capital())
}

// asksForSeveral reports whether "what" or "which" before token i is followed by a plural: "what books", "which of the
// cities", "what are Anna's hobbies".
func (d *Document) asksForSeveral(s *Sentence, i int) bool {
	if d.IsWord(s, i, "are") || d.IsWord(s, i, "were") || d.IsWord(s, i, "of") {
		return true
	}
	for j := i; j < s.Hi && j < i+4; j++ {
		t := &d.Tokens[j]
		if t.Kind != KindWord || t.Is(FormOfBe|FormOfHave|FormOfDo|Modal|Preposition|FirstPerson|FirstPlural|SecondPerson|Masculine|Feminine|ThirdPlural) {
			return false
		}
		if t.Is(Adjective|FunctionWord) || t.Capital() {
			continue
		}
		if w := d.TokenText(j); plural(w) {
			// In "which song motivates" the word is a verb, unless an auxiliary follows ("what books has").
			return t.Word().Verb == 0 || t.Word().Form&ThirdForm == 0 || j+1 < s.Hi && d.Tokens[j+1].Is(FormOfBe|FormOfHave|FormOfDo|Modal)
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

// timeWords are what the words of a question say of the time that it asks about.
type timeWords struct{ current, upcoming, asOf, before, after bool }

// read notes what the word at token i says.
func (w *timeWords) read(d *Document, s *Sentence, i int) {
	var buf [maxCueWord]byte
	switch string(d.lowerWord(i, &buf)) {
	case "as":
		w.asOf = w.asOf || d.IsOneOf(s, i+1, "of", "at")
	case "back":
		w.asOf = w.asOf || d.IsWord(s, i+1, "in")
	case "currently", "now", "nowadays", "current", "still", "latest":
		w.current = true
	case "these":
		w.current = w.current || d.IsWord(s, i+1, "days")
	case "moment":
		w.current = w.current || d.IsWord(s, i-1, "the")
	case "upcoming", "next", "planned", "scheduled", "tomorrow":
		w.upcoming = true
	case "planning", "plans":
		w.upcoming = w.upcoming || d.IsOneOf(s, i+1, "to", "on", "for")
	case "before", "until", "till":
		w.before = w.before || d.dateFollows(i)
	case "after", "since":
		w.after = w.after || d.dateFollows(i)
	default:
		w.upcoming = w.upcoming || d.Tokens[i].WordIs(Future)
	}
}

// extent returns the first and the last moment of dates; both are zero without dates.
func extent(dates []extract.DateRef) (from, to time.Time) {
	for i := range dates {
		if from.IsZero() || dates[i].From.Before(from) {
			from = dates[i].From
		}
		if dates[i].To.After(to) {
			to = dates[i].To
		}
	}
	return from, to
}

// intent determines which time the question asks about.
func (d *Document) intent(c *Cues, now time.Time) {
	var w timeWords
	for k := range d.Sentences {
		s := &d.Sentences[k]
		for i := s.Lo; i < s.Hi; i++ {
			w.read(d, s, i)
		}
	}
	if len(c.Dates) == 0 {
		switch {
		case w.upcoming:
			c.Intent, c.WindowStart = IntentUpcoming, now
		case w.current:
			c.Intent = IntentCurrent
		}
		return
	}
	from, to := extent(c.Dates)
	switch {
	case w.asOf:
		c.Intent, c.Cutoff = IntentAsOf, to
	case w.before && !w.after:
		c.Intent, c.WindowEnd = IntentRange, from
	case w.after && !w.before:
		c.Intent, c.WindowStart = IntentRange, from
	default:
		c.Intent, c.WindowStart, c.WindowEnd = IntentRange, from, to
		if w.upcoming && from.After(now) {
			c.Intent = IntentUpcoming
		}
	}
}

// dateFollows reports whether a date begins within two tokens after i.
func (d *Document) dateFollows(i int) bool {
	for k := range d.Dates {
		if lo := d.Dates[k].Lo; lo > i && lo <= i+2 {
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
