package simd

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Records of 1-bit codes. The size of a record is half a cache line or a multiple of a cache line. A record holds the code, a
// multiple of 8 bytes, then two float32, factor and offset, then data of the caller. An estimate reads nothing else of a row,
// so a scattered row of up to 384 dimensions costs one cache line.

const (
	// HalfLine is the stride of records with codes of HalfCode bytes. All other strides are multiples of a cache line.
	HalfLine = 32
	// HalfCode is the size in bytes of the codes in records of HalfLine bytes.
	HalfCode = 16
	// planeWords is the number of words in the planes of one cache line.
	planeWords = 4 * 8
)

// BitQuery is a query of integers from -8 to 7, stored as bit planes. EstimateBits only reads it.
type BitQuery struct {
	planes []uint64 // 4 planes of 8 words for each cache line of a record; see Set for HalfLine
	meta   int      // position of factor and offset in a record
	stride int
	scale  float32
	shift  float32
}

// Set makes b the query of values for records of stride bytes. The stride is HalfLine for 8*HalfCode values, or a multiple of
// AlignU8 and at least len(values)/8+8. Value j belongs to bit j%64 of word j/64 of the code. len(values) is a multiple of 64.
// Set reuses the memory of b.
func (b *BitQuery) Set(values []int8, stride int) {
	if stride == HalfLine && len(values) != 8*HalfCode {
		panic("simd: half a line holds codes of HalfCode bytes alone")
	}
	words := (stride + 63) / 64 * planeWords
	if cap(b.planes) < words {
		b.planes = make([]uint64, words)
	}
	b.planes = b.planes[:words]
	clear(b.planes)
	b.meta, b.stride = len(values)/8, stride
	for j := 0; j+64 <= len(values); j += 64 {
		var p [4]uint64
		for i := 0; i < 64; i += 8 {
			var x uint64 // 8 values, the first in the lowest byte
			for k, v := range values[j+i : j+i+8] {
				x |= uint64(uint8(v)) << (8 * k)
			}
			for plane := range p {
				p[plane] |= lowBits(x>>plane) << i
			}
		}
		at := j / 64 / 8 * planeWords
		for plane := range p {
			b.planes[at+plane*8+j/64%8] = p[plane]
		}
	}
	if stride == HalfLine { // kernels process four codes at a time
		for at := 0; at < len(b.planes); at += 8 {
			two := b.planes[at : at+2]
			for i := 2; i < 8; i += 2 {
				copy(b.planes[at+i:], two)
			}
		}
	}
}

// lowBits returns the lowest bit of each byte of x, the bit of the lowest byte first. The multiplication moves each bit to its
// place in the highest byte.
func lowBits(x uint64) uint64 { return x & 0x0101010101010101 * 0x0102040810204080 >> 56 }

// Weigh sets the scale and shift of EstimateBits.
func (b *BitQuery) Weigh(scale, shift float32) { b.scale, b.shift = scale, shift }

// EstimateBits sets dst[i] to offset + factor*(scale*sum + shift). sum adds the values whose bit is set in the code of record
// i. factor and offset are those of the record. Every operation rounds to float32. recs holds at least len(dst) records.
func EstimateBits(dst []float32, recs []byte, b *BitQuery) {
	if len(dst) == 0 {
		return
	}
	_ = recs[len(dst)*b.stride-1]
	_ = b.planes[(b.stride+63)/64*planeWords-1]
	estimateBits(dst, recs, b)
}

// PickBits is EstimateBits for selected records: dst[i] is for record positions[i]. It prefetches records, since they are far
// apart.
func PickBits(dst []float32, recs []byte, positions []uint32, b *BitQuery) {
	if len(dst) == 0 {
		return
	}
	last := uint32(0)
	for _, p := range positions[:len(dst)] {
		last = max(last, p)
	}
	_ = recs[(int(last)+1)*b.stride-1]
	_ = b.planes[(b.stride+63)/64*planeWords-1]
	pickBits(dst, recs, positions, b)
}

// pickAhead is the number of records by which the prefetch runs ahead.
const pickAhead = 16

// pickEach is PickBits with a kernel for single records.
func pickEach(dst []float32, recs []byte, positions []uint32, b *BitQuery, estimate func(dst []float32, recs []byte, b *BitQuery)) {
	for i, p := range positions[:len(dst)] {
		if i+pickAhead < len(dst) {
			next := int(positions[i+pickAhead]) * b.stride
			Prefetch(recs[next : next+b.stride])
		}
		estimate(dst[i:i+1], recs[int(p)*b.stride:], b)
	}
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
