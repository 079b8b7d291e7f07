package transformer

import (
	"encoding/binary"
	"math"
)

// expand4 converts a row of 4-bit weights with a finite scale per group to int8 weights with the one scale that it returns: q[i]*scale
// is close to (nibble-8)*scales[group]. The range -8..8 of the group with the largest scale becomes +-127, so the rounding error is at
// most a sixteenth of that group's 4-bit step.
func expand4(q, packed []byte, scales []float32) (scale float32) {
	var largest float32
	for _, s := range scales {
		largest = max(largest, float32(math.Abs(float64(s))))
	}
	if largest < tiny {
		clear(q)
		return 0
	}
	scale = 8 * largest / 127
	group := len(packed) / len(scales)
	for g, s := range scales {
		expandGroup(q[2*g*group:][:2*group], packed[g*group:][:group], s/scale)
	}
	return scale
}

// expandGroup sets q to (nibble-8)*ratio, rounded to int8, for a ratio in +-127/8. It
// computes in 16-bit lanes with 8 bits of fraction: nibble*ratio + 128.5 - 8*ratio is
// positive and below 256, and its integer part is the result plus 128.
func expandGroup(q, packed []byte, ratio float32) {
	const ones = 0x0001000100010001
	// For a negative ratio, (nibble-8)*ratio is ((15-nibble)-8)*-ratio - ratio.
	r, flip := int64(nearest(ratio*256)), uint64(0)
	extra := int64(0)
	if r < 0 {
		r, extra, flip = -r, -r, ^uint64(0)
	}
	mul, add := uint64(r), uint64(32768+128-8*r+extra)*ones
	for len(packed) >= 8 {
		v := binary.LittleEndian.Uint64(packed) ^ flip
		v0 := (v&(15*ones)*mul + add) >> 8 & (255 * ones)
		v1 := (v>>4&(15*ones)*mul + add) & (255 << 8 * ones)
		v2 := (v>>8&(15*ones)*mul + add) >> 8 & (255 * ones)
		v3 := (v>>12&(15*ones)*mul + add) & (255 << 8 * ones)
		// Lanes j of a and b together hold the weights 4j to 4j+3, two in each.
		a, b := (v0|v1)^0x8080*ones, (v2|v3)^0x8080*ones
		out := q[:16]
		binary.LittleEndian.PutUint32(out, uint32(a&0xFFFF|b<<16))
		binary.LittleEndian.PutUint32(out[4:], uint32(a>>16&0xFFFF|b&0xFFFF0000))
		binary.LittleEndian.PutUint32(out[8:], uint32(a>>32&0xFFFF|b>>16&0xFFFF0000))
		binary.LittleEndian.PutUint32(out[12:], uint32(a>>48|b>>32&0xFFFF0000))
		packed, q = packed[8:], q[16:]
	}
	for i, v := range packed {
		v ^= byte(flip)
		q[2*i] = byte((uint64(v&15)*mul+add)>>8) ^ 0x80
		q[2*i+1] = byte((uint64(v>>4)*mul+add)>>8) ^ 0x80
	}
}
