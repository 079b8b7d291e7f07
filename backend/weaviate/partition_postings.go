package weaviate

import (
	"encoding/binary"
	"iter"
)

// postings is the posting list of a term: the positions of the chunks that have it, in ascending order, each with a weighted
// term frequency. A posting is encoded as the distance from the position before it, doubled, plus one if a frequency other
// than 1 follows; both are varints. Most postings of a frequent term take one byte.
type postings struct {
	data []byte
	last int32 // position of the last chunk
	n    int32 // number of chunks
}

// add adds a chunk whose position is after all others.
func (p *postings) add(at, tf int32) {
	step := uint64(at-p.last) << 1
	if tf != 1 {
		step |= 1
	}
	p.data = binary.AppendUvarint(p.data, step)
	if tf != 1 {
		p.data = binary.AppendUvarint(p.data, uint64(tf))
	}
	p.last = at
	p.n++
}

// all returns the positions and the weighted term frequencies.
func (p *postings) all() iter.Seq2[int32, int32] {
	return func(yield func(at, tf int32) bool) {
		at := int32(0)
		for data := p.data; len(data) > 0; {
			step := uint64(data[0])
			if data = data[1:]; step >= 0x80 {
				step, data = restOf(step, data)
			}
			tf := uint64(1)
			if step&1 != 0 {
				tf = uint64(data[0])
				if data = data[1:]; tf >= 0x80 {
					tf, data = restOf(tf, data)
				}
			}
			if at += int32(step >> 1); !yield(at, int32(tf)) {
				return
			}
		}
	}
}

// restOf decodes a varint of more than one byte, whose first byte was read.
func restOf(first uint64, data []byte) (uint64, []byte) {
	rest, n := binary.Uvarint(data)
	return first&0x7f | rest<<7, data[n:]
}
