package language

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

//go:embed tables/guess.txt
var guessTable string

// guessLanguage holds the words and letters that identify a language in Latin letters.
type guessLanguage struct {
	code    string
	letters string // letters that are rare in all other languages of the table
}

// guesses holds the words and letters that identify languages, with a bit for each language in guesses.languages.
type guesses struct {
	languages []guessLanguage
	words     wordTable[uint16]
	shapes    shapes // of the words
}

var loadGuesses = sync.OnceValue(func() *guesses {
	g, words := new(guesses), make(map[string]uint16, 1024)
	for line := range TableLines(guessTable) {
		if head, ok := strings.CutPrefix(line, "@ "); ok {
			code, letters, _ := strings.Cut(head, " ")
			g.languages = append(g.languages, guessLanguage{code, letters})
			continue
		}
		for w := range strings.FieldsSeq(line) {
			words[w] |= 1 << (len(g.languages) - 1)
			g.shapes.add(w)
		}
	}
	g.words = tableOf(words)
	return g
})

// Limits of Guess.
const (
	maxGuess     = 2048 // bytes that are read
	maxLanguages = 16
	letterPoints = 1 // points for a letter of one language; a word has wordPoints
	wordPoints   = 2
	fewWords     = 8 // in a text of at least fewWords words, one word in fewWords must belong to one language, unless a letter identifies it
)

// Guess returns the language of a text as its ISO 639-1 code: ar, hi, ja, ko, ru, th and zh by their scripts; da, de, en, es, fi, fr,
// hu, it, nl, no, pl, pt, ro, sv and tr by their most frequent words and by letters of their own. It returns "" if nothing identifies
// the language, as in a name or a number, and for other scripts. At most 2,048 bytes are read.
func Guess(text string) string {
	if len(text) > maxGuess {
		text = text[:maxGuess]
	}
	g := loadGuesses()
	var points [maxLanguages]int
	words, foreign, ascii := 0, false, false
	if words, ascii = g.ascii(text, &points); !ascii {
		if s := script(text); s != "latin" {
			return s
		}
		clear(points[:])
		words, foreign = g.latin(text, &points)
	}
	best, second := 0, -1
	for k := 1; k < len(g.languages); k++ {
		switch {
		case points[k] > points[best]:
			best, second = k, best
		case second < 0 || points[k] > points[second]:
			second = k
		}
	}
	if points[best] == 0 || points[best] == points[second] {
		return ""
	}
	// One known word among many unknown ones may be a name or an abbreviation: "Piet van Loon", "cost per pupil".
	if best > 0 && !foreign && words >= fewWords && points[best]*fewWords < words*wordPoints {
		return ""
	}
	return g.languages[best].code
}

// ascii adds the points of each word to its languages and counts the words. ok is false if the text is not in ASCII.
func (g *guesses) ascii(text string, points *[maxLanguages]int) (words int, ok bool) {
	start := -1
	for i := range len(text) {
		c := text[i]
		if c >= utf8.RuneSelf {
			return 0, false
		}
		if c |= 0x20; c >= 'a' && c <= 'z' {
			if start < 0 {
				start = i
			}
		} else if start >= 0 {
			g.word(text[start:i], points)
			words++
			start = -1
		}
	}
	if start >= 0 {
		g.word(text[start:], points)
		words++
	}
	return words, true
}

// latin is ascii for a text in any Latin letters. foreign reports whether the text has letters outside ASCII.
func (g *guesses) latin(text string, points *[maxLanguages]int) (words int, foreign bool) {
	start := -1
	for i := 0; i <= len(text); {
		r, n := rune(' '), 1
		if i < len(text) {
			r, n = utf8.DecodeRuneInString(text[i:])
		}
		if unicode.IsLetter(r) || unicode.IsMark(r) {
			if start < 0 {
				start = i
			}
			if r >= utf8.RuneSelf {
				r, foreign = unicode.ToLower(r), true
				for k := range g.languages {
					if strings.ContainsRune(g.languages[k].letters, r) {
						points[k] += letterPoints
					}
				}
			}
		} else if start >= 0 {
			g.word(text[start:i], points)
			words++
			start = -1
		}
		i += n
	}
	return words, foreign
}

// word adds the points of a word to its languages. A word of only one language counts in full.
func (g *guesses) word(w string, points *[maxLanguages]int) {
	for k, set := 0, g.of(w); set != 0; k, set = k+1, set>>1 {
		if set&1 != 0 {
			points[k] += wordPoints
		}
	}
}

// of returns the bits of the languages that have a word, in any case.
func (g *guesses) of(w string) uint16 {
	if len(w) <= shortWord {
		key := packLower(w)
		switch {
		case key&highBits != 0:
			return g.lowered(w)
		case !g.shapes.mayBe(w):
			return 0
		}
		return g.words.short[key]
	}
	if len(w) > maxLookup {
		return 0
	}
	key, ascii := lowerKey(w)
	switch {
	case !ascii:
		return g.lowered(w)
	case !g.shapes.mayBe(w):
		return 0
	}
	return g.words.long[key]
}

// lowered is of for a word that is not in ASCII.
func (g *guesses) lowered(w string) uint16 {
	in, _ := g.words.find(strings.ToLower(w))
	return in
}

// script returns the language of the script of most letters in a text. It returns "latin" for Latin script, and "" if there are no
// letters or the script has no known language.
func script(text string) string {
	var latin, han, kana, hangul, thai, arabic, hindi, cyrillic, other int
	for i, r := range text {
		switch {
		case r < utf8.RuneSelf:
			if c := text[i] | 0x20; c >= 'a' && c <= 'z' {
				latin++
			}
		case unicode.Is(unicode.Latin, r):
			latin++
		case unicode.Is(unicode.Han, r):
			han++
		case unicode.Is(unicode.Hiragana, r), unicode.Is(unicode.Katakana, r):
			kana++
		case unicode.Is(unicode.Hangul, r):
			hangul++
		case unicode.Is(unicode.Thai, r):
			thai++
		case unicode.Is(unicode.Arabic, r):
			arabic++
		case unicode.Is(unicode.Devanagari, r):
			hindi++
		case unicode.Is(unicode.Cyrillic, r):
			cyrillic++
		case unicode.IsLetter(r):
			other++
		}
	}
	// Ideographs and syllables carry more meaning per character than letters.
	most, name := latin, "latin"
	if latin == 0 {
		name = ""
	}
	take := func(n int, of string) {
		if n > most {
			most, name = n, of
		}
	}
	if kana*8 > han && kana > 0 {
		take(3*(han+kana), "ja")
	} else {
		take(3*han, "zh")
	}
	take(2*hangul, "ko")
	take(thai, "th")
	take(arabic, "ar")
	take(hindi, "hi")
	take(cyrillic, "ru")
	take(other, "")
	return name
}

// PlainLatin reports whether a text has letters and all of them are English letters.
func PlainLatin(text string) bool {
	letters := false
	for _, r := range text {
		if unicode.IsLetter(r) {
			if r >= utf8.RuneSelf {
				return false
			}
			letters = true
		}
	}
	return letters
}
