package weaviate

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/bits"

	"github.com/go-openapi/strfmt"
)

// chunkNames finds the chunks of a partition by the ids of their objects, in a hash table. A node answers with ids alone several times
// as fast as with properties, since BM25 decodes all properties of an object if any is asked for.
type chunkNames struct {
	slots []namedChunk
	used  int
}

// namedChunk is a slot of chunkNames. name is 0 in an empty one.
type namedChunk struct {
	name          uint64
	chunk, source int64
	length        int32
}

// namedBytes is the size of a namedChunk.
const namedBytes = 32

// nameOf returns a number for the id of an object: the first bits of it, which are those of a hash, and never 0.
func nameOf(id strfmt.UUID) uint64 {
	var digits [16]byte
	n := 0
	for i := 0; i < len(id) && n < len(digits); i++ {
		if id[i] != '-' {
			digits[n] = id[i]
			n++
		}
	}
	var name [8]byte
	_, _ = hex.Decode(name[:], digits[:]) // an id of another form is that of no chunk
	return binary.BigEndian.Uint64(name[:]) | 1
}

// nameOfChunk returns the number for the id of a chunk's object.
func nameOfChunk(chunk int64) uint64 { return nameOf(uuidOf("chunk", number(chunk))) }

// at returns the slot of a name, or the empty one where it belongs. There is always an empty one.
func (t *chunkNames) at(name uint64) *namedChunk {
	first, _ := bits.Mul64(name, uint64(len(t.slots)))
	for i := int(first); ; i++ {
		if i == len(t.slots) {
			i = 0
		}
		if s := &t.slots[i]; s.name == 0 || s.name == name {
			return s
		}
	}
}

// of returns the chunk with a name. It returns false if there is none.
func (t *chunkNames) of(name uint64) (namedChunk, bool) {
	if t.used == 0 {
		return namedChunk{}, false
	}
	s := t.at(name)
	return *s, s.name != 0
}

// add adds a chunk.
func (t *chunkNames) add(c cachedChunk) {
	if 5*t.used >= 4*len(t.slots) {
		old := t.slots
		t.slots = make([]namedChunk, max(64, len(old)/2*3))
		for _, s := range old {
			if s.name != 0 {
				*t.at(s.name) = s
			}
		}
	}
	name := nameOfChunk(c.chunk)
	s := t.at(name)
	if s.name == 0 {
		t.used++
	}
	*s = namedChunk{name, c.chunk, c.source, int32(min(c.length, math.MaxInt32))}
}
