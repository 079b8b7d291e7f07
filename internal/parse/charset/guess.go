package charset

import (
	"math"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"

	"github.com/contextmem/contextmem/internal/parse/clean"
)

// charsetCandidate is an encoding that the bytes may be in, with the models of the languages that it is used for and a prior (natural
// logarithm) for how common such files are.
type charsetCandidate struct {
	enc    encoding.Encoding
	models []charModel
	prior  float64
}

// charsetCandidates lists the candidates in order of preference. In a tie the first one wins.
var charsetCandidates = []charsetCandidate{
	{charmap.Windows1252, westModels, 0},
	{japanese.ShiftJIS, japaneseModels, -1},
	{simplifiedchinese.GB18030, simplifiedModels, -1},
	{charmap.Windows1251, cyrillicModels, -1},
	{korean.EUCKR, koreanModels, -1},
	{traditionalchinese.Big5, traditionalModels, -1},
	{japanese.EUCJP, japaneseModels, -1.5},
	{charmap.KOI8U, cyrillicModels, -1.5},
	{charmap.Windows1250, centralModels, -1},
	{charmap.ISO8859_2, centralModels, -1.5},
	{charmap.Windows1253, greekModels, -2},
	{charmap.ISO8859_7, greekModels, -2.5},
	{charmap.Windows1254, turkishModels, -2},
	{charmap.Windows1255, hebrewModels, -2},
	{charmap.Windows1256, arabicModels, -2},
	{charmap.ISO8859_6, arabicModels, -2.5},
	{charmap.Windows874, thaiModels, -2},
	{charmap.Windows1257, balticModels, -2},
	{charmap.CodePage866, cyrillicModels, -3},
	{charmap.ISO8859_5, cyrillicModels, -3.5},
	{charmap.MacintoshCyrillic, cyrillicModels, -5},
	{charmap.Macintosh, westModels, -5},
	{charmap.CodePage850, westModels, -5},
	{charmap.CodePage852, centralModels, -5},
}

// guessSample is the number of bytes that guessCharset examines, starting shortly before the first non-ASCII byte.
const guessSample = 6 << 10

// guessCharset returns the most likely encoding of the bytes. Each candidate decodes a sample, and a character model of its languages gives
// the probability of the result. All candidates decode the same bytes, so their log-probabilities can be compared whatever the number of
// characters.
func guessCharset(data []byte) encoding.Encoding {
	if enc := sevenBit(data); enc != nil {
		return enc
	}
	start := 0
	for start < len(data) && data[start] < utf8.RuneSelf {
		start++
	}
	if start == len(data) {
		return charmap.Windows1252
	}
	// All bytes before start are ASCII, so the sample begins with a whole character.
	from := max(0, start-256)
	sample := data[from:min(len(data), start+guessSample)]
	cut := from+len(sample) < len(data)
	best, bestScore := encoding.Encoding(charmap.Windows1252), math.Inf(-1)
	for _, c := range charsetCandidates {
		score := c.prior + c.score(sample, cut)
		if score > bestScore {
			best, bestScore = c.enc, score
		}
	}
	return best
}

// score is the log-likelihood of the sample under the candidate's best model. cut means that more data follows the sample, so that its last
// character may be split.
func (c charsetCandidate) score(sample []byte, cut bool) float64 {
	out, _ := c.enc.NewDecoder().Bytes(sample)
	runes := make([]rune, 0, len(sample))
	for i := 0; i < len(out); {
		r, n := utf8.DecodeRune(out[i:])
		i += n
		if r == utf8.RuneError && cut && i >= len(out) {
			break
		}
		runes = append(runes, r)
	}
	best := math.Inf(-1)
	for i := range c.models {
		best = max(best, c.models[i].score(runes))
	}
	return best
}

func (m *charModel) score(runes []rune) float64 {
	total, prev := 0.0, ' '
	plain, marked := 0, 0 // ASCII letters and other letters
	for i, r := range runes {
		total += m.logp(prev, r)
		switch {
		case clean.IsLetter(r):
			plain++
		case r >= utf8.RuneSelf && unicode.IsLetter(r):
			marked++
		}
		if r >= utf8.RuneSelf && m.mixed > 0 && unicode.IsLetter(r) && !unicode.IsLetter(prev) &&
			(i+1 == len(runes) || !unicode.IsLetter(runes[i+1]) && !unicode.IsMark(runes[i+1])) {
			total -= m.mixed / 2 // a single letter suggests another charset
		}
		prev = r
	}
	// If every sixth letter of a language has a mark, a text in which one in a hundred has is unlikely to be in it. The bound allows for
	// foreign names in a long text.
	return total - min(m.absence*float64(plain), maxAbsence*float64(marked))
}

// charModel is a unigram model with transition scores that distinguish charsets: case within a word, script within a word, and the
// alternation of vowels and consonants.
type charModel struct {
	freq map[rune]float64 // log-probability of lower-case letters and signs
	// vowels are the lower-case vowels of an alphabet without ASCII letters. nil disables the alternation.
	vowels map[rune]bool
	// rest is the log-probability of a letter of the model's own scripts that is not in freq.
	rest float64
	// own reports whether a letter belongs to the model's scripts.
	own func(r rune) bool
	// absence is the cost of an ASCII letter in a Latin alphabet, because it is not one of the letters in freq.
	absence float64
	// sparse is set for Latin alphabets, in which non-ASCII letters are seldom adjacent.
	sparse bool
	// mixed is the cost of a letter next to an ASCII letter. Words of other alphabets have no ASCII letters, but Latin words are often
	// adjacent to East Asian ones.
	mixed float64
}

// Log-probabilities shared by all models. Coarse values suffice: impossible characters must cost more than rare ones, and rare ones more
// than common ones.
const (
	lpInvalid = -25
	lpControl = -16
	lpForeign = -13
	lpSymbol  = -9
	lpPunct   = -6
	lpASCII   = -3
	// maxAbsence bounds the cost of absent letters per letter that is present.
	maxAbsence = 2
)

func (m *charModel) logp(prev, r rune) float64 {
	switch {
	case r < ' ' && r != '\t' && r != '\n' && r != '\r':
		return lpControl
	case r < utf8.RuneSelf:
		return m.ascii(prev, r)
	case r == utf8.RuneError:
		return lpInvalid
	case r >= 0x80 && r < 0xA0, r >= 0xE000 && r < 0xF900:
		return lpControl
	case unicode.IsMark(r) && !unicode.IsLetter(prev) && !unicode.IsMark(prev):
		return lpForeign // a combining mark without a base character
	}
	if p, ok := m.freq[r]; ok {
		return p + m.transition(prev, r)
	}
	if unicode.IsLetter(r) || unicode.IsMark(r) {
		return m.rareLetter(prev, r)
	}
	return sign(prev, r)
}

// ascii returns the log-probability of an ASCII character that is no control character.
func (m *charModel) ascii(prev, r rune) float64 {
	p := float64(lpASCII)
	switch {
	case !clean.IsLetter(r) || prev < utf8.RuneSelf:
	case unicode.IsLetter(prev) || unicode.IsMark(prev):
		p -= m.mixed
		if r < 'a' && m.sparse && unicode.IsLower(prev) {
			p -= 3
		}
	case !goodPunct[prev]:
		p -= 3 // a sign inside a word
	}
	return p
}

// rareLetter returns the log-probability of a letter or mark that is not in freq: a capital of one that is, or another one.
func (m *charModel) rareLetter(prev, r rune) float64 {
	lower := unicode.ToLower(r)
	if p, ok := m.freq[lower]; ok && lower != r {
		// Capitals are rare at the beginning of a word, common after another capital, and wrong after a small letter.
		switch {
		case unicode.IsUpper(prev):
			p -= 0.1
		case unicode.IsLower(prev):
			p -= 7
		default:
			p -= 2
		}
		return p + m.transition(unicode.ToLower(prev), lower)
	}
	if m.own(r) {
		return m.rest + m.transition(prev, r)
	}
	return lpForeign
}

// sign returns the log-probability of a character that is neither ASCII nor a letter.
func sign(prev, r rune) float64 {
	inWord := unicode.IsLetter(prev)
	switch {
	case goodPunct[r] && inWord && openPunct[r]:
		return lpPunct - 4
	case goodPunct[r]:
		return lpPunct
	case inWord:
		return lpSymbol - 3
	}
	return lpSymbol
}

// transition is the score of letter r after prev.
func (m *charModel) transition(prev, r rune) float64 {
	p := 0.0
	if prev < utf8.RuneSelf {
		if clean.IsLetter(prev) {
			return -m.mixed
		}
		return 0
	}
	if !unicode.IsLetter(prev) {
		return 0
	}
	if m.sparse {
		return -3
	}
	if m.vowels != nil {
		if m.vowels[prev] != m.vowels[r] {
			p += 0.3
		} else {
			p -= 0.5
		}
	}
	return p
}
