package simd

import "unsafe"

// n bytes, 16 or more.
//
//go:noescape
func plainAVX2(p *byte, n int) int

// n bytes, 16 or more.
//
//go:noescape
func breaksAVX2(p *byte, n int) bool

// n bytes, 33 or more.
//
//go:noescape
func pairsAVX2(p *byte, n int, pairs *Pairs) bool

func plain(s string) int {
	if len(s) < 16 || active == Generic {
		return plainGeneric(s)
	}
	return plainAVX2(unsafe.StringData(s), len(s))
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
