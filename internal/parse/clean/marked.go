package clean

const (
	everyByte = 0x0101010101010101
	everyHigh = 0x8080808080808080
)

// NextMarked returns the place of the first byte from i on that is marked, or the length of s. Printable ASCII must not be marked: NextMarked
// passes it in words of eight bytes.
func NextMarked(s string, i int, marked *[256]bool) int {
	for ; i+8 <= len(s); i += 8 {
		w := s[i : i+8]
		x := uint64(w[0]) | uint64(w[1])<<8 | uint64(w[2])<<16 | uint64(w[3])<<24 | uint64(w[4])<<32 | uint64(w[5])<<40 | uint64(w[6])<<48 | uint64(w[7])<<56
		del := x ^ everyByte*0x7f
		// A byte below 0x20 borrows in the first difference, one of 0x7f in the second.
		if (x|(x-everyByte*0x20)|(del-everyByte))&everyHigh == 0 {
			continue
		}
		for k := range len(w) {
			if marked[w[k]] {
				return i + k
			}
		}
	}
	for ; i < len(s) && !marked[s[i]]; i++ {
	}
	return i
}
