package contextmem

import (
	"strings"

	"github.com/contextmem/contextmem/internal/lexical"
)

// questionWords counts how many words of a question texts hold. Relations of one chunk
// mostly share their texts, each of which is read once. It is used again for other questions.
type questionWords struct {
	at         map[string]int // by stem
	maybe      uint64         // has the bit of each stem
	counts     []bool         // whether the word counts
	left       int            // words that count
	seen       []int          // the count that met the word last
	count      int
	texts      map[string]span // words of a text
	predicates map[string]span
	words      []int // of all texts
	tokens     []lexical.Token
}

// span is a part of questionWords.words.
type span struct{ from, to int }

// ask begins with another question.
func (w *questionWords) ask(question string) {
	if w.at == nil {
		w.at, w.texts, w.predicates = map[string]int{}, map[string]span{}, map[string]span{}
	}
	w.tokens = lexical.Analyze(w.tokens[:0], question)
	for _, t := range w.tokens {
		if _, ok := w.at[t.Term]; !ok {
			w.at[t.Term] = len(w.counts)
			w.maybe |= stemBit(t.Term)
			w.counts, w.seen = append(w.counts, true), append(w.seen, 0)
		}
	}
	w.left = len(w.counts)
}

// stemBit is a bit that tells most stems apart.
func stemBit(stem string) uint64 {
	n := len(stem)
	return 1 << ((n*11 + int(stem[0])*7 + int(stem[n-1])) & 63)
}

// maxKnownTexts bounds the texts whose memory is kept for the next question.
const maxKnownTexts = 1 << 10

// forget makes w ready for another question.
func (w *questionWords) forget() {
	if len(w.texts) > maxKnownTexts || cap(w.tokens) > maxKnownTexts || len(w.at) > maxKnownTexts {
		*w = questionWords{}
		return
	}
	clear(w.at)
	clear(w.texts)
	clear(w.predicates)
	clear(w.tokens[:cap(w.tokens)])
	w.maybe, w.count, w.counts, w.seen, w.words = 0, 0, w.counts[:0], w.seen[:0], w.words[:0]
}

// drop makes the words of a text count no more.
func (w *questionWords) drop(text string) {
	for _, i := range w.of(text) {
		if w.counts[i] {
			w.counts[i] = false
			w.left--
		}
	}
}

// held counts the words that a predicate or its context hold.
func (w *questionWords) held(predicate, context string) int {
	w.count++
	n := 0
	for _, words := range [...][]int{w.ofPredicate(predicate), w.of(context)} {
		for _, i := range words {
			if w.counts[i] && w.seen[i] != w.count {
				w.seen[i] = w.count
				n++
			}
		}
	}
	return n
}

// of lists the question's words in a text.
func (w *questionWords) of(text string) []int {
	s, ok := w.texts[text]
	if !ok {
		s = w.find(text)
		w.texts[text] = s
	}
	return w.words[s.from:s.to]
}

// ofPredicate is of for a predicate, whose words are joined by underscores.
func (w *questionWords) ofPredicate(predicate string) []int {
	s, ok := w.predicates[predicate]
	if !ok {
		s = w.find(strings.ReplaceAll(predicate, "_", " "))
		w.predicates[predicate] = s
	}
	return w.words[s.from:s.to]
}

func (w *questionWords) find(text string) span {
	from := len(w.words)
	w.tokens = lexical.Analyze(w.tokens[:0], text)
	for _, t := range w.tokens {
		if w.maybe&stemBit(t.Term) == 0 {
			continue
		}
		if i, ok := w.at[t.Term]; ok {
			w.words = append(w.words, i)
		}
	}
	return span{from, len(w.words)}
}
