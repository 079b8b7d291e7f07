package pdf

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// data/glyphs.txt has a glyph name and its code points in hexadecimal on each line: the Adobe Glyph List without the
// private use area and the names of Asian syllabaries, and the names that TeX's fonts add.
//
//go:embed data/glyphs.txt
var glyphData string

// data/names.txt has the glyph orders of the macintosh post table, of CFF's standard strings and of ZapfDingbats
// (its names in order of their codes from 32).
//
//go:embed data/names.txt
var orderData string

var glyphList = sync.OnceValue(func() map[string]string {
	list := make(map[string]string, 3000)
	for line := range strings.Lines(glyphData) {
		fields := strings.Fields(line)
		var text []rune
		for _, f := range fields[1:] {
			if v, err := strconv.ParseUint(f, 16, 32); err == nil {
				text = append(text, rune(v))
			}
		}
		list[fields[0]] = string(text)
	}
	return list
})

var glyphOrders = sync.OnceValue(func() map[string][]string { return sections(orderData) })

// sections splits text at lines "# name" and returns the fields below each.
func sections(text string) map[string][]string {
	out := map[string][]string{}
	current := ""
	for line := range strings.Lines(text) {
		if title, ok := strings.CutPrefix(line, "# "); ok {
			current = strings.TrimSpace(title)
			continue
		}
		out[current] = append(out[current], strings.Fields(line)...)
	}
	return out
}

// zapfNames maps the glyph names of ZapfDingbats, which have another meaning in other fonts.
var zapfNames = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for i, n := range glyphOrders()["zapfdingbats"] {
		if t := zapfEncoding[32+i]; t != "" {
			out[n] = t
		}
	}
	return out
})

// glyphText returns the text of a glyph name by the rules of the Adobe Glyph List specification, or "".
func glyphText(n string) string {
	if t := glyphList()[n]; t != "" {
		return t
	}
	base, _, dotted := strings.Cut(n, ".")
	if dotted {
		if base == "" {
			return ""
		}
		return glyphText(base)
	}
	if strings.Contains(n, "_") {
		var out strings.Builder
		for part := range strings.SplitSeq(n, "_") {
			t := glyphText(part)
			if t == "" {
				return ""
			}
			out.WriteString(t)
		}
		return out.String()
	}
	if t := uniName(n); t != "" {
		return t
	}
	for _, style := range []string{"small", "oldstyle", "superior", "inferior", "fitted", "taboldstyle"} {
		if base, ok := strings.CutSuffix(n, style); ok && base != "" {
			return glyphList()[base]
		}
	}
	return ""
}

// uniName resolves names of the forms uniXXXX... and uXXXX to uXXXXXX.
func uniName(n string) string {
	digits, ok := strings.CutPrefix(n, "uni")
	if ok && len(digits) >= 4 && len(digits)%4 == 0 {
		var out []rune
		for i := 0; i+4 <= len(digits); i += 4 {
			v, err := strconv.ParseUint(digits[i:i+4], 16, 32)
			if err != nil || !usable(rune(v)) {
				return ""
			}
			out = append(out, rune(v))
		}
		return string(out)
	}
	digits, ok = strings.CutPrefix(n, "u")
	if ok && len(digits) >= 4 && len(digits) <= 6 {
		if v, err := strconv.ParseUint(digits, 16, 32); err == nil && usable(rune(v)) {
			return string(rune(v))
		}
	}
	return ""
}

// usable reports whether r can be part of a text: it is not a control, surrogate, private use or replacement character.
func usable(r rune) bool {
	switch {
	case r < 0x20 || r > unicode.MaxRune || r == unicode.ReplacementChar:
		return false
	case r >= 0x7f && r < 0xa0, r >= 0xd800 && r < 0xe000, r == 0xffff || r == 0xfffe || r == 0xfeff:
		return false
	}
	return !unicode.Is(unicode.Co, r)
}

// numberedName returns the number in names such as g12, cid0034, glyph7 or a65. Subset fonts use them for glyph indexes or character codes.
func numberedName(n string) (int, bool) {
	digits := strings.TrimLeft(n, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	if digits == "" || digits == n || len(digits) > 5 {
		return 0, false
	}
	v, err := strconv.Atoi(digits)
	return v, err == nil
}
