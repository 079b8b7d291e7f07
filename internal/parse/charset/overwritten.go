package charset

import "bytes"

// zeros is a run that no charset writes and no text holds.
var zeros = make([]byte, 16)

// maxControls is how many control characters a text may hold that have no use in texts: a stray one or two are seen.
const maxControls = 3

// Overwritten reports whether data, which should be text, has lost a part, as files do that were not written to their
// end or lie on a failing disk. RTF may hold pictures as they are, and is not judged then.
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

// unused are the control characters that neither texts nor their charsets have a use for: tabs, ends of lines and pages,
// backspaces, shifts, escapes and ends of files are none of them.
var unused = [0x20]bool{0: true, 1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 16: true, 17: true, 18: true, 19: true, 20: true,
	21: true, 22: true, 23: true, 24: true, 25: true, 28: true, 29: true, 30: true, 31: true}
