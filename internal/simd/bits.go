package simd

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Records of 1-bit codes. A record is a whole number of cache lines: the code, a
// multiple of 8 bytes, then two float32, factor and offset, then whatever the
// caller keeps there. One record is all that an estimate reads of a row, so rows
// picked one by one cost one cache line each up to 384 dimensions.

// planeWords is the number of words that the planes of one cache line take.
const planeWords = 4 * 8

// BitQuery is a query of whole numbers in -8..7, as bit planes. It is only read
// by EstimateBits.
type BitQuery struct {
	planes []uint64 // for each line of a record, 4 planes of 8 words
	meta   int      // offset of factor and offset in a record
	stride int
	scale  float32
	shift  float32
}

// Set makes b the query of values for records of stride bytes, a multiple of
// AlignU8 and at least len(values)/8+8. Value j meets bit j%64 of word j/64 of
// the code; len(values) is a multiple of 64. Memory is reused.
func (b *BitQuery) Set(values []int8, stride int) {
	words := stride / 64 * planeWords
	if cap(b.planes) < words {
		b.planes = make([]uint64, words)
	}
	b.planes = b.planes[:words]
	clear(b.planes)
	b.meta, b.stride = len(values)/8, stride
	for j := 0; j+64 <= len(values); j += 64 {
		var p [4]uint64
		for i, v := range values[j : j+64] {
			u := uint64(v)
			p[0] |= u & 1 << i
			p[1] |= u >> 1 & 1 << i
			p[2] |= u >> 2 & 1 << i
			p[3] |= u >> 3 & 1 << i
		}
		at := j / 64 / 8 * planeWords
		for plane := range p {
			b.planes[at+plane*8+j/64%8] = p[plane]
		}
	}
}

// Weigh sets the linear map of EstimateBits.
func (b *BitQuery) Weigh(scale, shift float32) { b.scale, b.shift = scale, shift }

// EstimateBits sets dst[i] to offset + factor*(scale*sum + shift), where sum adds
// the values whose bit is set in the code of record i, factor and offset are the
// record's, and every operation rounds to float32. recs holds at least len(dst)
// records.
func EstimateBits(dst []float32, recs []byte, b *BitQuery) {
	if len(dst) == 0 {
		return
	}
	_ = recs[len(dst)*b.stride-1]
	_ = b.planes[b.stride/64*planeWords-1]
	estimateBits(dst, recs, b)
}

func estimateBitsGeneric(dst []float32, recs []byte, b *BitQuery) {
	for i := range dst {
		rec := recs[i*b.stride : (i+1)*b.stride]
		sum := 0
		for w := 0; w < b.meta/8; w++ {
			x, p := binary.LittleEndian.Uint64(rec[w*8:]), b.planes[w/8*planeWords+w%8:]
			sum += bits.OnesCount64(x&p[0]) + bits.OnesCount64(x&p[8])<<1 +
				bits.OnesCount64(x&p[16])<<2 - bits.OnesCount64(x&p[24])<<3
		}
		factor := math.Float32frombits(binary.LittleEndian.Uint32(rec[b.meta:]))
		offset := math.Float32frombits(binary.LittleEndian.Uint32(rec[b.meta+4:]))
		t := float32(float32(sum)*b.scale) + b.shift
		dst[i] = offset + float32(factor*t)
	}
}
