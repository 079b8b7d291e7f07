package simd

// This file searches the bytes of texts in Go. The AVX2 versions are in text_amd64.s.

// Plain returns the length of the prefix of s whose bytes need no escape in a JSON string: ASCII other than control characters,
// quotes and backslashes.
func Plain(s string) int { return plain(s) }

// Breaks reports whether s contains a full stop, a question mark, an exclamation mark, a newline or a non-ASCII byte.
func Breaks(s string) bool { return breaks(s) }

// Pairs are three pairs of bytes. The first byte of a pair is a lower-case letter that also matches the capital.
type Pairs [6]byte

// MayHave reports whether s may contain one of the pairs. It has no false negatives. It may return true without a match where
// an exact check would be slow, or for signs that differ from a letter only in the case bit.
func (p *Pairs) MayHave(s string) bool { return mayHave(s, p) }

// isPlain reports for each byte whether it is plain.
var isPlain = func() (is [256]bool) {
	for c := ' '; c < 0x80; c++ {
		is[c] = c != '"' && c != '\\'
	}
	return is
}()

// plainGeneric checks eight bytes at a time (Mycroft's test for a zero byte), or four in shorter texts.
func plainGeneric(s string) int {
	i := 0
	switch n := len(s); {
	case n >= 8:
		for i < n {
			at := min(i, n-8) // the last eight bytes may overlap checked ones
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

// eight loads the eight bytes of e as a number.
func eight(e string) uint64 {
	return uint64(e[0]) | uint64(e[1])<<8 | uint64(e[2])<<16 | uint64(e[3])<<24 | uint64(e[4])<<32 | uint64(e[5])<<40 | uint64(e[6])<<48 | uint64(e[7])<<56
}

// four loads the four bytes of s as a number.
func four(s string) uint64 {
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
}

// special returns a nonzero value if one of the eight bytes of w is not plain. Bytes of 0x80 or more are detected in w itself.
// Only a byte that is not plain causes a borrow, so a borrow never changes whether the result is zero.
func special(w uint64) uint64 {
	const ones = 0x0101010101010101
	return (w | (w - ones*' ') | ((w ^ ones*'"') - ones) | ((w ^ ones*'\\') - ones)) & (ones << 7)
}

// breaksGeneric checks eight bytes at a time (Mycroft's test for a zero byte). The last eight may overlap checked ones.
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

// breaking returns a nonzero value if one of the eight bytes of w ends a sentence or a line, or is not ASCII.
func breaking(w uint64) uint64 {
	const ones = 0x0101010101010101
	stop, ask, exclaim, line := w^ones*'.', w^ones*'?', w^ones*'!', w^ones*'\n'
	return (w | ((stop-ones)&^stop | (ask-ones)&^ask | (exclaim-ones)&^exclaim | (line-ones)&^line)) & (ones << 7)
}
