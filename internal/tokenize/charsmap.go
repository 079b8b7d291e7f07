package tokenize

import (
	"bytes"
	"encoding/binary"
	"errors"
	"unicode/utf8"
)

// charsmap is SentencePiece's precompiled normaliser, applied as the tokenizers
// library applies it: to grapheme clusters of up to five bytes whole, to longer
// ones character by character, and each time by the shortest entry that the
// bytes begin with.
type charsmap struct {
	trie  trie
	text  []byte    // what the entries become, each ended by a zero byte
	ascii [128]bool // characters that stay as they are
}

// maxMappedCluster is the longest cluster in bytes that is mapped whole.
const maxMappedCluster = 5

// openCharsmap reads a charsmap: the size of the trie in bytes (uint32), the trie,
// the text.
func openCharsmap(data []byte) (*charsmap, error) {
	if len(data) < 4 {
		return nil, errors.New("charsmap: cut off")
	}
	n := binary.LittleEndian.Uint32(data)
	if uint64(n) > uint64(len(data)-4) || n%4 != 0 {
		return nil, errors.New("charsmap: cut off")
	}
	m := &charsmap{trie: trie(data[4 : 4+n]), text: data[4+n:]}
	for c := range m.ascii {
		_, mapped := m.lookup([]byte{byte(c)})
		m.ascii[c] = !mapped
	}
	return m, nil
}

// lookup returns what the shortest entry that s begins with becomes.
func (m *charsmap) lookup(s []byte) (to []byte, ok bool) {
	node := m.trie.root()
	for _, c := range s {
		at, more := m.trie.step(&node, c)
		if !more {
			return nil, false
		}
		if at >= 0 {
			if int(at) >= len(m.text) {
				return nil, true
			}
			to = m.text[at:]
			if end := bytes.IndexByte(to, 0); end >= 0 {
				to = to[:end]
			}
			return to, true
		}
	}
	return nil, false
}

// apply appends the normalised form of src to dst.
func (m *charsmap) apply(dst, src []byte) []byte {
	for len(src) > 0 {
		if c := src[0]; c < utf8.RuneSelf && m.ascii[c] && (len(src) == 1 || src[1] < utf8.RuneSelf) {
			dst = append(dst, c)
			src = src[1:]
			continue
		}
		n, first := cluster(src)
		if to, ok := m.lookup(src[:n]); ok && n <= maxMappedCluster {
			dst = append(dst, to...)
		} else if n == first {
			dst = append(dst, src[:n]...)
		} else {
			dst = m.applyEach(dst, src[:n])
		}
		src = src[n:]
	}
	return dst
}

// applyEach is apply with every character on its own.
func (m *charsmap) applyEach(dst, src []byte) []byte {
	for len(src) > 0 {
		_, n := utf8.DecodeRune(src)
		if to, ok := m.lookup(src[:n]); ok {
			dst = append(dst, to...)
		} else {
			dst = append(dst, src[:n]...)
		}
		src = src[n:]
	}
	return dst
}
