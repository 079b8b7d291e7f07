package lexical

import (
	"encoding/binary"
	"math/bits"
)

// pack appends 128 numbers of width bits each.
func pack(dst []byte, values *[blockDocs]uint32, width int) []byte {
	var acc uint64
	have := 0
	for _, v := range values {
		acc |= uint64(v) << have
		have += width
		for have >= 8 {
			dst = append(dst, byte(acc))
			acc >>= 8
			have -= 8
		}
	}
	return dst
}

// widthOf returns the number of bits of the greatest value.
func widthOf(values *[blockDocs]uint32) int {
	all := uint32(0)
	for _, v := range values {
		all |= v
	}
	return bits.Len32(all)
}

// unpack reads 128 numbers of width bits each. width is at most 32, and data has tailBytes more
// bytes than the numbers take. A load of 64 bits has at least 57 useful ones, which hold four
// numbers of up to 14 bits, or two of up to 28.
func unpack(dst *[blockDocs]uint32, data []byte, width int) {
	mask, shift, bit := uint64(1)<<width-1, width&63, 0
	switch {
	case width <= 14:
		for i := 0; i < blockDocs; i += 4 {
			x := binary.LittleEndian.Uint64(data[bit>>3:]) >> (bit & 7)
			d := dst[i : i+4 : i+4]
			d[0] = uint32(x & mask)
			x >>= shift
			d[1] = uint32(x & mask)
			x >>= shift
			d[2] = uint32(x & mask)
			x >>= shift
			d[3] = uint32(x & mask)
			bit += 4 * width
		}
	case width <= 28:
		for i := 0; i < blockDocs; i += 2 {
			x := binary.LittleEndian.Uint64(data[bit>>3:]) >> (bit & 7)
			d := dst[i : i+2 : i+2]
			d[0] = uint32(x & mask)
			d[1] = uint32(x >> shift & mask)
			bit += 2 * width
		}
	default:
		for i := range dst {
			dst[i] = uint32(binary.LittleEndian.Uint64(data[bit>>3:]) >> (bit & 7) & mask)
			bit += width
		}
	}
}
