package lexical

import (
	"hash/maphash"
	"slices"
	"strings"
)

// WordHashes turns texts into sets of words. Words are hashes of terms, and are comparable only within
// one process. The zero value is ready to use. A WordHashes is not safe for concurrent use.
type WordHashes struct {
	tokens []Token
	text   string   // the text of the last call of Of
	inText []uint64 // the words of text
	words  []uint64
}

var hashSeedOfWords = maphash.MakeSeed()

// Append appends the words of a text to dst in order, including duplicates.
func (w *WordHashes) Append(dst []uint64, text string) []uint64 {
	w.tokens = Analyze(w.tokens[:0], text)
	for i := range w.tokens {
		dst = append(dst, maphash.String(hashSeedOfWords, w.tokens[i].Term))
	}
	return dst
}

// Terms appends the terms of a text whose words keep returns true for.
func (w *WordHashes) Terms(dst []string, text string, keep func(word uint64) bool) []string {
	w.tokens = Analyze(w.tokens[:0], text)
	for i := range w.tokens {
		if term := w.tokens[i].Term; keep(maphash.String(hashSeedOfWords, term)) {
			dst = append(dst, term)
		}
	}
	return dst
}

// Of returns the distinct words of a text and of a name whose parts underscores join, in ascending order.
// The result is valid until the next call. Successive calls with one text, as for the relations of a
// chunk, analyse the text once.
func (w *WordHashes) Of(name, text string) []uint64 {
	if text != w.text {
		w.text, w.inText = text, w.Append(w.inText[:0], text)
	}
	w.words = w.Append(append(w.words[:0], w.inText...), strings.ReplaceAll(name, "_", " "))
	slices.Sort(w.words)
	w.words = slices.Compact(w.words)
	return w.words
}

// maxKeptHashes bounds the memory that Forget keeps.
const maxKeptHashes = 1 << 10

// Forget releases the texts of earlier calls.
func (w *WordHashes) Forget() {
	if cap(w.tokens) > maxKeptHashes {
		*w = WordHashes{}
		return
	}
	clear(w.tokens[:cap(w.tokens)])
	w.text, w.inText = "", w.inText[:0]
}
