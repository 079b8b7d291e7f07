package graph

import (
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/lexical"
)

// questionWords counts how many words of a question relations hold.
type questionWords struct {
	left  []uint64 // hashes of the words that count, rising
	bits  uint64   // has the bit of each of them
	name  []uint64
	texts lexical.WordHashes
}

// RelationWords returns the words of a relation, for a Store that keeps them.
func RelationWords(predicate, context string) []uint64 {
	var w lexical.WordHashes
	return slices.Clone(w.Of(predicate, context))
}

// ask sets the question.
func (w *questionWords) ask(question string) {
	w.left, w.bits = w.texts.Append(w.left[:0], question), 0
	slices.Sort(w.left)
	w.left = slices.Compact(w.left)
	for _, h := range w.left {
		w.bits |= wordBit(h)
	}
}

// wordBit is a bit that tells most words apart.
func wordBit(hash uint64) uint64 { return 1 << (hash & 63) }

// drop makes the words of a name count no more.
func (w *questionWords) drop(name string) {
	w.name = w.texts.Append(w.name[:0], name)
	for _, h := range w.name {
		if i, ok := slices.BinarySearch(w.left, h); ok {
			w.left = slices.Delete(w.left, i, i+1)
		}
	}
}

// count counts the words of the question that the predicate of a relation or its context hold.
func (w *questionWords) count(rel *backend.Relation) int {
	words := rel.Words
	if words == nil {
		words = w.texts.Of(rel.Predicate, rel.Context)
	}
	n := 0
	for _, h := range words {
		if w.bits&wordBit(h) == 0 {
			continue
		}
		if _, ok := slices.BinarySearch(w.left, h); ok {
			n++
		}
	}
	return n
}
