package mail

import "bytes"

// lineEnds replaces line ends of a single CR, which old programs write, by LF.
func lineEnds(data []byte) []byte {
	out := bytes.Clone(data)
	for i, c := range data {
		rest := data[i+1:]
		if c == '\r' && !bytes.HasPrefix(rest, []byte("\n")) && !bytes.HasPrefix(rest, []byte("\r\n")) {
			out[i] = '\n'
		}
	}
	return out
}

// missing notes what a part lacks: the end of its encoding, an encoding that is known, content that is elsewhere.
func (m *mailReader) missing(h mailHeader, mediaType string, body []byte) {
	const early = "the encoding of a part of the mail ends early: it may be cut off"
	switch transferEncoding(h) {
	case "", "7bit", "8bit", "binary":
	case "base64":
		if junkInBase64(body) {
			m.note("the encoding of a part of the mail is damaged")
		}
		if endsInBase64(body) {
			m.note(early)
		}
	case "quoted-printable":
		if endsInQuoted(body) {
			m.note(early)
		}
	default:
		m.note("the encoding of a part of the mail is not known")
	}
	switch mediaType {
	case "message/partial", "message/external-body":
		m.note("a part of the mail is in another place")
	case "application/ms-tnef":
		m.note("an attachment in the form of Outlook (winmail.dat) was not read")
	}
}

// junkInBase64 reports whether more than one in 50 bytes before the padding are not base64 digits.
func junkInBase64(body []byte) bool {
	digits, junk := 0, 0
	for _, c := range body {
		switch {
		case base64Digits[c]:
			digits++
		case c == '=':
			return junk*50 > digits
		case c > ' ':
			junk++
		}
	}
	return junk*50 > digits
}

// endsInBase64 reports whether the digits of a body end within a group of four, without padding.
func endsInBase64(body []byte) bool {
	digits := 0
	for _, c := range body {
		switch {
		case base64Digits[c]:
			digits++
		case c == '=':
			return false
		}
	}
	return digits%4 != 0
}

// endsInQuoted reports whether a body ends in a line that goes on, or within an escape.
func endsInQuoted(body []byte) bool {
	body = bytes.TrimRight(body, " \t\r\n")
	i := bytes.LastIndexByte(body, '=')
	return i >= 0 && i >= len(body)-2
}
