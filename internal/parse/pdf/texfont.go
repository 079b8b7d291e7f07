package pdf

import "strconv"

// The encodings of TeX's fonts where they differ from others: OT1, of Knuth's fonts, and T1, of the EC fonts, also called Cork. Bitmap
// fonts name their glyphs by the codes alone. The printable codes of OT1 are read as ASCII here, because typewriter fonts use ASCII and
// cannot be distinguished from others.
var (
	ot1Encoding = texEncoding(winAnsiEncoding, "ΓΔΘΛΞΠΣΥΦΨΩﬀﬁﬂﬃﬄıȷ`´ˇ˘¯˚¸ßæœøÆŒØ", "¨")
	t1Encoding  = texEncoding(winAnsiEncoding, "`´ˆ˜¨˝˚ˇ˘¯˙¸˛‚‹›“”„«»–—\x00\x00ıȷﬀﬁﬂﬃﬄ", "-"+
		"ĂĄĆČĎĚĘĞĹĽŁŃŇŊŐŔŘŚŠŞŤŢŰŮŸŹŽŻĲİđ§"+
		"ăąćčďěęğĺľłńňŋőŕřśšşťţűůÿźžżĳ¡¿£"+
		"ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖŒØÙÚÛÜÝÞẞ"+
		"àáâãäåæçèéêëìíîïðñòóôõöœøùúûüýþß")
)

// bulletTS1 is the code of the bullet in TeX's fonts of text symbols.
const bulletTS1 = 136

// texEncoding is base with the characters of first from code 0 and those of last from code 127. NUL stands for an undefined code.
func texEncoding(base *codeTable, first, last string) *codeTable {
	e := *base
	put := func(code int, text string) {
		for _, r := range text {
			e[code] = ""
			if r != 0 {
				e[code] = clean(string(r))
			}
			code++
		}
	}
	put(0, first)
	put(127, last)
	return &e
}

// codesAsNames returns the encoding of a font whose glyphs are all named by their codes: the character itself, or the code as a decimal
// (a65) or hexadecimal (x41) number. It returns nil for other fonts.
func codesAsNames(names *[256]name, type3 bool) *codeTable {
	var same, decimal, hexadecimal, count int
	low, high := false, false // the ligatures of OT1 and of T1
	for code, n := range names {
		if n == "" || n == ".notdef" {
			continue
		}
		count++
		if len(n) == 1 && int(n[0]) == code {
			same++
		}
		if v, ok := numberedName(string(n)); ok && v == code {
			decimal++
		}
		if v, err := strconv.ParseUint(string(n[1:]), 16, 16); err == nil && int(v) == code {
			hexadecimal++
		}
		low = low || code >= 11 && code <= 15
		high = high || code >= 128 || code >= 27 && code <= 31
	}
	switch {
	case count == 0 || max(same, decimal, hexadecimal) < count && !(type3 && same > 0 && same+decimal+hexadecimal >= count):
		return nil
	case !type3:
		return winAnsiEncoding
	case count == 1 && names[bulletTS1] != "":
		return &codeTable{bulletTS1: "•"} // the only symbol of TS1 that lists use
	case high && !low:
		return t1Encoding
	}
	return ot1Encoding
}
