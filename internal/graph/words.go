package graph

import (
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/lexical"
)

// questionWords counts the words of a question that relations hold.
type questionWords struct {
	left  []uint64 // sorted hashes of the words that count
	bits  uint64   // wordBits of left
	name  []uint64
	texts lexical.WordHashes
	named []namedCount // predicates that countName counted
}

// namedCount is the number of words of the question that a predicate holds.
type namedCount struct {
	predicate string
	n         int
}

// RelationWords returns the hashes of a relation's words, for a Store to keep. The first element is the wordBits of the others.
func RelationWords(predicate, context string) []uint64 {
	var w lexical.WordHashes
	words := w.Of(predicate, context)
	kept := make([]uint64, 1, 1+len(words))
	kept[0] = wordBits(words)
	return append(kept, words...)
}

// ask sets the question.
func (w *questionWords) ask(question string) {
	w.left = w.texts.Append(w.left[:0], question)
	slices.Sort(w.left)
	w.left = slices.Compact(w.left)
	w.bits = wordBits(w.left)
	w.named = w.named[:0]
}

// terms returns the words that count, as the keyword index knows them.
func (w *questionWords) terms(question string) []string {
	return w.texts.Terms(nil, question, func(word uint64) bool {
		_, ok := slices.BinarySearch(w.left, word)
		return ok
	})
}

// countName returns how many words of the question a predicate holds.
func (w *questionWords) countName(predicate string) int {
	for i := range w.named { // linear search: predicates are few
		if w.named[i].predicate == predicate {
			return w.named[i].n
		}
	}
	n := w.count(&backend.Relation{Predicate: predicate})
	w.named = append(w.named, namedCount{predicate, n})
	return n
}

// wordBit maps a hash to one of 64 bits.
func wordBit(hash uint64) uint64 { return 1 << (hash & 63) }

// wordBits returns the union of the words' bits.
func wordBits(hashes []uint64) (bits uint64) {
	for _, h := range hashes {
		bits |= wordBit(h)
	}
	return bits
}

// drop removes the words of a name from the question.
func (w *questionWords) drop(name string) {
	w.name = w.texts.Append(w.name[:0], name)
	for _, h := range w.name {
		if i, ok := slices.BinarySearch(w.left, h); ok {
			w.left = slices.Delete(w.left, i, i+1)
		}
	}
	w.bits = wordBits(w.left)
	w.named = w.named[:0]
}

// count returns how many words of the question the predicate or the context of a relation holds. The context of a sketch must hold none.
func (w *questionWords) count(rel *backend.Relation) int {
	words := rel.Words
	switch {
	case rel.Sketch:
		return w.countName(rel.Predicate)
	case len(words) == 0:
		words = w.texts.Of(rel.Predicate, rel.Context)
	case words[0]&w.bits == 0:
		return 0
	default:
		words = words[1:]
	}
	n, left := 0, w.left
	for _, h := range words { // both are in ascending order
		if w.bits&wordBit(h) == 0 {
			continue
		}
		for len(left) > 0 && left[0] < h {
			left = left[1:]
		}
		if len(left) > 0 && left[0] == h {
			n++
		}
	}
	return n
}
