package pdf

import "encoding/binary"

// sfnt builds a font file from tables.
func sfnt(tables map[string][]byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, 0x00010000)
	out = append(out, 0, byte(len(tables)), 0, 0, 0, 0, 0, 0)
	at := 12 + 16*len(tables)
	var body []byte
	for tag, data := range tables {
		out = append(out, tag...)
		out = binary.BigEndian.AppendUint32(out, 0)
		out = binary.BigEndian.AppendUint32(out, uint32(at+len(body)))
		out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
		body = append(body, data...)
	}
	return append(out, body...)
}

func words16(v ...int) []byte {
	var out []byte
	for _, w := range v {
		out = binary.BigEndian.AppendUint16(out, uint16(w))
	}
	return out
}

// testTrueType maps A and B to the glyphs 1 and 2 (format 4, Unicode) and names glyph 3 "eacute" (post).
func testTrueType() []byte {
	sub := words16(4, 32, 0, 4, 0, 0, 0 /* end codes */, 0x42, 0xffff, 0 /* start codes */, 0x41, 0xffff /* deltas */, 1-0x41, 1 /* offsets */, 0, 0)
	cmap := append(words16(0, 1, 3, 1, 0, 12), sub...)
	post := append(words16(2, 0), make([]byte, 28)...)
	post = append(post, words16(4, 0, 36, 37, 258)...)
	post = append(post, "\x06eacute"...)
	return sfnt(map[string][]byte{"cmap": cmap, "post": post})
}

// testCFF has the glyphs .notdef, A, germandbls and a glyph with a name of its own, "Omega", at the codes 65 to 67.
func testCFF() []byte {
	index := func(items ...string) []byte {
		if len(items) == 0 {
			return []byte{0, 0}
		}
		out := words16(len(items))
		out = append(out, 1)
		at := 1
		out = append(out, byte(at))
		for _, s := range items {
			at += len(s)
			out = append(out, byte(at))
		}
		for _, s := range items {
			out = append(out, s...)
		}
		return out
	}
	num := func(v int) []byte { return []byte{29, byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)} }
	charset := append([]byte{0}, words16(34, 149, 391)...)
	encoding := []byte{1, 1, 65, 2}
	glyphs := index("\x0e", "\x0e", "\x0e", "\x0e")
	head := append([]byte{1, 0, 4, 1}, index("Test")...)
	size := 3*6 + 5 // of the Top DICT's index
	rest := append(index("Omega"), index()...)
	at := len(head) + size + len(rest)
	var top []byte
	for _, e := range []struct{ offset, op int }{{at, 15}, {at + len(charset), 16}, {at + len(charset) + len(encoding), 17}} {
		top = append(append(top, num(e.offset)...), byte(e.op))
	}
	out := append(head, index(string(top))...)
	out = append(out, rest...)
	out = append(out, charset...)
	out = append(out, encoding...)
	return append(out, glyphs...)
}
