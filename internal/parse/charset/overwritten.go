package charset

import "bytes"

// zeros is a run of zero bytes that occurs in no text in any charset.
var zeros = make([]byte, 16)

// maxControls is the number of unused control characters that an undamaged text may have. One or two stray ones occur in practice.
const maxControls = 3

// Overwritten reports whether a text has lost a part, as happens after an incomplete write or on a failing disk.
// RTF with binary pictures never counts as overwritten.
func Overwritten(data []byte) bool {
	if bytes.Contains(data, []byte(`\bin`)) {
		return false
	}
	if bytes.Contains(data, zeros) {
		return true
	}
	controls, nul := 0, 0
	for _, c := range data {
		if c < 0x20 && unused[c] {
			if c == 0 {
				nul++
			} else {
				controls++
			}
		}
	}
	return controls > maxControls && nul < len(data)/50 // UTF-16 has more
}

// unused has the control characters that are not used by texts or charsets. Tabs, line and page ends, backspaces, shifts, escapes and ends
// of file are used.
var unused = [0x20]bool{0: true, 1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 16: true, 17: true, 18: true, 19: true, 20: true,
	21: true, 22: true, 23: true, 24: true, 25: true, 28: true, 29: true, 30: true, 31: true}
