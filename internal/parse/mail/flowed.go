package mail

import (
	"bytes"
	"strings"
)

// isFlowed reports whether the content type parameters declare format=flowed (RFC 3676).
func isFlowed(params mailParams) bool {
	return strings.EqualFold(strings.TrimSpace(params.get("format")), "flowed")
}

func isYes(s string) bool { return strings.EqualFold(strings.TrimSpace(s), "yes") }

// unflow joins the lines of flowed text into paragraphs, in place.
// A line that ends with a space continues on the next line of the same quote depth.
// delSp says that this trailing space is not part of the text. unflow also removes the stuffed space at the start of a line.
func unflow(text []byte, delSp bool) []byte {
	out := text[:0] // the write position never passes the read position
	flowing, depth := false, 0
	for first := true; len(text) > 0; first = false {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte("\n"))
		quoted := bytes.TrimLeft(line, ">")
		quotes := len(line) - len(quoted)
		words := bytes.TrimPrefix(quoted, []byte(" "))
		signature := string(words) == "-- "
		if !flowing || quotes != depth || signature {
			if flowing {
				out = bytes.TrimRight(out, " ")
			}
			if !first {
				out = append(out, '\n')
			}
			if quotes > 0 {
				out = append(out, line[:len(line)-len(words)]...)
			}
		}
		flowing, depth = !signature && bytes.HasSuffix(words, []byte(" ")), quotes
		if flowing && delSp {
			words = words[:len(words)-1]
		}
		out = append(out, words...)
	}
	return out
}
