package change

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
	"github.com/contextmem/contextmem/internal/lazyregexp"
)

const (
	again   = "told again" // decider of what is said in the same words
	certain = .95
	soon    = 36 * time.Hour // what is told again so soon speaks of the same occasion
	fewest  = 3              // words of what can be told again: "yes, please" is no repeat
)

// fillers are words that a repeat may add or leave out.
var fillers = words("well so also again btw just anyway oh hey hi ok okay please really actually as said reminder note fyi remember by the way")

// consolidate finds what is told again in the same words, but for case, punctuation and fillers: the later of two takes the place of the
// earlier one, where their dates do not tell two occasions apart.
func consolidate(s *said, near []*said, out []verdict) {
	key := repeated(s.text)
	if key == "" {
		return
	}
	for i, n := range near {
		if out[i].confidence < certain && s.src.Num != n.src.Num && repeated(n.text) == key && !occasions(s, n) {
			later, earlier := order(s, n)
			out[i] = verdict{confidence: certain, matter: short(earlier.text), evidence: short(later.text), decider: again}
		}
	}
}

// repeated is the text without what may differ when it is told again; empty for one that is too short.
func repeated(text string) string {
	fields := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
	kept, letters := fields[:0], 0
	for _, w := range fields {
		if !fillers[w] {
			kept = append(kept, w)
			letters += len([]rune(w))
		}
	}
	if len(kept) < fewest && letters < 8 {
		return ""
	}
	return strings.Join(kept, " ")
}

// lasts says that a statement is of a state or a habit, which is no other for being told another day.
var lasts = lazyregexp.New(`(?i)\b(am|is|are|have|has|like|likes|love|loves|hate|hates|prefer|prefers|live|lives|work|works|want|need|needs|use|uses|drive|drives|speak|speaks|own|owns|always|never|usually|every|can['’]?t|allergic)\b|['’](?:m|re)\b`)

// occasions reports whether the same words may tell of two occasions: told at other times, with a date that counts from there, or of an
// event.
func occasions(a, b *said) bool {
	at, bt := told(a.src), told(b.src)
	same := func(x, y extract.DateRef) bool { return x.From.Equal(y.From) && x.To.Equal(y.To) }
	if !slices.EqualFunc(language.Dates(a.text, at), language.Dates(b.text, bt), same) {
		return true
	}
	return at.Sub(bt).Abs() > soon && !lasts.MatchString(a.text)
}
