package lexical

import (
	"strings"
	"unicode/utf8"
)

const (
	maxTermBytes  = 255 // Analyze cuts longer words, and indexes only the parts of longer compounds
	maxParts      = 64  // parts of one compound; Analyze splits longer compounds
	maxSubs       = 6   // pieces of one mixed word; a word with more is taken for a code and not split
	maxJoinerRun  = 3   // punctuation characters between two parts; "://" has 3
	wordBufBytes  = 64  // ASCII words of up to this length need no allocation
	apostropheLen = len("’")
)

// Token is one term of a text. Start and End are byte offsets into the text. Pos
// counts words from 0, including the stop words that [Analyze] leaves out. If a word is
// indexed as a whole and in parts, these tokens share a position. Term may alias the
// text: clone it to keep it longer than the text.
type Token struct {
	Term       string
	Pos        int
	Start, End int
}

// Stop reports whether the token is a stop word. Stop words do not count in the length of
// a document, and Or queries leave them out.
func (t *Token) Stop() bool { return len(t.Term) > 0 && t.Term[0] == stopMark[0] }

// Uncounted reports whether the token does not count in the length of a document. This holds for stop words, and for stems,
// which are indexed beside their words.
func (t *Token) Uncounted() bool { return t.Stop() || IsStem(t.Term) }

// kind is the role of a token in a query.
type kind uint8

const (
	kindWord     kind = iota // a word, or a part of a compound: AND and PHRASE require it
	kindQuestion             // like kindWord, but a question word, which Or queries may leave out
	kindExtra                // a whole compound or a piece of a word: adds to the score only
	kindHan                  // a single character beside the pair that it is in
	kindStem                 // the stem of a word beside it
)

// Analyze appends the tokens of text to dst, in order of position. Safe for
// concurrent use; any bytes are accepted.
//
// Words are runs of letters and digits, folded (compatibility forms, case,
// accents) and, where only a to z remain, stemmed as English. Scripts without
// spaces (Han, kana, Hangul, Thai, Lao, Khmer, Myanmar) give pairs of characters,
// Han also single ones. Words joined by punctuation (err_1042, foo.bar/baz-2,
// addresses, versions) give the whole at the position of its first part and the
// parts one after the other; mixed words (getUserName, iPhone15) give the whole
// and their pieces at one position. Possessives and contractions lose what
// follows the apostrophe. An emoji is a word at the position of the word after it.
func Analyze(dst []Token, text string) []Token {
	a := analyzer{text: text, dst: dst}
	a.run()
	return a.dst
}

// AnalyzeDocument is [Analyze] for a document that is to be indexed. It also returns stop words, which [Token.Stop]
// recognises. If in is not 0, it also returns the stems of words in that language, which [IsStem] recognises.
func AnalyzeDocument(dst []Token, text string, in StemLanguage) []Token {
	a := analyzer{text: text, dst: dst}
	a.document(in)
	return a.dst
}

// wordsOf is AnalyzeDocument for a [Mem].
func wordsOf(dst []docWord, text string, in StemLanguage) []docWord {
	a := analyzer{text: text, words: dst, index: true}
	a.document(in)
	return a.words
}

// document analyzes the text as that of a document.
func (a *analyzer) document(in StemLanguage) {
	a.stops = true
	if in != 0 {
		a.in = []StemLanguage{in}
	}
	a.run()
}

type analyzer struct {
	text  string
	dst   []Token
	words []docWord // takes the place of dst if index is set
	index bool
	kinds []kind // parallel to dst, kept for queries only
	query bool
	stops bool        // also emit stop words, under the terms that stopTerm returns
	begin *Beginnings // if not nil, plain words that begin otherwise are left out
	in    []StemLanguage
	pos   int
	parts [maxParts]part
	buf   [wordBufBytes]byte
}

// part is a run of letters and digits in the text.
type part struct {
	start, end int
	ascii      bool
	commas     bool // a number with thousands separators
}

// Properties of ASCII characters, as bits.
const (
	bitLower = 1 << iota
	bitUpper
	bitDigit
	bitJoin  // may join words
	bitURL   // may join words inside a URL
	bitAlnum = bitLower | bitUpper | bitDigit
)

var (
	charBits [256]uint8
	isAlnum  [256]bool
)

func init() {
	for c := range 128 {
		switch {
		case c >= 'a' && c <= 'z':
			charBits[c] = bitLower
		case c >= 'A' && c <= 'Z':
			charBits[c] = bitUpper
		case c >= '0' && c <= '9':
			charBits[c] = bitDigit
		}
		isAlnum[c] = charBits[c] != 0
	}
	for _, c := range []byte(`_.-/:@\+&#`) {
		charBits[c] = bitJoin | bitURL
	}
	for _, c := range []byte(`?=%~;!`) {
		charBits[c] = bitURL
	}
}

func lowerASCII(c byte) byte {
	if charBits[c]&bitUpper != 0 {
		return c + ('a' - 'A')
	}
	return c
}

// emit emits a term. cached is nil if the term is not in a cache.
func (a *analyzer) emit(term string, cached *cachedTerm, k kind, pos, start, end int) {
	if a.index {
		a.words = append(a.words, docWord{term, cached, uint32(pos)})
		return
	}
	a.dst = append(a.dst, Token{term, pos, start, end})
	if a.query {
		a.kinds = append(a.kinds, k)
	}
}

// emitEntry emits the term of an entry.
func (a *analyzer) emitEntry(e *wordEntry, k kind, start, end int) {
	cached := &e.cachedTerm
	if e.n == 0 { // it is in no cache
		cached = nil
	}
	a.emit(e.term, cached, k, a.pos, start, end)
}

// stems emits the stems of text[start:end], the word at the current position.
func (a *analyzer) stems(start, end int) {
	for _, in := range a.in {
		if term, cached := stemTerm(a.text[start:end], in); term != "" {
			a.emit(term, cached, kindStem, a.pos, start, end)
		}
	}
}

func (a *analyzer) run() {
	for i := 0; i < len(a.text); {
		c := a.text[i]
		if c < utf8.RuneSelf {
			if isAlnum[c] {
				i = a.word(i)
			} else {
				i++
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(a.text[i:])
		switch classify(r) {
		case classWord:
			i = a.compound(i)
		case classGram, classHan:
			i = a.grams(i)
		default:
			if isEmoji(r) {
				i = a.emoji(i, i+size, r)
			} else {
				i += size
			}
		}
	}
}

// word reads the word at text[i] and returns the offset after it. It handles plain ASCII words and
// numbers itself, since most words are of that kind, and passes others to compound.
func (a *analyzer) word(i int) int {
	text := a.text
	h := uint32(hashSeed)
	var seen uint8
	j, uppers := i, 0
	for ; j < len(text); j++ {
		c := text[j]
		b := charBits[c]
		if b&bitAlnum == 0 {
			break
		}
		if j-i == wordBufBytes {
			return a.compound(i)
		}
		seen |= b
		if b == bitUpper {
			uppers++
			c += 'a' - 'A'
		}
		a.buf[j-i] = c
		h = (h ^ uint32(c)) * hashPrime
	}
	n := j - i
	switch {
	case seen&bitDigit != 0 && seen != bitDigit:
		return a.compound(i)
	case uppers != 0 && uppers != n && (uppers > 1 || charBits[text[i]] != bitUpper):
		return a.compound(i)
	}
	after := j
	if j < len(text) && text[j] != ' ' {
		var plain bool
		if after, plain = plainEnd(text, j, n, seen == bitDigit); !plain {
			return a.compound(i)
		}
	}
	if seen == bitDigit {
		a.emit(text[i:j], nil, kindWord, a.pos, i, j)
	} else if a.begin != nil && !a.begin.has(a.buf[:n]) {
		a.pos++
		return after
	} else if e := lookupASCII(a.buf[:n], hashSlot(h)); !e.stop || a.stops {
		a.emitEntry(e, e.kind, i, j)
		if a.in != nil && !e.stop && e.kind == kindWord {
			a.stems(i, j)
		}
	}
	a.pos++
	return after
}

// plainEnd returns the offset after a word of n bytes that ends at text[j], and after its suffix, such as 's. It reports false if what follows
// belongs to the word.
func plainEnd(text string, j, n int, number bool) (after int, plain bool) {
	switch c := text[j]; {
	case c >= utf8.RuneSelf:
		after = skipSuffix(text, j)
		return after, after != j || !continuesWord(text, j)
	case c == '\'':
		return skipSuffix(text, j), true
	case c == ',':
		return j, !number
	case charBits[c]&bitJoin != 0:
		joins := j+1 < len(text) && text[j+1] != ' '
		return j, !joins && !(c == '#' && n == 1)
	}
	return j, true
}

// skipSuffix returns the end of an apostrophe and the English suffix after it at
// text[j:], or j if there is none.
func skipSuffix(text string, j int) int {
	k := j
	if strings.HasPrefix(text[j:], "’") {
		k += apostropheLen
	} else if text[j] == '\'' {
		k++
	} else {
		return j
	}
	end := k
	for end < len(text) && end-k < 3 && isAlnum[text[end]] {
		end++
	}
	if end < len(text) && (isAlnum[text[end]] || text[end] >= utf8.RuneSelf && continuesWord(text, end)) {
		return j
	}
	switch strings.ToLower(text[k:end]) {
	case "s", "t", "d", "m", "ll", "re", "ve":
		return end
	}
	return j
}
