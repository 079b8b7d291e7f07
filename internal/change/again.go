package change

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/language"
	"github.com/contextmem/contextmem/internal/lazyregexp"
)

const (
	again   = "told again" // decider of what is said in the same words; Generation has it with a number, raised when more is taken for the same
	certain = .95
	soon    = 36 * time.Hour // what is told again so soon speaks of the same occasion
	fewest  = 3              // words of what can be told again: "yes, please" is no repeat
	letters = 8              // of scripts without spaces, in their place
)

// fillers are words that a repeat may add or leave out.
var fillers = words("well so also again btw just anyway oh hey hi ok okay please really actually as said reminder note fyi remember by the way still currently now definitely very quite totally absolutely")

// articles may be there or not, but before amounts: "few friends" are not "a few".
var articles = words("a an the")

var amounts = words("few little lot bit couple")

// alike are words that say the same in every sentence.
var alike = map[string]string{"mum": "mother", "mom": "mother", "dad": "father", "kids": "children", "kid": "child", "tv": "television", "bike": "bicycle", "fridge": "refrigerator", "phone": "telephone",
	"flat": "apartment", "favourite": "favorite", "colour": "color", "grey": "gray", "cannot": "can not", "im": "i am", "ive": "i have", "dont": "do not", "doesnt": "does not", "didnt": "did not", "cant": "can not",
	"wont": "will not", "isnt": "is not", "arent": "are not", "wasnt": "was not", "havent": "have not", "hasnt": "has not"}

// contracted are two words that stand for others: what is before and behind an apostrophe, and what is said with one word more.
var contracted = map[[2]string]string{{"i", "m"}: "i am", {"i", "ve"}: "i have", {"i", "ll"}: "i will", {"we", "re"}: "we are", {"we", "ve"}: "we have", {"we", "ll"}: "we will", {"you", "re"}: "you are", {"they", "re"}: "they are",
	{"they", "ve"}: "they have", {"don", "t"}: "do not", {"doesn", "t"}: "does not", {"didn", "t"}: "did not", {"can", "t"}: "can not", {"won", "t"}: "will not", {"isn", "t"}: "is not", {"aren", "t"}: "are not",
	{"wasn", "t"}: "was not", {"haven", "t"}: "have not", {"hasn", "t"}: "has not", {"have", "got"}: "have", {"has", "got"}: "has", {"am", "living"}: "live", {"are", "living"}: "live", {"am", "working"}: "work", {"are", "working"}: "work"}

// consolidate finds what is told again in the same words, but for case, punctuation, fillers, articles, contractions and a few words that say the same: the later of two takes the place of the
// earlier one, where their dates do not tell two occasions apart.
func consolidate(s *said, near []*said, out []verdict) {
	key := repeated(s.text)
	if key == "" {
		return
	}
	for i, n := range near {
		if out[i].confidence < certain && s.src.Num != n.src.Num && repeated(n.text) == key && !occasions(s, n, key) {
			later, earlier := order(s, n)
			out[i] = verdict{confidence: certain, matter: short(earlier.text), evidence: short(later.text), decider: again}
		}
	}
}

// repeated is the text without what may differ when it is told again; empty for one that is too short.
func repeated(text string) string {
	fields := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
	var kept []string
	unspaced := 0
	for i, w := range fields {
		if fillers[w] || articles[w] && !(i+1 < len(fields) && amounts[fields[i+1]]) {
			continue
		}
		if same, ok := alike[w]; ok {
			w = same
		}
		for w := range strings.SplitSeq(w, " ") {
			for _, r := range w {
				if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) {
					unspaced++
				}
			}
			kept = append(kept, w)
			for n := len(kept); n > 1; n = len(kept) {
				to, ok := contracted[[2]string{kept[n-2], kept[n-1]}]
				if !ok {
					break
				}
				kept = append(kept[:n-2], strings.Fields(to)...)
				if len(kept) >= n {
					break
				}
			}
		}
	}
	if len(kept) < fewest && unspaced < letters {
		return ""
	}
	return strings.Join(kept, " ")
}

// lasts says that a statement is of a state or a habit, which is no other for being told another day.
var lasts = lazyregexp.New(`(?i)\b(am|is|are|have|has|like|likes|love|loves|hate|hates|prefer|prefers|live|lives|work|works|want|need|needs|use|uses|drive|drives|speak|speaks|own|owns|always|never|usually|every|can['’]?t|can not|allergic)\b|['’](?:m|re)\b`)

// occasions reports whether the same words may tell of two occasions: told at other times, with a date that counts from there, or of an
// event.
func occasions(a, b *said, words string) bool {
	at, bt := item.Told(a.src), item.Told(b.src)
	same := func(x, y extract.DateRef) bool { return x.From.Equal(y.From) && x.To.Equal(y.To) }
	if !slices.EqualFunc(language.Dates(a.text, at), language.Dates(b.text, bt), same) {
		return true
	}
	return at.Sub(bt).Abs() > soon && !lasts.MatchString(words)
}
