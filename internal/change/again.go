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
	again   = "told again" // decider of repeats in the same words; Generation hashes it with a number, to raise when more texts count as the same
	certain = .95
	soon    = 36 * time.Hour // repeats within this time speak of the same occasion
	fewest  = 3              // minimum words of a repeat; "yes, please" is too short
	letters = 8              // minimum letters, instead of words, in scripts without spaces
)

// fillers are words that a repeat may add or leave out.
var fillers = words("well so also again btw just anyway oh hey hi ok okay please really actually as said reminder note fyi remember by the way still currently now definitely very quite totally absolutely")

// articles are ignored, except before amounts: "few friends" does not mean "a few friends".
var articles = words("a an the")

var amounts = words("few little lot bit couple")

// alike maps words to synonyms that fit every sentence.
var alike = map[string]string{"mum": "mother", "mom": "mother", "dad": "father", "kids": "children", "kid": "child", "tv": "television", "bike": "bicycle", "fridge": "refrigerator", "phone": "telephone",
	"flat": "apartment", "favourite": "favorite", "colour": "color", "grey": "gray", "cannot": "can not", "im": "i am", "ive": "i have", "dont": "do not", "doesnt": "does not", "didnt": "did not", "cant": "can not",
	"wont": "will not", "isnt": "is not", "arent": "are not", "wasnt": "was not", "havent": "have not", "hasnt": "has not"}

// contracted maps two words to a phrase of the same meaning: the two sides of an apostrophe, or a longer form such as "have got".
var contracted = map[[2]string]string{{"i", "m"}: "i am", {"i", "ve"}: "i have", {"i", "ll"}: "i will", {"we", "re"}: "we are", {"we", "ve"}: "we have", {"we", "ll"}: "we will", {"you", "re"}: "you are", {"they", "re"}: "they are",
	{"they", "ve"}: "they have", {"don", "t"}: "do not", {"doesn", "t"}: "does not", {"didn", "t"}: "did not", {"can", "t"}: "can not", {"won", "t"}: "will not", {"isn", "t"}: "is not", {"aren", "t"}: "are not",
	{"wasn", "t"}: "was not", {"haven", "t"}: "have not", {"hasn", "t"}: "has not", {"have", "got"}: "have", {"has", "got"}: "has", {"am", "living"}: "live", {"are", "living"}: "live", {"am", "working"}: "work", {"are", "working"}: "work"}

// consolidate finds statements that repeat each other. Differences in case, punctuation, fillers, articles, contractions and a few synonyms
// do not count. The later statement replaces the earlier one, unless their dates show two occasions.
func consolidate(s *statement, near []*statement, out []verdict) {
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

// repeated returns a text without the words that may differ between repeats. It returns "" if the text is too short to be a repeat.
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

// lasts matches statements of a state or a habit, which mean the same when they are repeated on another day.
var lasts = lazyregexp.New(`(?i)\b(am|is|are|have|has|like|likes|love|loves|hate|hates|prefer|prefers|live|lives|work|works|want|need|needs|use|uses|drive|drives|speak|speaks|own|owns|always|never|usually|every|can['’]?t|can not|allergic)\b|['’](?:m|re)\b`)

// occasions reports whether two statements in the same words may speak of two occasions.
// They do if their relative dates resolve differently, or if they tell of an event and were made at different times.
func occasions(a, b *statement, words string) bool {
	at, bt := item.StatedAt(a.src), item.StatedAt(b.src)
	same := func(x, y extract.DateRef) bool { return x.From.Equal(y.From) && x.To.Equal(y.To) }
	if !slices.EqualFunc(language.Dates(a.text, at), language.Dates(b.text, bt), same) {
		return true
	}
	return at.Sub(bt).Abs() > soon && !lasts.MatchString(words)
}
