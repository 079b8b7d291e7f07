package lexical

import "slices"

// radixFrom is the number of values from which on radix sort is faster than a comparison sort.
const radixFrom = 48

// sortTerms sorts values by the 32 bits from bit low on, which hold the number of a term. Values must not have bits above those. It sorts in
// room if that is large enough, and returns the room for the next call.
func sortTerms[T uint32 | uint64](values, room []T, low uint) []T {
	n := len(values)
	if n < radixFrom {
		slices.Sort(values)
		return room
	}
	if cap(room) < n {
		room = make([]T, 2*n)
	}
	var counts [4][256]uint32
	for _, v := range values {
		k := uint32(v >> low)
		counts[0][byte(k)]++
		counts[1][byte(k>>8)]++
		counts[2][byte(k>>16)]++
		counts[3][byte(k>>24)]++
	}
	from, to := values, room[:n]
	for digit := range counts {
		places, shift := &counts[digit], low+8*uint(digit)
		if places[byte(from[0]>>shift)] == uint32(n) {
			continue // all have the same digit
		}
		sum := uint32(0)
		for i, count := range places {
			places[i] = sum
			sum += count
		}
		for _, v := range from {
			place := &places[byte(v>>shift)]
			to[*place] = v
			*place++
		}
		from, to = to, from
	}
	if &from[0] != &values[0] {
		copy(values, from)
	}
	return room
}
