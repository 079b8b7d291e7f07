package tokenize

import "unicode/utf8"

// wordPiece divides a word from the left into the longest known pieces (Wu et al., 2016). A word that is too long or cannot be divided
// becomes one unknown token.
type wordPiece struct {
	pieces   trie // maps pieces to ids; continuing pieces begin with the prefix
	inner    trieNode
	hasInner bool // some piece begins with the prefix
	unk      int32
	size     int32 // ids are below it
	maxChars int
}

func newWordPiece(pieces trie, prefix string, unk, size int32, maxChars int) *wordPiece {
	w := &wordPiece{pieces: pieces, inner: pieces.root(), hasInner: true, unk: unk, size: size, maxChars: maxChars}
	for i := range len(prefix) {
		_, ok := pieces.step(&w.inner, prefix[i])
		w.hasInner = w.hasInner && ok
	}
	return w
}

func (w *wordPiece) unknown() int32 { return w.unk }

func (w *wordPiece) append(dst []int32, word []byte, _ *scratch) []int32 {
	begin := len(dst)
	if len(word) > w.maxChars && utf8.RuneCount(word) > w.maxChars {
		return append(dst, w.unk)
	}
	for at := 0; at < len(word); {
		n := w.inner
		if at == 0 {
			n = w.pieces.root()
		} else if !w.hasInner {
			return append(dst[:begin], w.unk)
		}
		best, end := int32(-1), 0
		for i := at; i < len(word); i++ {
			id, more := w.pieces.step(&n, word[i])
			if !more {
				break
			}
			if id >= 0 && id < w.size {
				best, end = id, i+1
			}
		}
		if best < 0 {
			return append(dst[:begin], w.unk)
		}
		dst = append(dst, best)
		at = end
	}
	return dst
}
