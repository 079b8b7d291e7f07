package pdf

// Codes of LZW data (ISO 32000-1, 7.4.4.2).
const (
	lzwClear  = 256
	lzwEnd    = 257
	lzwFirst  = 258
	lzwMaxLen = 12
)

// lzwDecode decodes PDF's LZW. Unlike the standard library's, its code length grows one code early unless EarlyChange is 0. false means
// that the data is damaged or longer than limit.
func lzwDecode(data []byte, limit int64, early bool) ([]byte, bool) {
	// Each table entry is a piece of the output, given by its start and length.
	type piece struct{ start, length int }
	var table [1 << lzwMaxLen]piece
	var out []byte
	change := 0
	if early {
		change = 1
	}
	next, width := lzwFirst, 9
	prev := piece{-1, 0}
	acc, bits := uint32(0), 0
	for _, c := range data {
		acc = acc<<8 | uint32(c)
		if bits += 8; bits < width {
			continue
		}
		bits -= width
		code := int(acc >> bits & (1<<width - 1))
		if code == lzwEnd {
			return out, true
		}
		if code == lzwClear {
			next, width, prev = lzwFirst, 9, piece{-1, 0}
			continue
		}
		start := len(out)
		switch {
		case code < 256:
			out = append(out, byte(code))
		case code < next:
			p := table[code]
			out = append(out, out[p.start:p.start+p.length]...)
		case code == next && prev.start >= 0:
			out = append(out, out[prev.start:prev.start+prev.length]...)
			out = append(out, out[prev.start])
		default:
			return out, false
		}
		if int64(len(out)) > limit {
			return out[:limit], false
		}
		if prev.start >= 0 && next < len(table) {
			// The previous piece and the first byte of this one are adjacent in the output.
			table[next] = piece{prev.start, prev.length + 1}
			next++
		}
		if next+change >= 1<<width && width < lzwMaxLen {
			width++
		}
		prev = piece{start, len(out) - start}
	}
	return out, true
}
