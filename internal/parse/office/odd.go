package office

import "unicode/utf16"

// oddUnits counts UTF-16 code units that no program writes in a text. The old formats have no checksums, so these units are the only sign
// that a part was overwritten.
type oddUnits struct{ controls, zeros, halves, private, all int }

// control counts a control character that is not part of the text.
func (o *oddUnits) control(c uint16) {
	switch {
	case c == 0:
		o.zeros++
	case c >= 0x0F && c < 0x13, c >= 0x16 && c < 0x1E: // smaller ones mark pictures, notes, cells and fields
		o.controls++
	}
}

// note adds the odd code units of a text to the counts.
func (o *oddUnits) note(units []uint16) {
	o.all += len(units)
	for i := 0; i < len(units); i++ {
		switch c := units[i]; {
		case c < ' ':
			o.control(c)
		case c < 0xD800:
		case c < 0xDC00 && i+1 < len(units) && utf16.IsSurrogate(rune(units[i+1])) && units[i+1] >= 0xDC00:
			i++
		case c < 0xE000 || c >= 0xFFFE:
			o.halves++
		case c < 0xF000, c >= 0xF100 && c < 0xF900: // the others are symbol fonts
			o.private++
		}
	}
}

// maxOdd is the number of odd characters of one kind that do not count as damage. Undamaged old files have a few.
const maxOdd = 7

func (o *oddUnits) damaged() bool {
	return o.controls > maxOdd || o.zeros > 2*maxOdd || o.halves > maxOdd || o.private > maxOdd && o.private > o.all/20 // some Chinese texts have a few
}
