package charset

import (
	"bytes"

	"github.com/contextmem/contextmem/internal/parse/clean"
)

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
	s := clean.String(data)
	for i := clean.NextMarked(s, 0, &unused); i < len(s); i = clean.NextMarked(s, i+1, &unused) {
		if s[i] == 0 {
			nul++
		} else {
			controls++
		}
	}
	if nul < len(data)/50 {
		return controls > maxControls
	}
	return longASCII(data) // UTF-16
}

// maxASCIIRun is the longest run of printable ASCII that a text in UTF-16 may have. Each pair of its bytes would be a Han character.
const maxASCIIRun = 128

// longASCII reports whether bytes have a run of printable ASCII that no text in UTF-16 has: two files may have been joined.
func longASCII(data []byte) bool {
	run := 0
	for _, c := range data {
		if c >= 0x7f || c < ' ' && c != '\n' && c != '\r' {
			run = 0
		} else if run++; run > maxASCIIRun {
			return true
		}
	}
	return false
}

// unused has the control characters that are not used by texts or charsets. Tabs, line and page ends, backspaces, shifts, escapes and ends
// of file are used.
var unused = [256]bool{0: true, 1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 16: true, 17: true, 18: true, 19: true, 20: true,
	21: true, 22: true, 23: true, 24: true, 25: true, 28: true, 29: true, 30: true, 31: true}
