package contextmem

import (
	"strings"

	"github.com/contextmem/contextmem/internal/lexical"
)

// questionWords counts how many words of a question texts hold. Relations of one chunk
// mostly share their texts, each of which is read once.
type questionWords struct {
	at     map[string]int // by stem
	counts []bool         // whether the word counts
	left   int            // words that count
	seen   []int          // the count that met the word last
	count  int
	known  map[string][]int // words of a text
	tokens []lexical.Token
}

func newQuestionWords(question string) *questionWords {
	w := &questionWords{at: make(map[string]int, 16), known: make(map[string][]int, 24)}
	w.tokens = lexical.Analyze(nil, question)
	for _, t := range w.tokens {
		if _, ok := w.at[t.Term]; !ok {
			w.at[t.Term] = len(w.counts)
			w.counts = append(w.counts, true)
		}
	}
	w.left, w.seen = len(w.counts), make([]int, len(w.counts))
	return w
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
	for _, words := range [...][]int{w.of(strings.ReplaceAll(predicate, "_", " ")), w.of(context)} {
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
	words, ok := w.known[text]
	if !ok {
		w.tokens = lexical.Analyze(w.tokens[:0], text)
		for _, t := range w.tokens {
			if i, ok := w.at[t.Term]; ok {
				words = append(words, i)
			}
		}
		w.known[text] = words
	}
	return words
}
