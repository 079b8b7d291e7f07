package pdf

import (
	"errors"
	"slices"
	"sort"
	"unicode/utf16"
)

const (
	// maxCMapRanges bounds the ranges of one CMap.
	maxCMapRanges = 200_000
	// maxCMapUses bounds a chain of CMaps that each use another.
	maxCMapUses = 8
	// maxCodeText bounds the UTF-16 bytes that one code may map to. Some writers map one code to a whole run of text.
	maxCodeText = 4096
)

// codespace is a range of codes of n bytes (ISO 32000-1, 9.7.6.2).
type codespace struct {
	n      int
	lo, hi uint32
}

// cmapRange maps codes of n bytes from lo to hi to numbers from cid on, to texts from text on, or one by one to list. none is set if the
// map gives these codes an empty text on purpose: they are shown as part of another code's text.
type cmapRange struct {
	n      int
	lo, hi uint32
	none   bool
	cid    int
	text   []rune
	list   [][]rune
}

// cmap is a parsed CMap: a font's encoding (code to CID) or a ToUnicode map (code to text).
type cmap struct {
	spaces   []codespace
	ranges   []cmapRange
	vertical bool
	base     name // the CMap that this one builds on
}

// parseCMap reads the CMap in data. It skips what is malformed.
func (d *document) parseCMap(data []byte) *cmap {
	m := &cmap{}
	l := d.lexer(data, false)
	var stack []any
	for {
		o, err := l.object()
		if errors.Is(err, errEnd) || !d.tick(8) {
			break
		}
		if err != nil {
			continue
		}
		op, isOp := o.(keyword)
		if !isOp {
			if len(stack) < maxElements {
				stack = append(stack, o)
			}
			continue
		}
		switch op {
		case "begincodespacerange", "begincidrange", "begincidchar", "beginbfrange", "beginbfchar":
			stack = stack[:0]
			continue
		case "endcodespacerange":
			for i := 0; i+1 < len(stack) && len(m.spaces) < 256; i += 2 {
				lo, n := codeOf(stack[i])
				hi, n2 := codeOf(stack[i+1])
				if n > 0 && n == n2 {
					m.spaces = append(m.spaces, codespace{n, lo, hi})
				}
			}
		case "endcidrange":
			for i := 0; i+2 < len(stack); i += 3 {
				m.addRange(stack[i], stack[i+1], stack[i+2])
			}
		case "endcidchar":
			for i := 0; i+1 < len(stack); i += 2 {
				m.addRange(stack[i], stack[i], stack[i+1])
			}
		case "endbfrange":
			for i := 0; i+2 < len(stack); i += 3 {
				m.addRange(stack[i], stack[i+1], stack[i+2])
			}
		case "endbfchar":
			for i := 0; i+1 < len(stack); i += 2 {
				m.addRange(stack[i], stack[i], stack[i+1])
			}
		case "usecmap":
			if len(stack) > 0 {
				m.base, _ = stack[len(stack)-1].(name)
			}
		case "def":
			if len(stack) >= 2 && stack[len(stack)-2] == name("WMode") {
				m.vertical = stack[len(stack)-1] == 1
			}
		}
		stack = stack[:0]
	}
	m.sort()
	return m
}

func (m *cmap) sort() {
	slices.SortStableFunc(m.ranges, func(a, b cmapRange) int {
		if a.n != b.n {
			return a.n - b.n
		}
		return int(int64(a.lo) - int64(b.lo))
	})
}

// codeOf returns a code string as a number and its length in bytes, which is 0 if o is not a code.
func codeOf(o any) (uint32, int) {
	s, ok := o.(str)
	if !ok || len(s) == 0 || len(s) > 4 {
		return 0, 0
	}
	var v uint32
	for i := range len(s) {
		v = v<<8 | uint32(s[i])
	}
	return v, len(s)
}

// addRange adds a range whose target is a CID, a UTF-16 text, a glyph name, or an array of texts or names.
func (m *cmap) addRange(from, to, target any) {
	lo, n := codeOf(from)
	hi, _ := codeOf(to)
	if n == 0 || hi < lo || len(m.ranges) >= maxCMapRanges {
		return
	}
	r := cmapRange{n: n, lo: lo, hi: hi}
	switch v := target.(type) {
	case int:
		r.cid = v
	case str:
		r.text, r.none = utf16Text(v), len(v) == 0
	case name:
		r.text = []rune(glyphText(string(v)))
	case array:
		for _, o := range v[:min(len(v), int(hi-lo)+1)] {
			var t []rune
			switch v := o.(type) {
			case str:
				t = utf16Text(v)
			case name:
				t = []rune(glyphText(string(v)))
			}
			r.list = append(r.list, t)
		}
	default:
		return
	}
	m.ranges = append(m.ranges, r)
}

// utf16Text decodes big-endian UTF-16. A single byte is decoded as one character.
func utf16Text(s str) []rune {
	if len(s) == 1 {
		return []rune{rune(s[0])}
	}
	s = s[:min(len(s), maxCodeText)]
	units := make([]uint16, len(s)/2)
	for i := range units {
		units[i] = uint16(s[2*i])<<8 | uint16(s[2*i+1])
	}
	return utf16.Decode(units)
}

// find returns the range that contains a code of n bytes. n of 0 matches any length.
func (m *cmap) find(code uint32, n int) *cmapRange {
	if n == 0 {
		for n = 1; n <= 4; n++ {
			if r := m.find(code, n); r != nil {
				return r
			}
		}
		return nil
	}
	i := sort.Search(len(m.ranges), func(i int) bool {
		r := &m.ranges[i]
		return r.n > n || r.n == n && r.lo > code
	})
	// Ranges may overlap. The matching range that begins last wins; a few ranges before it are tried.
	for k := i - 1; k >= 0 && k >= i-4 && m.ranges[k].n == n; k-- {
		if m.ranges[k].hi >= code {
			return &m.ranges[k]
		}
	}
	return nil
}

// cid returns the CID of a code.
func (m *cmap) cid(code uint32, n int) (int, bool) {
	r := m.find(code, n)
	if r == nil {
		return 0, false
	}
	return r.cid + int(code-r.lo), true
}

// silent reports whether a ToUnicode map gives a code an empty text on purpose.
func (m *cmap) silent(code uint32, n int) bool {
	r := m.find(code, n)
	return r != nil && r.none
}

// unicode returns the text of a code in a ToUnicode map, or "" when it has none that is usable.
func (m *cmap) unicode(code uint32, n int) string {
	r := m.find(code, n)
	if r == nil {
		r = m.find(code, 0) // many maps have other code lengths than the font
	}
	if r == nil {
		return ""
	}
	var t []rune
	if r.list != nil {
		if i := int(code - r.lo); i < len(r.list) {
			t = r.list[i]
		}
	} else if len(r.text) > 0 {
		t = slices.Clone(r.text)
		t[len(t)-1] += rune(code - r.lo)
	}
	out := make([]rune, 0, len(t))
	for _, c := range t {
		switch {
		case c == '\t' || c == '\n' || c == '\r':
			c = ' '
		case c >= 0xf020 && c <= 0xf0ff:
			c = privateSymbols[c]
		}
		if usable(c) {
			out = append(out, c)
		}
	}
	return string(out)
}

// privateSymbols maps codes of Symbol and Wingdings that word processors write in the private use area: those used for lists and forms.
var privateSymbols = map[rune]rune{
	0xf06c: '●', 0xf06e: '■', 0xf06f: '□', 0xf071: '❑', 0xf076: '❖', 0xf0a7: '▪', 0xf0a8: '◻', 0xf0b7: '•',
	0xf0d8: '➢', 0xf0df: '←', 0xf0e0: '→', 0xf0fc: '✓', 0xf0fe: '☑',
}

// next splits the first code off s by the codespace ranges; n is at least 1 when s is not empty.
func (m *cmap) next(s str) (code uint32, n int) {
	shortest := 4
	for n = 1; n <= 4 && n <= len(s); n++ {
		code = code<<8 | uint32(s[n-1])
		for _, c := range m.spaces {
			if c.n == n && c.holds(code) {
				return code, n
			}
			shortest = min(shortest, c.n)
		}
	}
	if len(m.spaces) == 0 {
		shortest = 2
	}
	shortest = min(shortest, len(s))
	code = 0
	for i := range shortest {
		code = code<<8 | uint32(s[i])
	}
	return code, shortest
}

// holds reports whether code is in the range. It compares byte by byte, because codespace ranges are boxes and not intervals.
func (c codespace) holds(code uint32) bool {
	for shift := 0; shift < 8*c.n; shift += 8 {
		b := code >> shift & 0xff
		if b < c.lo>>shift&0xff || b > c.hi>>shift&0xff {
			return false
		}
	}
	return true
}
