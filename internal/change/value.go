package change

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/lazyregexp"
)

// kind is a type of values of which a thing has one at a time: the day of a class, the number of a phone.
type kind struct {
	name  string
	value *lazyregexp.Regexp
}

var kinds = []kind{
	{"weekday", lazyregexp.New(`(?i)\b(mon|tues|wednes|thurs|fri|satur|sun)days?\b`)},
	{"time", lazyregexp.New(`(?i)\b(\d{1,2}[:.]\d\d|\d{1,2} ?(?:am|pm)|(?:half|quarter) (?:past )?(?:to )?\pL+|noon|midday|midnight)\b`)},
	{"date", lazyregexp.New(`(?i)\b(\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\pL*|(?:january|february|march|april|may|june|july|august|september|october|november|december) \d{1,2}|\d{1,2}(?:st|nd|rd|th))\b`)},
	{"phone", lazyregexp.New(`\+?\b0?\d{2,5}[ -]\d{3,4}[ -]?\d{3,4}\b`)},
	{"money", lazyregexp.New(`(?i)(?:[£$€] ?\d[\d.,]*k?|\b\d[\d.,]*(?:k| ?(?:euros?|dollars?|pounds?|quid)))(?:\b|$)`)},
}

var (
	// changes matches words that say that a value changed.
	changes = lazyregexp.New(`(?i)\b(now|no longer|instead|moved|moves|changed|changes|switched|switches|shifted|shifts|pushed|postponed|brought forward|put back|rescheduled|went up|gone up|goes up|going up|up to|down to|raised|dropped to|cut to|from (?:now|now on|next|tomorrow|this)|new|these days|correction|scratch that|wrong|is at)\b`)
	// shifts matches verbs of change, whose clause may add when and why. "new" and "now" are left out: they may be about something else.
	shifts = lazyregexp.New(`(?i)\b(no longer|moved|moves|changed|changes|switched|switches|shifted|shifts|pushed|postponed|brought forward|put back|rescheduled|went up|gone up|goes up|going up|raised|dropped to|cut to|correction|scratch that|wrong)\b`)
	// disproves matches what was believed and is untrue.
	disproves = lazyregexp.New(`(?i)\b(?:it|that|they|turns? out|turned out|culprit|cause)\b[^.!?]*?(?:\bwas never|\bwasn['’]t|\bwas not|\bisn['’]t|\bis not|\bnever was|\bweren['’]t|['’]s not|\bwere never)(?: actually| really| even| just| only| about)* (?:the |a |an |my |that )?(\pL[\pL'’-]+(?: \pL[\pL'’-]+)?)`)
	// opinion matches the start of a judgement about a thing, not of a fact: "it's not worth the trade-off".
	opinion = lazyregexp.New(`(?i)^(?:worth|sure|clear|possible|easy|enough|fair|right|true|like|bad|great|good|ideal|helpful|working|ready)\b`)
	// believes matches words that mark a statement as a guess of a cause.
	believes = lazyregexp.New(`(?i)\b(think|thinks|thought|reckons?|reckoned|suspects?|suspected|guess(?:es)?|believes?|says|said|probably|maybe|allerg\pL*|intoleran\pL*|blames?|because|caused?|must be|might be|could be|supposed(?:ly)?)\b`)
	// service matches what people cancel besides plans.
	service = lazyregexp.New(`(?i)\b(signed up|registered|enrolled|subscri\pL+|members?(?:hip)?|account|contract|policy|insurance|direct debit|standing order|booking|reservation|appointment|lessons?|classes)\b`)
	// swapped matches what is no longer used, and uses matches words that say what is used.
	swapped = lazyregexp.New(`(?i)\b(?:i|we|i['’]ve|we['’]ve)(?: have| just| finally)? (?:switched|moved|changed|gone|went) (?:over )?from (?:the |my |our )?([\pL\d][\pL\d.-]*) (?:over )?to\b`)
	uses    = lazyregexp.New(`(?i)\b(?:i|we|i['’]m|we['’]re)(?: still| mostly| always)? (?:use|using|track|keep|have|with|on|bank|pay|run|write)\b`)
	// gone matches clauses that say that their subject no longer exists.
	gone = lazyregexp.New(`(?i)^(?:(?:so|and|well|ok|okay|but|sadly|finally|anyway)[, ]+)*(?:the |my |our )?([\pL\d][\pL\d'’ -]{1,40}?) (?:is|are|['’]s|has been|have been|was|were|got) (?:gone|dead|no more|history|scrapped|sold|called off|cancelled|canceled|not happening)(?: (?:for good|now|after all|too|again|completely|entirely))*[.,!;)]*$`)
)

// values returns the values in a clause by the index of their kind in kinds; nil if there are none.
func values(text string) (out map[int]string) {
	for i, k := range kinds {
		if m := k.value.FindString(text); m != "" {
			if out == nil {
				out = map[int]string{}
			}
			out[i] = strings.ToLower(strings.TrimSuffix(m, "s"))
		}
	}
	return out
}

// another reports whether two clauses have different values of one kind.
func another(l, e string) bool {
	was := values(e)
	for k, v := range values(l) {
		if w, ok := was[k]; ok && w != v {
			return true
		}
	}
	return false
}

// asserts reports whether a clause says that something is or will be true.
func asserts(c *clause) bool {
	switch c.Mode {
	case extract.ModeAsserted, extract.ModePast, extract.ModeCorrected, extract.ModePlan, "":
		return c.About != extract.AboutAssistant && !othersThing.MatchString(c.Text) && !ofSomebody.MatchString(c.Text)
	}
	return false
}

// ofSomebody matches what a named person has: "Ruth's study group".
var ofSomebody = lazyregexp.New(`\p{Lu}\pL+['’]s \pL`)

// byValue decides by two clauses about one thing, and returns the cue: its value changed, a guess was wrong, or the thing is gone.
// It returns an empty cue if l does not replace e.
func byValue(l, e *clause, earlier *statement, v *vocabulary) string {
	does := l.do()
	switch {
	case does.moves && asserts(l) && l.About != extract.AboutOther && states(e) && v.shares(l, e) && another(l.Text, e.Text) && !counted(l.Text, e.Text) &&
		!otherEvent(l, e) && relatives(l) == relatives(e):
		return "moved"
	case does.disproved != "" && l.Mode != extract.ModeQuestion && l.Mode != extract.ModeQuote && l.Mode != extract.ModeFiction && e.Mode != extract.ModeQuestion &&
		earlier.believed() && v.within(does.disproved, e):
		return "disproved"
	case does.gone != "" && (asserts(l) || l.Mode == extract.ModeEnded || l.Mode == extract.ModeCancelled) && states(e) && e.About != extract.AboutOther && v.within(does.gone, e):
		return "gone"
	case does.swapped != "" && asserts(l) && states(e) && v.within(does.swapped, e) && uses.MatchString(e.Text):
		return "replaced"
	}
	return ""
}

// otherEvent reports whether two clauses name different events: "piano lesson", "swimming lesson".
func otherEvent(l, e *clause) bool {
	a, ok := readEvent(strings.TrimRight(strings.TrimSpace(l.Text), ".!;,"))
	b, also := readEvent(strings.TrimRight(strings.TrimSpace(e.Text), ".!;,"))
	if !ok || !also {
		return false
	}
	_, alike := a.same(&b)
	return !alike
}

// relatives returns the words for people in a clause: what changed for them changed for nobody else.
func relatives(c *clause) string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(c.Text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if people[w] && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

var people = words(`mum mom mam dad mother father parents sister sisters brother brothers son sons daughter daughters wife husband partner boyfriend girlfriend friend boss colleague
	cousin aunt uncle niece nephew gran grandma grandpa grandmother grandfather neighbour neighbor flatmate roommate housemate`)

// counted reports whether two clauses have different ordinals: "the first meeting", "the second meeting".
func counted(l, e string) bool {
	a, b := ordinal.FindString(l), ordinal.FindString(e)
	return a != "" && b != "" && !strings.EqualFold(a, b)
}

var ordinal = lazyregexp.New(`(?i)\b(?:first|second|third|fourth|fifth|other|previous|former|chapter \d+|room \d+|part \d+|step \d+)\b`)

// shares reports whether two clauses are about one thing. They share a rare term that is no value, and the weight that they share is most
// of the weight of one of them, without values.
func (v *vocabulary) shares(l, e *clause) bool {
	rare, shared := false, 0.0
	earlier := e.terms()
	for t := range l.terms() {
		if earlier[t] && !isValue(t) {
			shared += v.weight(t)
			rare = rare || v.rare(t) && !unspecific[t]
		}
	}
	most := v.beside(l)
	if shifts.MatchString(l.Text) {
		most = min(most, v.beside(e))
	}
	return rare && shared >= minShared*most
}

// beside returns the weight of a clause's terms without values.
func (v *vocabulary) beside(c *clause) (sum float64) {
	for t := range c.terms() {
		if !isValue(t) {
			sum += v.weight(t)
		}
	}
	return sum
}

// isValue reports whether a term is a number or a date.
func isValue(t string) bool {
	if t[0] <= '9' {
		return true
	}
	for i := range len(t) {
		if c := t[i]; c < 'a' || c > 'z' {
			return dated.MatchString(t)
		}
	}
	return datedWords[t]
}

// datedWords are the words of lower-case letters that match dated, which takes much longer to tell.
var datedWords = func() map[string]bool {
	all := map[string]bool{"may": true, "sept": true, "tomorrow": true}
	for _, w := range [...]string{"mon", "tues", "wednes", "thurs", "fri", "satur", "sun"} {
		all[w+"day"] = true
	}
	for m := time.January; m <= time.December; m++ {
		name := strings.ToLower(m.String())
		all[name], all[name[:3]] = true, true
	}
	return all
}()

// within reports whether a clause contains all rare terms of a phrase, of which there must be at least one.
func (v *vocabulary) within(phrase string, e *clause) bool {
	n := 0
	for t := range termsOf(phrase) {
		if t[0] <= '9' || unspecific[t] {
			continue
		}
		if !e.terms()[t] || !v.rare(t) {
			return false
		}
		n++
	}
	return n > 0
}

// unspecific are stemmed terms that are about many things.
var unspecific = words(`even never week weekend day morning evening afternoon night month year hour minut time work home hous flat start end begin move chang meet pay price cost number thing plan call peopl
	black white red green blue yellow brown grey gray pink orang purpl small big littl larg
	mum dad mother father sister brother son daughter wife husband friend boss kid child famili`)
