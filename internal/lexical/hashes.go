package lexical

import (
	"hash/maphash"
	"slices"
	"strings"
)

// WordHashes reads texts as sets of words: the hashes of their terms, which are equal in one process
// and differ between two. Its zero value is ready; one goroutine uses it at a time.
type WordHashes struct {
	tokens []Token
	text   string   // that was read last
	inText []uint64 // its words
	words  []uint64
}

var hashSeedOfWords = maphash.MakeSeed()

// Append appends the words of a text to dst, in order, some perhaps twice.
func (w *WordHashes) Append(dst []uint64, text string) []uint64 {
	w.tokens = Analyze(w.tokens[:0], text)
	for i := range w.tokens {
		dst = append(dst, maphash.String(hashSeedOfWords, w.tokens[i].Term))
	}
	return dst
}

// Of returns the words of a name, whose parts underscores join, and of a text: rising, each once, until
// the next call. A text that comes again and again, as with the relations of one chunk, is analysed once.
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

// Forget drops the texts that were read.
func (w *WordHashes) Forget() {
	if cap(w.tokens) > maxKeptHashes {
		*w = WordHashes{}
		return
	}
	clear(w.tokens[:cap(w.tokens)])
	w.text, w.inText = "", w.inText[:0]
}
