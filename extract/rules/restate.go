package rules

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/contextmem/contextmem/extract"
)

// restate spells the tokens of a segment up to hi as a sentence in the third person: "I prefer tea" becomes
// "Alex prefers tea." Relative dates get the day that they mean behind them.
func (d *doc) restate(s *sentence, g *segment, hi int) string {
	hi = min(hi, g.hi)
	var b strings.Builder
	b.Grow(int(d.toks[hi-1].end-d.toks[g.lo-g.opener].start) + 16)
	r := restater{d: d, s: s, b: &b, name: s.speaker, dates: d.datesOf(s)}
	i := g.lo - g.opener
	switch {
	case g.bare:
		b.WriteString(s.speaker)
		if g.be {
			b.WriteString(" is")
		}
		r.lowerFirst, r.named, r.subject = true, true, true
	case g.third && d.isWord(s, i, "the"):
		b.WriteString(s.speaker)
		r.named, r.subject = true, true
		i += 2
	case g.third:
		b.WriteString(s.speaker)
		r.named, r.subject = true, true
		i++
	}
	for ; i < hi; i++ {
		i = r.token(i, hi)
	}
	out := strings.TrimSpace(b.String())
	if out == "" {
		return ""
	}
	if strings.HasSuffix(out, ".\"") || strings.HasSuffix(out, ".”") {
		return capitalised(out)
	}
	return capitalised(out) + "."
}

// restater writes the tokens of one segment.
type restater struct {
	d          *doc
	s          *sentence
	b          *strings.Builder
	name       string
	dates      []dateHit
	named      bool // the speaker was named
	subject    bool // ... as the subject
	inflect    bool // the next verb takes the third person
	present    bool // the verb before was inflected: so is one behind "and"
	lowerFirst bool
	plural     bool // "and others" was written: a clitic becomes a word
}

func (r *restater) space(t *token) {
	if t.gap != gapNone && r.b.Len() > 0 {
		r.b.WriteByte(' ')
	}
}

// token writes the token at i and returns the last one that it used.
func (r *restater) token(i, hi int) int {
	d := r.d
	t := &d.toks[i]
	for k := range r.dates {
		if h := &r.dates[k]; h.lo == i && h.hi <= hi && h.relative && !h.yearless && !h.from.IsZero() {
			r.space(t)
			r.b.WriteString(d.surface(h.lo, h.hi))
			r.b.WriteString(" (")
			r.b.WriteString(readable(h))
			r.b.WriteByte(')')
			return h.hi - 1
		}
	}
	w := d.str(i)
	if t.kind == kWord && t.is(fI|fWe) {
		return r.pronoun(i)
	}
	if r.plural && t.kind == kClitic {
		if long, ok := longForms[strings.ToLower(w)]; ok {
			r.b.WriteString(long)
			return i
		}
	}
	if r.inflect && (t.kind == kWord || t.kind == kClitic) {
		if out, done := r.third(i); out != "" {
			if t.kind == kClitic || t.gap != gapNone {
				r.b.WriteByte(' ')
			}
			r.b.WriteString(out)
			r.inflect = !done
			return i
		}
	}
	if r.present && t.kind == kWord && t.shape == sLower && i > 0 && d.isWord(r.s, i-1, "and") && t.w.verb > 0 && t.w.form&(formBase|formPast) == formBase && !d.usedAsNoun(r.s, i) {
		r.space(t)
		r.b.WriteString(verbs[t.w.verb-1].third)
		return i
	}
	if t.kind == kPunct && t.ch == '?' {
		return i
	}
	r.space(t)
	if r.lowerFirst && t.shape == sCap {
		w = strings.ToLower(w)
	}
	r.lowerFirst = false
	r.b.WriteString(w)
	return i
}

// longForms spells contracted verbs out.
var longForms = map[string]string{"'ll": " will", "'re": " are", "'ve": " have", "'d": " would", "’ll": " will", "’re": " are", "’ve": " have", "’d": " would"}

// pronoun writes the speaker for "I", "me", "my", "we".
func (r *restater) pronoun(i int) int {
	d := r.d
	t := &d.toks[i]
	r.space(t)
	w := strings.ToLower(d.str(i))
	switch w {
	case "i":
		r.b.WriteString(r.name)
		r.named, r.subject, r.inflect = true, true, i == 0 || !d.toks[i-1].is(fModal|fDo) // not in "should I go"
	case "im", "i'm":
		r.b.WriteString(r.name + " is")
		r.named, r.subject = true, true
	case "ive":
		r.b.WriteString(r.name + " has")
		r.named, r.subject = true, true
	case "me":
		if r.subject {
			r.b.WriteString("them")
		} else {
			r.b.WriteString(r.name)
			r.named = true
		}
	case "myself", "ourselves":
		r.b.WriteString("themselves")
	case "my", "our":
		r.b.WriteString(r.possessive())
	case "mine", "ours":
		r.b.WriteString("theirs")
	case "we":
		r.b.WriteString(r.name + " and others")
		r.named, r.subject, r.plural = true, true, true
	case "us":
		r.b.WriteString("them")
	default:
		r.b.WriteString(d.str(i))
	}
	return i
}

func (r *restater) possessive() string {
	if r.named {
		return "their"
	}
	r.named = true
	return r.name + "'s"
}

// third inflects the word at i behind the speaker's name; done says that no other word needs it.
func (r *restater) third(i int) (out string, done bool) {
	d := r.d
	t := &d.toks[i]
	w := strings.ToLower(d.str(i))
	switch w {
	case "no", "longer":
		return d.str(i), false
	case "quit":
		return w, true
	case "am", "'m":
		return "is", true
	case "have", "'ve":
		r.present = w == "have"
		return "has", true
	case "do":
		return "does", true
	case "don't", "dont":
		return "doesn't", true
	case "haven't":
		return "hasn't", true
	case "'ll":
		return "will", true
	case "'d":
		if i+1 < len(d.toks) && d.toks[i+1].w.form&formPart != 0 && d.toks[i+1].w.form&formBase == 0 {
			return "had", true
		}
		return "would", true
	case "were":
		return "was", true
	}
	if t.is(fModal | fDo | fBe | fHave) {
		return d.str(i), true
	}
	if t.w.verb > 0 {
		if t.w.form&formBase != 0 && !(t.w.form&formPast != 0 && r.pastDate()) {
			r.present = true
			return verbs[t.w.verb-1].third, true
		}
		return d.str(i), true
	}
	if t.is(fAdv | fNeg) {
		return d.str(i), false
	}
	if strings.HasSuffix(w, "ed") || t.shape != sLower || t.is(fStop) {
		return d.str(i), true
	}
	r.present = true
	return regularForms(w)[1], true
}

// pastDate reports whether the sentence names a day gone by, so that "read" and "put" are in the past.
func (r *restater) pastDate() bool {
	for k := range r.dates {
		if h := &r.dates[k]; !h.from.IsZero() && !r.d.ref.IsZero() && h.from.Before(midnight(r.d.ref)) {
			return true
		}
	}
	return false
}

// readable spells the period of a date.
func readable(h *dateHit) string {
	switch {
	case h.prec == extract.PrecisionYear:
		return h.from.Format("2006")
	case h.prec == extract.PrecisionMonth:
		if last := h.to.AddDate(0, 0, -1); last.Month() != h.from.Month() || last.Year() != h.from.Year() {
			return h.from.Format("January 2006") + " to " + last.Format("January 2006")
		}
		return h.from.Format("January 2006")
	case h.to.Sub(h.from) > 24*time.Hour:
		return h.from.Format("2 January 2006") + " to " + h.to.AddDate(0, 0, -1).Format("2 January 2006")
	}
	return h.from.Format("2 January 2006")
}

// capitalised returns s with its first letter as a capital.
func capitalised(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 || !unicode.IsLower(r) {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}
