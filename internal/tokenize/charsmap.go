package tokenize

import (
	"bytes"
	"encoding/binary"
	"errors"
	"unicode/utf8"
)

// charsmap is SentencePiece's precompiled normaliser, applied as the tokenizers library applies it. A grapheme cluster of up to five
// bytes is mapped as a whole, a longer one character by character. Each mapping uses the shortest entry that is a prefix of the bytes.
type charsmap struct {
	trie  trie
	text  []byte    // replacements of the entries, each ended by a zero byte
	ascii [128]bool // characters that stay unchanged
}

// maxMappedCluster is the maximum length in bytes of a cluster that is mapped as a whole.
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

// lookup returns the replacement for the shortest entry that is a prefix of s.
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

// applyEach is apply with every character mapped separately.
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
