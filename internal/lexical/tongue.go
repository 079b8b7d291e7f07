package lexical

import (
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/turkish"
	"golang.org/x/text/unicode/norm"

	"github.com/contextmem/contextmem/internal/language"
)

// Tongue is a language other than English that has a stemmer. Words are always indexed as they are; those of a document in a
// tongue have their stem beside them, under a mark of the tongue. A question that is not English looks for its
// words and for their stems in each tongue. So documents in several languages share one index, each analysed
// as what it is, and a text whose language is not recognised is found by its words.
type Tongue uint8

// tongues are the languages by the number of their Tongue, from 1 on. Their codes stand in index files.
var tongues = [...]struct {
	code  string
	stem  func(*snowballstem.Env) bool
	latin bool
}{
	1: {"ar", arabic.Stem, false}, {"da", danish.Stem, true}, {"de", german.Stem, true}, {"es", spanish.Stem, true}, {"fi", finnish.Stem, true},
	{"fr", french.Stem, true}, {"hi", stemHindi, false}, {"hu", hungarian.Stem, true}, {"it", italian.Stem, true}, {"nl", dutch.Stem, true},
	{"no", norwegian.Stem, true}, {"pt", portuguese.Stem, true}, {"ro", romanian.Stem, true}, {"ru", russian.Stem, false}, {"sv", swedish.Stem, true},
	{"tr", turkish.Stem, true},
}

// tongueOf is the tongue of a language by its ISO 639-1 code.
var tongueOf = func() map[string]Tongue {
	m := make(map[string]Tongue, len(tongues))
	for t := 1; t < len(tongues); t++ {
		m[tongues[t].code] = Tongue(t)
	}
	return m
}()

// latinTongues are those that are written in Latin letters.
var latinTongues = func() (out []Tongue) {
	for t := 1; t < len(tongues); t++ {
		if tongues[t].latin {
			out = append(out, Tongue(t))
		}
	}
	return out
}()

// stemMark begins the terms of stems, so that no word has the term of one.
const stemMark = '\x01'

// stemBoost weighs a stem in a query beside the word itself.
const stemBoost = 1

// Bounds of TongueOf.
const (
	theBytes   = 160 // a text with "the" or "and" once in so many bytes is English
	shortQuery = 192 // bytes up to which a question is read in all tongues
	leastWord  = 3   // bytes of the shortest word that has a stem
)

// TongueOf returns the tongue of a document by its longest text; 0 for English, for languages without stems, and where the language is not recognised.
func TongueOf(texts ...string) Tongue {
	longest := ""
	for _, t := range texts {
		if len(t) > len(longest) {
			longest = t
		}
	}
	if n := strings.Count(longest, " the ") + strings.Count(longest, " and "); n*theBytes > len(longest) {
		return 0
	}
	return tongueOf[language.Guess(longest)]
}

// HasStems reports whether the language of an ISO 639-1 code is a Tongue.
func HasStems(code string) bool { return tongueOf[code] != 0 }

// queryTongues returns the tongues in which the words of a question are looked for: none for an English one. A short question in Latin letters
// is read in all tongues that use these, since the words that show its language may have been removed; a long text in one.
func queryTongues(text string) []Tongue {
	code := language.Guess(text)
	in := tongueOf[code]
	switch {
	case code == "en" || in == 0 && !latin(text):
		return nil
	case len(text) <= shortQuery && (in == 0 || tongues[in].latin):
		return latinTongues
	case in == 0:
		return nil
	}
	return []Tongue{in}
}

// latin reports whether the first letter of a text is Latin.
func latin(text string) bool {
	for _, r := range text {
		if unicode.IsLetter(r) {
			return unicode.Is(unicode.Latin, r)
		}
	}
	return false
}

// stemEntry remembers the term of a word's stem in a tongue. Entries are immutable.
type stemEntry struct {
	word   string // as it stood in the text
	tongue Tongue
	term   string // "": the word has none
}

// stemCache is like wordCache.
var stemCache [wordCacheSize]atomic.Pointer[stemEntry]

// stemTerm returns the term of the stem of a word in a tongue, "" for none.
func stemTerm(word string, in Tongue) string {
	if len(word) < leastWord || len(word) > maxStemBytes {
		return ""
	}
	h := uint32(hashSeed) + uint32(in)
	for i := range len(word) {
		h = (h ^ uint32(word[i])) * hashPrime
	}
	slot := &stemCache[hashSlot(h)%wordCacheSize]
	if e := slot.Load(); e != nil && e.tongue == in && e.word == word {
		return e.term
	}
	e := &stemEntry{word: strings.Clone(word), tongue: in, term: makeStemTerm(word, in)}
	if len(word) <= maxCacheBytes {
		slot.Store(e)
	}
	return e.term
}

func makeStemTerm(word string, in Tongue) string {
	if !utf8.ValidString(word) || strings.ContainsFunc(word, unicode.IsNumber) {
		return ""
	}
	lower := strings.ToLower(word)
	if tongues[in].code == "tr" {
		lower = strings.ToLowerSpecial(unicode.TurkishCase, word)
	}
	lower = norm.NFC.String(lower)
	if language.IsForm(tongues[in].code, lower) {
		return ""
	}
	env := snowballstem.NewEnv(lower)
	tongues[in].stem(env)
	stem := fold(env.Current())
	if stem == "" {
		return ""
	}
	return string(rune(stemMark)) + tongues[in].code + stem
}

// IsStem reports whether a term is that of a stem: it stands beside a word and is none itself.
func IsStem(term string) bool { return len(term) > 0 && term[0] == stemMark }
