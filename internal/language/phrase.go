package language

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed tables/modes.txt
var modeTable string

// phraseSet is a section of the table of phrases. Several sets are combined with
// .
type phraseSet uint16

const (
	hedgePhrases phraseSet = 1 << iota
	conditionPhrases
	fictionPhrases
	shownPhrases
	jokePhrases
	endedPhrases
	cancelledPhrases
	correctedPhrases
	wishPhrases
	planPhrases
	requestPhrases
	standingPhrases
)

// phraseSections are the names of the sets in the table, in the order of their bits.
var phraseSections = [...]string{"hedge", "condition", "fiction", "shown", "joke", "ended", "cancelled", "corrected", "wish", "plan", "request", "standing"}

// modePhrase is a phrase of a set, without its first word.
type modePhrase struct {
	set  phraseSet
	rest []string
}

// modeWords holds the words and phrases that determine the mode of a clause.
type modeWords struct {
	report, own wordSet
	phrases     map[string][]modePhrase // by the first word
	first       shapes                  // filter of these first words
}

var modeTables = sync.OnceValue(func() *modeWords {
	sections := TableSections(modeTable)
	words := func(name string) wordSet {
		s := wordSet{words: make(map[string]bool)}
		for w := range strings.FieldsSeq(sections[name]) {
			s.words[w] = true
			s.shapes.add(w)
		}
		return s
	}
	t := &modeWords{report: words("report"), own: words("own"), phrases: make(map[string][]modePhrase)}
	for i, name := range phraseSections {
		for line := range strings.SplitSeq(sections[name], "\n") {
			p := strings.Fields(line)
			t.phrases[p[0]] = append(t.phrases[p[0]], modePhrase{set: 1 << i, rest: p[1:]})
			t.first.add(p[0])
		}
	}
	return t
})

// EndingWords returns, in lower case, the first words of the phrases for endings and cancellations. A text without any of these words
// has no clause that ReadClauses marks as ended or cancelled.
func EndingWords() (words []string) {
	for w, all := range modeTables().phrases {
		for _, p := range all {
			if p.set&(endedPhrases|cancelledPhrases) != 0 {
				words = append(words, w)
				break
			}
		}
	}
	slices.Sort(words)
	return words
}

// phraseHit is a phrase found in a sentence, at the tokens [lo, hi).
type phraseHit struct {
	lo, hi int32
	set    phraseSet
}

// findPhrases finds the phrases of a sentence.
func (d *Document) findPhrases(s *Sentence) {
	d.phrases = d.phrases[:0]
	t := modeTables()
	for i := s.Lo; i < s.Hi; i++ {
		if !t.first.mayBe(d.TokenText(i)) {
			continue
		}
		for _, p := range t.phrases[d.plainWord(i)] {
			hi := i + 1 + len(p.rest)
			if hi > s.Hi {
				continue
			}
			ok := true
			for k, w := range p.rest {
				if ok = strings.EqualFold(d.TokenText(i+1+k), w) || w[0] == '\'' && d.plainWord(i+1+k) == w; !ok {
					break
				}
			}
			if ok {
				d.phrases = append(d.phrases, phraseHit{lo: int32(i), hi: int32(hi), set: p.set})
			}
		}
	}
}

// shapes is a filter of words by first byte and length: it quickly rules out most words, which are in no table.
type shapes [utf8.RuneSelf]uint32 // set of lengths as bits, by first byte

// maxShape is the length from which on all lengths share one bit.
const maxShape = 31

// add adds a lower-case word to the filter.
func (s *shapes) add(w string) {
	if c := w[0]; c < utf8.RuneSelf {
		s[c] |= 1 << min(len(w), maxShape)
	}
}

// mayBe returns false if a word, in any case, is certainly none of the added words. It allows for typographic apostrophes, which have
// three bytes, in place of plain ones.
func (s *shapes) mayBe(w string) bool {
	c, n := w[0], min(len(w), maxShape)
	if c >= utf8.RuneSelf {
		return true
	}
	if IsUpperByte(c) {
		c |= 0x20
	}
	one := uint32(1) << n
	return s[c]&(one|one>>2|one>>4) != 0 || n == maxShape
}

// wordSet is a set of words with its filter.
type wordSet struct {
	words  map[string]bool
	shapes shapes
}

// has reports whether a word in any case is in the set.
func (s *wordSet) has(w string) bool { return s.shapes.mayBe(w) && s.words[strings.ToLower(w)] }

// plainWord returns token i in lower case with straight apostrophes.
func (d *Document) plainWord(i int) string {
	return strings.ReplaceAll(strings.ToLower(d.TokenText(i)), "’", "'")
}

// phraseAt returns the number of tokens of the longest phrase of a set that begins at token i, 0 for none.
func (d *Document) phraseAt(set phraseSet, i, hi int) int {
	n := 0
	for _, h := range d.phrases {
		if int(h.lo) == i && int(h.hi) <= hi && h.set&set != 0 {
			n = max(n, int(h.hi-h.lo))
		}
	}
	return n
}

// phraseIn returns the token at which the first phrase of a set begins in [lo, hi), -1 for none.
func (d *Document) phraseIn(set phraseSet, lo, hi int) int {
	for _, h := range d.phrases {
		if int(h.lo) >= lo && int(h.hi) <= hi && h.set&set != 0 {
			return int(h.lo)
		}
	}
	return -1
}
