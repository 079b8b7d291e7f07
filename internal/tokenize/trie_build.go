package tokenize

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
)

// buildTrie makes the trie of keys, which must be distinct, not empty and free of zero bytes. Values are 0 to 1<<31-1.
func buildTrie(keys []string, values []int32) (trie, error) {
	order := make([]int, len(keys))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(keys[a], keys[b]) })
	b := trieBuilder{keys: keys, values: values, order: order}
	for i, k := range order {
		if keys[k] == "" || strings.IndexByte(keys[k], 0) >= 0 {
			return nil, errors.New("an entry is empty or holds a zero byte")
		}
		if i > 0 && keys[order[i-1]] == keys[k] {
			return nil, errors.New("an entry occurs twice")
		}
	}
	b.grow(256)
	b.take(0)
	if err := b.place(0, 0, len(order), 0); err != nil {
		return nil, err
	}
	out := make(trie, 4*len(b.units))
	for i, u := range b.units {
		binary.LittleEndian.PutUint32(out[4*i:], u)
	}
	return out, nil
}

// maxTries is how many free units are tried for a node before a fresh block is used. A higher value fills the array better and takes
// longer.
const maxTries = 512

// trieBuilder places nodes one by one, each where its children fit.
type trieBuilder struct {
	keys   []string
	values []int32
	order  []int // of keys, sorted

	units []uint32
	used  []bool
	bases []bool // the unit is the base of some node
	// next and prev chain the free units, so that full stretches are not searched.
	next, prev []int32
	first      int32
}

// grow appends n free units.
func (b *trieBuilder) grow(n int) {
	old := len(b.units)
	b.units = append(b.units, make([]uint32, n)...)
	b.used = append(b.used, make([]bool, n)...)
	b.bases = append(b.bases, make([]bool, n)...)
	if old == 0 {
		b.first = -1
	}
	last := int32(-1)
	if b.first >= 0 {
		last = b.prev[b.first]
	}
	for i := old; i < old+n; i++ {
		b.next, b.prev = append(b.next, -1), append(b.prev, -1)
		if b.first < 0 {
			b.first, b.next[i], b.prev[i] = int32(i), int32(i), int32(i)
		} else {
			b.next[last], b.prev[i] = int32(i), last
			b.next[i], b.prev[b.first] = b.first, int32(i)
		}
		last = int32(i)
	}
}

// take marks a unit as used.
func (b *trieBuilder) take(i uint32) {
	b.used[i] = true
	n, p := b.next[i], b.prev[i]
	b.next[p], b.prev[n] = n, p
	if b.first == int32(i) {
		b.first = n
		if n == int32(i) {
			b.first = -1
		}
	}
}

// place places the children of the node at pos. The node represents the common prefix, depth bytes long, of the sorted keys from lo to
// hi.
func (b *trieBuilder) place(pos uint32, lo, hi, depth int) error {
	var labels []byte
	var starts []int
	leaf := int32(-1)
	for i := lo; i < hi; i++ {
		k := b.keys[b.order[i]]
		if len(k) == depth {
			leaf = b.values[b.order[i]]
			continue
		}
		if c := k[depth]; len(labels) == 0 || labels[len(labels)-1] != c {
			labels, starts = append(labels, c), append(starts, i)
		}
	}
	base, err := b.find(pos, labels, leaf >= 0)
	if err != nil {
		return err
	}
	b.bases[base] = true
	offset := pos ^ base
	unit := b.units[pos] | trieUnitOffset(offset)
	if leaf >= 0 {
		unit |= trieLeafBit
		b.take(base)
		b.units[base] = uint32(leaf) | trieValueBit
	}
	b.units[pos] = unit
	for _, c := range labels {
		b.take(base ^ uint32(c))
		b.units[base^uint32(c)] = uint32(c)
	}
	for i, c := range labels {
		end := hi
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		if err := b.place(base^uint32(c), starts[i], end, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// find chooses a base for a node at pos, such that every child has a free unit.
func (b *trieBuilder) find(pos uint32, labels []byte, leaf bool) (uint32, error) {
	c := byte(0)
	if !leaf {
		c = labels[0]
	}
	for tries, i := 0, b.first; i >= 0 && tries < maxTries; tries++ {
		if base := uint32(i) ^ uint32(c); b.fits(pos, base, labels, leaf) {
			b.first = i
			return base, nil
		}
		if i = b.next[i]; i == b.first {
			break
		}
	}
	// A fresh block of 256 has room for any children; an offset must be able to express its number.
	for len(b.units) < 1<<29 {
		base := uint32(len(b.units))
		b.grow(256)
		for k := range uint32(256) {
			if b.fits(pos, base+k, labels, leaf) {
				return base + k, nil
			}
		}
	}
	return 0, errors.New("too many entries")
}

func (b *trieBuilder) fits(pos, base uint32, labels []byte, leaf bool) bool {
	if b.bases[base] || leaf && b.used[base] {
		return false
	}
	if offset := pos ^ base; offset == 0 || offset >= 1<<21 && (offset&0xff != 0 || offset >= 1<<29) {
		return false
	}
	for _, c := range labels {
		if b.used[base^uint32(c)] {
			return false
		}
	}
	return true
}

func trieUnitOffset(offset uint32) uint32 {
	if offset < 1<<21 {
		return offset << 10
	}
	return offset<<2 | trieWideBit
}
