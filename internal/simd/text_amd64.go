package simd

import "unsafe"

// plainAVX2 needs n >= 16 bytes.
//
//go:noescape
func plainAVX2(p *byte, n int) int

// breaksAVX2 needs n >= 16 bytes.
//
//go:noescape
func breaksAVX2(p *byte, n int) bool

// pairsAVX2 needs n >= 33 bytes.
//
//go:noescape
func pairsAVX2(p *byte, n int, pairs *Pairs) bool

func plain(s string) int {
	n := len(s)
	switch {
	case n >= 16 && active != Generic:
		return plainAVX2(unsafe.StringData(s), n)
	case n >= 8 && n <= 16: // short texts are checked inline: a call would take as long
		if special(eight(s[:8]))|special(eight(s[n-8:])) == 0 {
			return n
		}
	case n >= 4 && n < 8:
		if special(four(s[:4])|four(s[n-4:])<<32) == 0 {
			return n
		}
	}
	return plainGeneric(s)
}

func breaks(s string) bool {
	if len(s) < 16 || active == Generic {
		return breaksGeneric(s)
	}
	return breaksAVX2(unsafe.StringData(s), len(s))
}

func mayHave(s string, p *Pairs) bool {
	return len(s) < 33 || active == Generic || pairsAVX2(unsafe.StringData(s), len(s), p)
}
