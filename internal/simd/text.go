package simd

// This file has what looks for bytes of texts: in Go, and for AVX2 in text_amd64.s.

// Plain returns the number of bytes that s begins with and that stand for themselves in a JSON string: ASCII but control characters,
// quotes and backslashes.
func Plain(s string) int { return plain(s) }

// Breaks reports whether s holds a full stop, a question mark, an exclamation mark, a new line, or a byte that is not of ASCII.
func Breaks(s string) bool { return breaks(s) }

// Pairs are three pairs of bytes, of which the first is a small letter and stands for the capital too.
type Pairs [6]byte

// MayHave reports whether one of the pairs stands in s. It may also be true where none does: where that is not to be found out at once, and
// for signs that differ from a letter as a capital does.
func (p *Pairs) MayHave(s string) bool { return mayHave(s, p) }

// isPlain tells which bytes are plain.
var isPlain = func() (is [256]bool) {
	for c := ' '; c < 0x80; c++ {
		is[c] = c != '"' && c != '\\'
	}
	return is
}()

// plainGeneric looks at eight bytes at a time (Mycroft's test for a zero byte), and at four where there are less.
func plainGeneric(s string) int {
	i := 0
	switch n := len(s); {
	case n >= 8:
		for i < n {
			at := min(i, n-8) // the last eight overlap those before them
			if special(eight(s[at:at+8])) != 0 {
				break
			}
			i = at + 8
		}
	case n >= 4:
		if special(four(s[:4])|four(s[n-4:])<<32) == 0 {
			return n
		}
	}
	for i < len(s) && isPlain[s[i]] {
		i++
	}
	return i
}

// eight returns the eight bytes of e as a number.
func eight(e string) uint64 {
	return uint64(e[0]) | uint64(e[1])<<8 | uint64(e[2])<<16 | uint64(e[3])<<24 | uint64(e[4])<<32 | uint64(e[5])<<40 | uint64(e[6])<<48 | uint64(e[7])<<56
}

// four returns the four bytes of s as a number.
func four(s string) uint64 {
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
}

// special is not 0 when one of the eight bytes of w is not plain. A byte of 0x80 or more is seen in w itself, so the
// subtractions borrow from no such byte unseen.
func special(w uint64) uint64 {
	const ones = 0x0101010101010101
	return (w | (w - ones*' ') | ((w ^ ones*'"') - ones) | ((w ^ ones*'\\') - ones)) & (ones << 7)
}

// breaksGeneric looks at eight bytes at a time (Mycroft's test for a zero byte), of which the last ones overlap those before them.
func breaksGeneric(s string) bool {
	n := len(s)
	if n < 8 {
		for i := range n {
			switch c := s[i]; {
			case c == '.', c == '?', c == '!', c == '\n', c >= 0x80:
				return true
			}
		}
		return false
	}
	for i := 0; i < n; i += 8 {
		at := min(i, n-8)
		if breaking(eight(s[at:at+8])) != 0 {
			return true
		}
	}
	return false
}

// breaking is not 0 when one of the eight bytes of w ends sentences or lines, or is not of ASCII.
func breaking(w uint64) uint64 {
	const ones = 0x0101010101010101
	stop, ask, exclaim, line := w^ones*'.', w^ones*'?', w^ones*'!', w^ones*'\n'
	return (w | ((stop-ones)&^stop | (ask-ones)&^ask | (exclaim-ones)&^exclaim | (line-ones)&^line)) & (ones << 7)
}
