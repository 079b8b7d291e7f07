package tokenize

import (
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Grapheme clusters (Unicode Standard Annex 29), as far as the charsmap needs them. The charsmap maps only clusters of at most five
// bytes as a whole, so the rules that join only characters of three bytes and more are left out (Hangul syllables, pairs of regional
// indicators, Indic conjuncts).
type clusterClass uint8

const (
	classOther clusterClass = iota
	classControl
	classExtend // including ZWNJ and ZWJ
	classZWJ
	classSpacing
	classPrepend
	classPicture // Extended_Pictographic
)

type classRange struct {
	lo, hi rune
	class  clusterClass
}

// zwj is the zero width joiner.
const zwj = 0x200d

// prepends are the Prepend characters besides Prepended_Concatenation_Mark.
var prepends = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x0d4e, Hi: 0x0d4e, Stride: 1}},
	R32: []unicode.Range32{
		{Lo: 0x111c2, Hi: 0x111c3, Stride: 1}, {Lo: 0x1193f, Hi: 0x11941, Stride: 2}, {Lo: 0x11a3a, Hi: 0x11a3a, Stride: 1},
		{Lo: 0x11a84, Hi: 0x11a89, Stride: 1}, {Lo: 0x11d46, Hi: 0x11d46, Stride: 1}, {Lo: 0x11f02, Hi: 0x11f02, Stride: 1},
	},
}

// notSpacing are the spacing marks that do not extend a cluster.
var notSpacing = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x102b, Hi: 0x102c, Stride: 1}, {Lo: 0x1038, Hi: 0x1038, Stride: 1}, {Lo: 0x1062, Hi: 0x1064, Stride: 1},
		{Lo: 0x1067, Hi: 0x106d, Stride: 1}, {Lo: 0x1083, Hi: 0x1083, Stride: 1}, {Lo: 0x1087, Hi: 0x108c, Stride: 1},
		{Lo: 0x108f, Hi: 0x108f, Stride: 1}, {Lo: 0x109a, Hi: 0x109c, Stride: 1}, {Lo: 0x1a61, Hi: 0x1a63, Stride: 2},
		{Lo: 0x1a64, Hi: 0x1a64, Stride: 1}, {Lo: 0xaa7b, Hi: 0xaa7d, Stride: 2},
	},
	R32: []unicode.Range32{{Lo: 0x11720, Hi: 0x11721, Stride: 1}},
}

// pictures holds the ranges of the property Extended_Pictographic (emoji-data.txt).
var pictures = [][2]rune{
	{0xa9, 0xa9}, {0xae, 0xae}, {0x203c, 0x203c}, {0x2049, 0x2049}, {0x2122, 0x2122}, {0x2139, 0x2139}, {0x2194, 0x2199},
	{0x21a9, 0x21aa}, {0x231a, 0x231b}, {0x2328, 0x2328}, {0x2388, 0x2388}, {0x23cf, 0x23cf}, {0x23e9, 0x23f3}, {0x23f8, 0x23fa},
	{0x24c2, 0x24c2}, {0x25aa, 0x25ab}, {0x25b6, 0x25b6}, {0x25c0, 0x25c0}, {0x25fb, 0x25fe}, {0x2600, 0x2605}, {0x2607, 0x2612},
	{0x2614, 0x2685}, {0x2690, 0x2705}, {0x2708, 0x2712}, {0x2714, 0x2714}, {0x2716, 0x2716}, {0x271d, 0x271d}, {0x2721, 0x2721},
	{0x2728, 0x2728}, {0x2733, 0x2734}, {0x2744, 0x2744}, {0x2747, 0x2747}, {0x274c, 0x274c}, {0x274e, 0x274e}, {0x2753, 0x2755},
	{0x2757, 0x2757}, {0x2763, 0x2767}, {0x2795, 0x2797}, {0x27a1, 0x27a1}, {0x27b0, 0x27b0}, {0x27bf, 0x27bf}, {0x2934, 0x2935},
	{0x2b05, 0x2b07}, {0x2b1b, 0x2b1c}, {0x2b50, 0x2b50}, {0x2b55, 0x2b55}, {0x3030, 0x3030}, {0x303d, 0x303d}, {0x3297, 0x3297},
	{0x3299, 0x3299}, {0x1f000, 0x1f0ff}, {0x1f10d, 0x1f10f}, {0x1f12f, 0x1f12f}, {0x1f16c, 0x1f171}, {0x1f17e, 0x1f17f},
	{0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a}, {0x1f1ad, 0x1f1e5}, {0x1f201, 0x1f20f}, {0x1f21a, 0x1f21a}, {0x1f22f, 0x1f22f},
	{0x1f232, 0x1f23a}, {0x1f23c, 0x1f23f}, {0x1f249, 0x1f3fa}, {0x1f400, 0x1f53d}, {0x1f546, 0x1f64f}, {0x1f680, 0x1f6ff},
	{0x1f774, 0x1f77f}, {0x1f7d5, 0x1f7ff}, {0x1f80c, 0x1f80f}, {0x1f848, 0x1f84f}, {0x1f85a, 0x1f85f}, {0x1f888, 0x1f88f},
	{0x1f8ae, 0x1f8ff}, {0x1f90c, 0x1f93a}, {0x1f93c, 0x1f945}, {0x1f947, 0x1faff}, {0x1fc00, 0x1fffd},
}

// clusterRanges are the characters that have a class, sorted.
var clusterRanges = sync.OnceValue(func() []classRange {
	var rs []classRange
	add := func(class clusterClass, tables ...*unicode.RangeTable) {
		for _, t := range tables {
			for _, r := range t.R16 {
				for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
					rs = append(rs, classRange{c, c, class})
				}
			}
			for _, r := range t.R32 {
				if r.Stride == 1 {
					rs = append(rs, classRange{rune(r.Lo), rune(r.Hi), class})
					continue
				}
				for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
					rs = append(rs, classRange{c, c, class})
				}
			}
		}
	}
	// If two classes contain a character, the class that was added first wins.
	rs = append(rs, classRange{zwj, zwj, classZWJ}, classRange{0x1f3fb, 0x1f3ff, classExtend})
	add(classPrepend, prepends, unicode.Prepended_Concatenation_Mark)
	add(classExtend, unicode.Mn, unicode.Me, unicode.Other_Grapheme_Extend)
	rs = append(rs, classRange{0x0e33, 0x0e33, classSpacing}, classRange{0x0eb3, 0x0eb3, classSpacing})
	add(classOther, notSpacing)
	add(classSpacing, unicode.Mc)
	add(classControl, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
	rs = append(rs, classRange{0x2065, 0x2065, classControl}, classRange{0xfff0, 0xfff8, classControl}, classRange{0xe0000, 0xe0fff, classControl})
	for _, p := range pictures {
		rs = append(rs, classRange{p[0], p[1], classPicture})
	}
	slices.SortStableFunc(rs, func(a, b classRange) int { return int(a.lo - b.lo) })
	return merge(rs)
})

// merge joins adjacent ranges of the same class and removes from later ranges the characters of earlier ones.
func merge(rs []classRange) []classRange {
	out := rs[:0:0]
	for _, r := range rs {
		if n := len(out); n > 0 {
			if r.lo <= out[n-1].hi {
				r.lo = out[n-1].hi + 1
			}
			if r.lo > r.hi {
				continue
			}
			if out[n-1].class == r.class && out[n-1].hi+1 == r.lo {
				out[n-1].hi = r.hi
				continue
			}
		}
		out = append(out, r)
	}
	return out
}

// classOf returns the class of a character.
func classOf(r rune) clusterClass {
	switch {
	case r < 0x20 || r >= 0x7f && r < 0xa0:
		return classControl
	case r < 0x300:
		switch r {
		case 0xa9, 0xae:
			return classPicture
		case 0xad:
			return classControl
		}
		return classOther
	case r >= 0x370 && r < 0x483, // Greek, Cyrillic
		r >= 0x3041 && r < 0x3099, r >= 0x309b && r < 0x3297, // kana, Bopomofo, Jamo
		r >= 0x3400 && r < 0xa66f: // ideographs, Yi, Vai
		return classOther
	case r >= 0xac00 && r < 0xfb1e: // Hangul, private use, ideographs, ligatures
		return classOther
	}
	rs := clusterRanges()
	i, found := slices.BinarySearchFunc(rs, r, func(c classRange, r rune) int {
		if r < c.lo {
			return 1
		}
		if r > c.hi {
			return -1
		}
		return 0
	})
	if !found {
		return classOther
	}
	return rs[i].class
}

// cluster returns the length in bytes of the grapheme cluster at the beginning of s, and the length of its first character. s must not
// be empty.
func cluster(s []byte) (length, first int) {
	r, n := utf8.DecodeRune(s)
	first = n
	if n == len(s) || s[n] >= ' ' && s[n] < 0x7f && r < 0x300 {
		return n, first
	}
	if r == '\r' && s[n] == '\n' {
		return 2, first
	}
	class := classOf(r)
	if class == classControl {
		return n, first
	}
	picture := class == classPicture // a picture with its extending characters
	for n < len(s) {
		r, size := utf8.DecodeRune(s[n:])
		next := classOf(r)
		switch {
		case next == classExtend, next == classZWJ, next == classSpacing:
		case next == classControl:
			return n, first
		case class == classPrepend:
			picture = next == classPicture
		case class == classZWJ && picture && next == classPicture:
		default:
			return n, first
		}
		if next == classSpacing {
			picture = false
		}
		class = next
		n += size
	}
	return n, first
}
