package simd

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Records of 1-bit codes. A record is half a cache line or a whole number of them: the
// code, a multiple of 8 bytes, then two float32, factor and offset, then whatever the
// caller keeps there. One record is all that an estimate reads of a row, so rows
// picked one by one cost one cache line each up to 384 dimensions.

const (
	// HalfLine is the stride of the records of codes of HalfCode bytes, the only ones that
	// are not a whole number of cache lines.
	HalfLine = 32
	// HalfCode is the number of bytes of the codes in records of HalfLine bytes.
	HalfCode = 16
	// planeWords is the number of words that the planes of one cache line take.
	planeWords = 4 * 8
)

// BitQuery is a query of whole numbers in -8..7, as bit planes. It is only read
// by EstimateBits.
type BitQuery struct {
	planes []uint64 // for each line of a record, 4 planes of 8 words; see Set for HalfLine
	meta   int      // offset of factor and offset in a record
	stride int
	scale  float32
	shift  float32
}

// Set makes b the query of values for records of stride bytes: HalfLine for 8*HalfCode
// values, or a multiple of AlignU8 and at least len(values)/8+8. Value j meets bit j%64 of
// word j/64 of the code; len(values) is a multiple of 64. Memory is reused.
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
	if stride == HalfLine { // kernels look at four codes at a time
		for at := 0; at < len(b.planes); at += 8 {
			two := b.planes[at : at+2]
			for i := 2; i < 8; i += 2 {
				copy(b.planes[at+i:], two)
			}
		}
	}
}

// lowBits returns the lowest bits of the bytes of x, that of the lowest byte first: each
// lands at its place of the highest byte of the product.
func lowBits(x uint64) uint64 { return x & 0x0101010101010101 * 0x0102040810204080 >> 56 }

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
	_ = b.planes[(b.stride+63)/64*planeWords-1]
	estimateBits(dst, recs, b)
}

// PickBits is EstimateBits for the records at some positions: dst[i] is for record
// positions[i]. It asks for records before their turn, as they are far apart.
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

// pickAhead is how many records before its turn one is asked for.
const pickAhead = 16

// pickEach is PickBits by the kernel for one record.
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
