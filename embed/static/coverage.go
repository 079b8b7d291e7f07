package static

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Coverage is the share of the content words of text that the table knows, in
// [0,1]; 0 if text has none. A word is a run of letters, marks and digits of
// any script; each ideograph or kana counts as a word of its own, since those
// scripts do not separate words. Stop words and words of one ASCII character
// do not count. A word is known if it is ASCII and in the table.
func (e *Embedder) Coverage(text string) float64 {
	words, known := 0, 0
	for i := 0; i < len(text); {
		start, h, ascii := i, uint32(fnvOffset), true
		for i < len(text) {
			if c := folded[text[i]]; c != 0 {
				h = (h ^ uint32(c)) * fnvPrime
				i++
				continue
			}
			if text[i] < utf8.RuneSelf {
				break
			}
			r, size := utf8.DecodeRuneInString(text[i:])
			if isIdeographic(r) {
				if i == start { // alone; otherwise it ends the word before it
					i += size
					ascii = false
				}
				break
			}
			if !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) {
				break
			}
			ascii = false
			i += size
		}
		if i == start { // not part of a word
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
			continue
		}
		word := text[start:i]
		if !ascii {
			words++
			continue
		}
		if len(word) == 1 || isStopWord(word, h) {
			continue
		}
		words++
		if _, ok := e.lookup(word, h); ok {
			known++
		}
	}
	return share(known, words)
}

// share is known/words, and 0 if there are no words.
func share(known, words int) float64 {
	if words == 0 {
		return 0
	}
	return float64(known) / float64(words)
}

func isIdeographic(r rune) bool {
	return r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// stopWords are the English function words: articles, prepositions, pronouns, auxiliaries, question words, and the parts of
// contractions ("don't" becomes "don" and "t").
const stopWords = `a an the and or but nor of to in on at for with by from
	is are was were be been being am
	do does did doing have has had having
	i you he she it we they me him her us them
	my your yours his hers its our ours their theirs
	this that these those what which who whom whose when where why how
	no not as if than then so such too very also just any some
	can could will would shall should may might must
	about into over after before between out up down there here
	s t ll re ve d m don doesn didn isn wasn weren aren ain won
	wouldn couldn shouldn mustn mightn needn hasn haven hadn`

// stopSlots is a hash table of the stop words: each is in the slot of its hash or in the next free one.
var stopSlots = func() (slots [512]struct {
	hash uint32
	word string
}) {
	for w := range strings.FieldsSeq(stopWords) {
		h, _ := hash(w)
		i := h % uint32(len(slots))
		for slots[i].word != "" {
			i = (i + 1) % uint32(len(slots))
		}
		slots[i].hash, slots[i].word = h, w
	}
	return slots
}()

// isStopWord reports whether token, whose lower-case form hashes to h, is a stop word.
func isStopWord(token string, h uint32) bool {
	for i := h % uint32(len(stopSlots)); stopSlots[i].word != ""; i = (i + 1) % uint32(len(stopSlots)) {
		if stopSlots[i].hash == h && equalFolded(token, stopSlots[i].word) {
			return true
		}
	}
	return false
}
