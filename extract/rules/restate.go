package rules

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// restate writes the tokens of a segment up to hi as a sentence in the third person: "I prefer tea" becomes "Alex prefers tea." After
// a relative date it adds the day that the date means.
func (d *doc) restate(s *language.Sentence, g *segment, hi int) string {
	hi = min(hi, g.hi)
	var b strings.Builder
	b.Grow(int(d.Tokens[hi-1].End-d.Tokens[g.lo-g.opener].Start) + 16)
	r := restater{d: d, s: s, b: &b, name: s.Speaker, dates: d.datesOf(s)}
	i := g.lo - g.opener
	switch {
	case g.bare:
		b.WriteString(s.Speaker)
		if g.be {
			b.WriteString(" is")
		}
		r.lowerFirst, r.named, r.subject = true, true, true
	case g.third && d.IsWord(s, i, "the"):
		b.WriteString(s.Speaker)
		r.named, r.subject = true, true
		i += 2
	case g.third:
		b.WriteString(s.Speaker)
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
	s          *language.Sentence
	b          *strings.Builder
	name       string
	dates      []language.Date
	named      bool // the speaker has been named
	subject    bool // ... and is the subject
	inflect    bool // the next verb gets the third-person form
	present    bool // the previous verb was inflected, so a verb after "and" is too
	lowerFirst bool
	plural     bool // "and others" was written, so a clitic becomes a word
}

func (r *restater) space(t *language.Token) {
	if t.Gap != language.NoGap && r.b.Len() > 0 {
		r.b.WriteByte(' ')
	}
}

// token writes the token at i and returns the last token that it consumed.
func (r *restater) token(i, hi int) int {
	d := r.d
	t := &d.Tokens[i]
	for k := range r.dates {
		if h := &r.dates[k]; h.Lo == i && h.Hi <= hi && h.Relative && !h.Yearless && !h.From.IsZero() {
			r.space(t)
			r.b.WriteString(d.SpanText(h.Lo, h.Hi))
			r.b.WriteString(" (")
			r.b.WriteString(readable(h))
			r.b.WriteByte(')')
			return h.Hi - 1
		}
	}
	w := d.TokenText(i)
	if t.Kind == language.KindWord && t.Is(language.FirstPerson|language.FirstPlural) {
		return r.pronoun(i)
	}
	if r.plural && t.Kind == language.KindClitic {
		if long, ok := longForms[strings.ToLower(w)]; ok {
			r.b.WriteString(long)
			return i
		}
	}
	if r.inflect && (t.Kind == language.KindWord || t.Kind == language.KindClitic) {
		if out, done := r.third(i); out != "" {
			if t.Kind == language.KindClitic || t.Gap != language.NoGap {
				r.b.WriteByte(' ')
			}
			r.b.WriteString(out)
			r.inflect = !done
			return i
		}
	}
	if r.present && t.Kind == language.KindWord && t.Shape == language.LowerCase && i > 0 && d.IsWord(r.s, i-1, "and") && t.Word().Verb > 0 && t.Word().Form&(language.BaseForm|language.PastForm) == language.BaseForm && !d.usedAsNoun(r.s, i) {
		r.space(t)
		r.b.WriteString(language.VerbAt(t.Word().Verb).Third)
		return i
	}
	if t.Kind == language.KindPunct && t.Sign == '?' {
		return i
	}
	r.space(t)
	if r.lowerFirst && t.Shape == language.Capitalized {
		w = strings.ToLower(w)
	}
	r.lowerFirst = false
	r.b.WriteString(w)
	return i
}

// longForms are the full forms of contracted verbs.
var longForms = map[string]string{"'ll": " will", "'re": " are", "'ve": " have", "'d": " would", "’ll": " will", "’re": " are", "’ve": " have", "’d": " would"}

// pronoun writes the speaker's name for "I", "me", "my", "we".
func (r *restater) pronoun(i int) int {
	d := r.d
	t := &d.Tokens[i]
	r.space(t)
	w := strings.ToLower(d.TokenText(i))
	switch w {
	case "i":
		r.b.WriteString(r.name)
		r.named, r.subject, r.inflect = true, true, i == 0 || !d.Tokens[i-1].Is(language.Modal|language.FormOfDo) // not in "should I go"
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
		r.b.WriteString(d.TokenText(i))
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

// third inflects the word at i after the speaker's name; done reports that no other word needs it.
func (r *restater) third(i int) (out string, done bool) {
	d := r.d
	t := &d.Tokens[i]
	w := strings.ToLower(d.TokenText(i))
	switch w {
	case "no", "longer":
		return d.TokenText(i), false
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
		if i+1 < len(d.Tokens) && d.Tokens[i+1].Word().Form&language.Participle != 0 && d.Tokens[i+1].Word().Form&language.BaseForm == 0 {
			return "had", true
		}
		return "would", true
	case "were":
		return "was", true
	}
	if t.Is(language.Modal | language.FormOfDo | language.FormOfBe | language.FormOfHave) {
		return d.TokenText(i), true
	}
	if t.Word().Verb > 0 {
		if t.Word().Form&language.BaseForm != 0 && !(t.Word().Form&language.PastForm != 0 && r.pastDate()) {
			r.present = true
			return language.VerbAt(t.Word().Verb).Third, true
		}
		return d.TokenText(i), true
	}
	if t.Is(language.Adverb | language.Negation) {
		return d.TokenText(i), false
	}
	if strings.HasSuffix(w, "ed") || t.Shape != language.LowerCase || t.Is(language.FunctionWord) {
		return d.TokenText(i), true
	}
	r.present = true
	return language.RegularForms(w)[1], true
}

// pastDate reports whether the sentence names a past day, so that "read" and "put" are past tense.
func (r *restater) pastDate() bool {
	for k := range r.dates {
		if h := &r.dates[k]; !h.From.IsZero() && !r.d.Reference.IsZero() && h.From.Before(language.Midnight(r.d.Reference)) {
			return true
		}
	}
	return false
}

// readable formats the period of a date.
func readable(h *language.Date) string {
	switch {
	case h.Precision == extract.PrecisionYear:
		return h.From.Format("2006")
	case h.Precision == extract.PrecisionMonth:
		if last := h.To.AddDate(0, 0, -1); last.Month() != h.From.Month() || last.Year() != h.From.Year() {
			return h.From.Format("January 2006") + " to " + last.Format("January 2006")
		}
		return h.From.Format("January 2006")
	case h.To.Sub(h.From) > 24*time.Hour:
		return h.From.Format("2 January 2006") + " to " + h.To.AddDate(0, 0, -1).Format("2 January 2006")
	}
	return h.From.Format("2 January 2006")
}

// capitalised returns s with a capital first letter.
func capitalised(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 || !unicode.IsLower(r) {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}
