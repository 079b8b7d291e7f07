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

// StemLanguage is a language other than English that has a stemmer. Documents are indexed under their words. A document in such a
// language is also indexed under the stems of its words, which begin with a mark and the code of the language. A question that is not
// English searches for its words and for their stems in each possible language. Documents in several languages can therefore share one
// index, and a document whose language was not recognised is found by its words.
type StemLanguage uint8

// stemLanguages lists the languages; the index is the StemLanguage, from 1 on. Index files contain the codes.
var stemLanguages = [...]struct {
	code  string
	stem  func(*snowballstem.Env) bool
	latin bool
}{
	1: {"ar", arabic.Stem, false}, {"da", danish.Stem, true}, {"de", german.Stem, true}, {"es", spanish.Stem, true}, {"fi", finnish.Stem, true},
	{"fr", french.Stem, true}, {"hi", stemHindi, false}, {"hu", hungarian.Stem, true}, {"it", italian.Stem, true}, {"nl", dutch.Stem, true},
	{"no", norwegian.Stem, true}, {"pt", portuguese.Stem, true}, {"ro", romanian.Stem, true}, {"ru", russian.Stem, false}, {"sv", swedish.Stem, true},
	{"tr", turkish.Stem, true},
}

// stemLanguageOf maps ISO 639-1 codes to StemLanguages.
var stemLanguageOf = func() map[string]StemLanguage {
	m := make(map[string]StemLanguage, len(stemLanguages))
	for t := 1; t < len(stemLanguages); t++ {
		m[stemLanguages[t].code] = StemLanguage(t)
	}
	return m
}()

// latinLanguages are the stem languages written in Latin letters.
var latinLanguages = func() (out []StemLanguage) {
	for t := 1; t < len(stemLanguages); t++ {
		if stemLanguages[t].latin {
			out = append(out, StemLanguage(t))
		}
	}
	return out
}()

// stemMark is the first byte of the terms of stems. No word begins with it.
const stemMark = '\x01'

// stemBoost is the boost of a stem in a query; a word has boost 1.
const stemBoost = 1

// Bounds of StemLanguageOf and queryLanguages.
const (
	theBytes   = 160 // a text with one "the" or "and" in at most this many bytes is English
	shortQuery = 192 // a question of at most this many bytes is stemmed in all languages
	leastWord  = 3   // bytes of the shortest word that has a stem
)

// StemLanguageOf returns the StemLanguage of a document, guessed from its longest text. It is 0 for English, for languages without a stemmer, and for
// unrecognised languages.
func StemLanguageOf(texts ...string) StemLanguage {
	longest := ""
	for _, t := range texts {
		if len(t) > len(longest) {
			longest = t
		}
	}
	if n := strings.Count(longest, " the ") + strings.Count(longest, " and "); n*theBytes > len(longest) {
		return 0
	}
	return stemLanguageOf[language.Guess(longest)]
}

// HasStems reports whether the language with an ISO 639-1 code is a StemLanguage.
func HasStems(code string) bool { return stemLanguageOf[code] != 0 }

// queryLanguages returns the StemLanguages in which to stem the words of a question: none for an English one, and one for a long text. For a
// short question in Latin letters it returns all StemLanguages with Latin letters, since a short text may lack the words that show its language.
func queryLanguages(text string) []StemLanguage {
	code := language.Guess(text)
	if code == "en" {
		return nil
	}
	in := stemLanguageOf[code]
	switch {
	case in == 0 && !latin(text):
		return nil
	case len(text) <= shortQuery && (in == 0 || stemLanguages[in].latin):
		return latinLanguages
	case in == 0:
		return nil
	}
	return []StemLanguage{in}
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

// stemEntry is the cached stem of a word in a StemLanguage. Entries are immutable.
type stemEntry struct {
	cachedTerm        // "" if the word has no stem
	word       string // unchanged from the text
	language   StemLanguage
}

// stemCache is a cache like wordCache, with one slot for a word.
var stemCache [wordCacheSize]atomic.Pointer[stemEntry]

// stemTerm returns the term of the stem of a word in a StemLanguage, or "" if it has none. cached is nil if the term is not in a cache.
func stemTerm(word string, in StemLanguage) (term string, cached *cachedTerm) {
	if len(word) < leastWord || len(word) > maxStemBytes {
		return "", nil
	}
	h := uint32(hashSeed) + uint32(in)
	for i := range len(word) {
		h = (h ^ uint32(word[i])) * hashPrime
	}
	slot := &stemCache[hashSlot(h)%wordCacheSize]
	if e := slot.Load(); e != nil && e.language == in && e.word == word {
		return e.term, &e.cachedTerm
	}
	term = makeStemTerm(word, in)
	if len(word) > maxCacheBytes {
		return term, nil
	}
	e := &stemEntry{cachedTerm{term}, strings.Clone(word), in}
	slot.Store(e)
	return term, &e.cachedTerm
}

func makeStemTerm(word string, in StemLanguage) string {
	if !utf8.ValidString(word) || strings.ContainsFunc(word, unicode.IsNumber) {
		return ""
	}
	lower := strings.ToLower(word)
	if stemLanguages[in].code == "tr" {
		lower = strings.ToLowerSpecial(unicode.TurkishCase, word)
	}
	lower = norm.NFC.String(lower)
	if language.IsForm(stemLanguages[in].code, lower) {
		return ""
	}
	env := snowballstem.NewEnv(lower)
	stemLanguages[in].stem(env)
	stem := fold(env.Current())
	if stem == "" {
		return ""
	}
	return string(rune(stemMark)) + stemLanguages[in].code + stem
}

// IsStem reports whether a term is the stem of a word and not a word itself.
func IsStem(term string) bool { return len(term) > 0 && term[0] == stemMark }
