package mail

import (
	"bytes"
	"strings"
)

// isFlowed reports whether the parameters of a content type say that lines of the text flow (RFC 3676).
func isFlowed(params mailParams) bool {
	return strings.EqualFold(strings.TrimSpace(params.get("format")), "flowed")
}

func isYes(s string) bool { return strings.EqualFold(strings.TrimSpace(s), "yes") }

// unflow joins the lines of flowed text to paragraphs, in place. A line that ends with a space goes on with the next
// one of the same depth of quotation; delSp says that the space is no part of the text. The space that keeps a line
// from looking like another thing is removed.
func unflow(text []byte, delSp bool) []byte {
	out := text[:0] // never ahead of what is read
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
