package tokenize

import "encoding/binary"

// trie is a double-array trie (Aoe, 1989) over bytes in the layout of darts-clone, which SentencePiece uses too: an array of
// little-endian 32-bit units, used in place. From the lowest bit, a unit holds the label (8 bits), whether it has a leaf (1), whether
// the offset is in steps of 256 (1), and the offset (21 bits). A leaf is a unit with the highest bit set and a value of 31 bits.
//
// A read outside the array ends a walk, so a damaged trie gives wrong results but no panic.
type trie []byte

const (
	trieLeafBit  = 1 << 8
	trieWideBit  = 1 << 9
	trieValueBit = 1 << 31
)

// trieNode is a position in a walk; it starts at the root.
type trieNode struct {
	base uint32 // the unit under a byte is at base ^ byte
}

// unit reads the unit at pos. Outside the array it returns the zero unit, which has no children.
func (t trie) unit(pos uint32) uint32 {
	if at := uint64(pos) * 4; at+4 <= uint64(len(t)) {
		return binary.LittleEndian.Uint32(t[at:])
	}
	return 0
}

func trieOffset(unit uint32) uint32 {
	return unit >> 10 & (1<<21 - 1) << (unit & trieWideBit >> 6)
}

// root returns the start of every walk.
func (t trie) root() trieNode {
	return trieNode{base: trieOffset(t.unit(0))}
}

// step moves one byte further. ok reports whether a key continues with the byte; value is the value of the key that ends there, or -1.
func (t trie) step(n *trieNode, c byte) (value int32, ok bool) {
	pos := n.base ^ uint32(c)
	u := t.unit(pos)
	if u&(trieValueBit|0xff) != uint32(c) || c == 0 {
		return -1, false
	}
	n.base = pos ^ trieOffset(u)
	if u&trieLeafBit == 0 {
		return -1, true
	}
	return int32(t.unit(n.base) &^ trieValueBit), true
}
