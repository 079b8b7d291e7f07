package contextmem

import (
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/lexical"
)

// questionWords counts how many words of a question relations hold. It is used again for other questions.
type questionWords struct {
	left  []uint64 // hashes of the words that count, rising
	maybe uint64   // has the bit of each of them
	name  []uint64
	texts lexical.WordHashes
}

// relationWords returns the words of a relation for a store that keeps them.
func relationWords(predicate, context string) []uint64 {
	var w lexical.WordHashes
	return slices.Clone(w.Of(predicate, context))
}

// maxQuestionWords keeps the memory of a rare long question from being kept.
const maxQuestionWords = 1 << 10

// ask begins with another question.
func (w *questionWords) ask(question string) {
	w.left, w.maybe = w.texts.Append(w.left[:0], question), 0
	slices.Sort(w.left)
	w.left = slices.Compact(w.left)
	for _, h := range w.left {
		w.maybe |= wordBit(h)
	}
}

// wordBit is a bit that tells most words apart.
func wordBit(hash uint64) uint64 { return 1 << (hash & 63) }

// forget makes w ready for another question.
func (w *questionWords) forget() {
	if cap(w.left) > maxQuestionWords || cap(w.name) > maxQuestionWords {
		*w = questionWords{}
		return
	}
	w.texts.Forget()
}

// drop makes the words of a name count no more.
func (w *questionWords) drop(name string) {
	w.name = w.texts.Append(w.name[:0], name)
	for _, h := range w.name {
		if i, ok := slices.BinarySearch(w.left, h); ok {
			w.left = slices.Delete(w.left, i, i+1)
		}
	}
}

// held counts the words that the predicate of a relation or its context hold.
func (w *questionWords) held(rel *backend.Relation) int {
	words := rel.Words
	if words == nil {
		words = w.texts.Of(rel.Predicate, rel.Context)
	}
	n := 0
	for _, h := range words {
		if w.maybe&wordBit(h) == 0 {
			continue
		}
		if _, ok := slices.BinarySearch(w.left, h); ok {
			n++
		}
	}
	return n
}
