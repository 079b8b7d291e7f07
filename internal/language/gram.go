package language

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
)

// Gram is a window of consecutive words of a question.
type Gram struct {
	// Key is the normal form; it equals the key of an entity with that name.
	Key string
	// Start and End are byte offsets in the question.
	Start, End int
	// Words is the number of words, 1 to 6.
	Words int
	// Common reports whether the window is one lower-case word. Match it only if the collection does not commonly use the word in
	// lower case.
	Common bool
}

// windows holds the words of a question, from which its Grams are made.
//
// The key of a window is extract.Key of its text. For most windows that is their lower-case words with one space between them. So all
// words of the question are joined in that way once, and the keys of such windows are substrings.
type windows struct {
	text   string
	joined string
	words  []gramWord
}

// gramWord is a word of a question at which a window may begin or end. The integer types are the smallest that hold maxQuery and
// maxGramWords.
type gramWord struct {
	start, end uint16 // in the question
	from, to   uint16 // in the joined words
	reach      int8   // the last word for which the key of a window from here is a substring of the joined words, -1 for none
	first      bool   // a window may begin with it
	last       bool   // a window may end with it
	letter     bool   // is one letter, which extract.Key may join with a neighbour
	common     bool   // a window of this word alone is Gram.Common
}

// EachGram yields the windows of one to six words in the order of their start, the longest first. The caller looks them up among known
// entities. It needs CueWindows.
func (c *Cues) EachGram(yield func(Gram) bool) { c.windows.each(yield) }

func (ws *windows) each(yield func(Gram) bool) {
	for a := range ws.words {
		w := &ws.words[a]
		if !w.first {
			continue
		}
		for b := min(len(ws.words), a+maxGramLength) - 1; b >= a; b-- {
			last := &ws.words[b]
			if !last.last {
				continue
			}
			g := Gram{Start: int(w.start), End: int(last.end), Words: b - a + 1, Common: a == b && w.common}
			if b <= int(w.reach) && g.End-g.Start <= extract.MaxKey {
				g.Key = ws.joined[w.from:last.to]
			} else if g.Key = extract.Key(ws.text[g.Start:g.End]); g.Key == "" {
				continue
			}
			if !yield(g) {
				return
			}
		}
	}
}

// windows reads the words into memory of d.
func (d *Document) windows() windows {
	words, joined := d.words[:0], d.joined[:0]
	for i := range d.Tokens {
		t := &d.Tokens[i]
		if t.Kind == KindPunct || t.Kind == KindClitic {
			continue
		}
		if len(words) == maxGramWords {
			break
		}
		w := gramWord{start: uint16(t.Start), end: uint16(t.End), from: uint16(len(joined)), reach: -1}
		plain := true // only ASCII letters and digits
		for k := t.Start; k < t.End; k++ {
			c := d.Text[k]
			if IsUpperByte(c) {
				c |= 0x20
			}
			plain = plain && isASCIIAlnum(c)
			joined = append(joined, c)
		}
		w.to = uint16(len(joined))
		joined = append(joined, ' ')
		if plain {
			w.reach = int8(len(words))
		}
		text := joined[w.from:w.to]
		w.first = t.Kind != KindWord || string(text) != "the" && string(text) != "a" && string(text) != "an"
		w.last = !t.Is(FunctionWord) || t.Shape != LowerCase && len(words) > 0
		w.letter = len(text) == 1 && !isDigitByte(text[0])
		w.common = t.Kind == KindWord && t.Shape == LowerCase
		words = append(words, w)
	}
	for a := len(words) - 2; a >= 0; a-- {
		w, next := &words[a], &words[a+1]
		if w.reach >= 0 && next.reach >= 0 && !(w.letter && next.letter) && separates(d.Text[w.end:next.start]) {
			w.reach = next.reach
		}
	}
	d.words, d.joined = words, joined
	return windows{text: d.Text, joined: string(joined), words: words}
}

// separates reports whether the text between two words of ASCII letters and digits becomes just a space in the key of both. A
// possessive ending may come first. A comma right before a word does not count, as it may be inside a number.
func separates(s string) bool {
	if s == " " {
		return true
	}
	for _, ending := range [...]string{"'s", "’s", "'S", "’S"} {
		if rest, ok := strings.CutPrefix(s, ending); ok {
			s = rest
			break
		}
	}
	return s != "" && strings.Trim(s, " ,;!()\"\t\r\n") == "" && s[len(s)-1] != ','
}
