package mail

import (
	"bytes"
	"io"
	"mime"
	"path"
	"strings"

	"github.com/contextmem/contextmem/internal/parse/charset"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/media"
)

// mailHeader holds the header fields listed in keptMailFields, in order.
type mailHeader []mailField

// mailField is a field of a header or a parameter of a field; its name is in lower case.
type mailField struct{ name, value string }

// keptMailFields lists the header fields that the parser keeps.
var keptMailFields = func() map[string]string {
	names := map[string]string{}
	for _, n := range []string{"subject", "from", "to", "cc", "date", "message-id", "in-reply-to", "content-type", "content-disposition",
		"content-transfer-encoding", "content-language"} {
		names[n] = n
	}
	return names
}()

// mailFieldName returns the lower-case name of a kept field, "" for any other field.
func mailFieldName(name []byte) string {
	var lower [32]byte // longer than any kept field name
	if len(name) > len(lower) {
		return ""
	}
	for i, c := range name {
		lower[i] = clean.Lower(c)
	}
	return keptMailFields[string(lower[:len(name)])]
}

// splitHeader splits a mail into header and body at the first empty line, or at the first lines that cannot be header lines.
func splitHeader(data []byte) (head, body []byte) {
	odd := 0
	for pos := 0; pos < len(data) && pos < maxMailHeader; {
		line, _, found := bytes.Cut(data[pos:], []byte("\n"))
		if len(bytes.TrimRight(line, "\r")) == 0 {
			if !found {
				break
			}
			return data[:pos], data[pos+len(line)+1:]
		}
		if pos == 0 && !bytes.ContainsRune(line, ':') && !bytes.HasPrefix(line, []byte("From ")) {
			return nil, data // a body without a header
		}
		if pos > 0 && !isHeaderLine(line) {
			if odd++; odd > maxOddLines || !headerGoesOn(data[min(len(data), pos+len(line)+1):]) {
				return data[:pos], data[pos:]
			}
		}
		if !found {
			break
		}
		pos += len(line) + 1
	}
	if len(data) > maxMailHeader {
		return nil, data
	}
	return data, nil
}

// maxOddLines limits the malformed lines that a header may have.
const maxOddLines = 16

// isHeaderLine reports whether a line can be part of a header: a field, a folded continuation, or a mailbox "From " line.
func isHeaderLine(line []byte) bool {
	if line[0] == ' ' || line[0] == '\t' || bytes.HasPrefix(line, []byte("From ")) || bytes.HasPrefix(line, []byte(">From ")) {
		return true
	}
	name, _, ok := bytes.Cut(line, []byte(":"))
	name = bytes.TrimRight(name, " \t")
	for _, c := range name {
		if c <= ' ' || c >= 0x7f {
			return false
		}
	}
	return ok && len(name) > 0
}

// headerGoesOn reports whether a kept field occurs before the next empty line.
func headerGoesOn(rest []byte) bool {
	for line := range bytes.Lines(clean.Head(rest, 16<<10)) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			return false
		}
		if name, _, ok := bytes.Cut(line, []byte(":")); ok && mailFieldName(bytes.TrimRight(name, " \t")) != "" {
			return true
		}
	}
	return false
}

// maxMailFields bounds the fields of a header that are kept.
const maxMailFields = 200

// parseMailHeader reads the fields into the slice space and joins folded lines. Values may share the memory of head.
func parseMailHeader(head []byte, space mailHeader) mailHeader {
	h := space[:0]
	var folded []byte // the value of the last field, when it has several lines
	kept := false     // the last field is one of keptMailFields
	end := func() {
		if kept && len(folded) > 0 {
			h[len(h)-1].value = string(folded)
		}
		folded = folded[:0]
	}
	for line := range bytes.Lines(head) {
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			continue
		}
		if line[0] == ' ' || line[0] == '\t' {
			if kept && len(folded) < 1<<16 {
				if len(folded) == 0 {
					folded = append(folded, h[len(h)-1].value...)
				}
				folded = append(append(folded, ' '), bytes.TrimLeft(line, " \t")...)
			}
			continue
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			continue
		}
		end()
		field := mailFieldName(bytes.TrimSpace(name))
		if kept = field != "" && len(h) < maxMailFields; kept {
			h = append(h, mailField{field, clean.String(bytes.TrimSpace(value))})
		}
	}
	end()
	return h
}

// raw returns the undecoded value of the first field with that name.
func (h mailHeader) raw(name string) string {
	for _, f := range h {
		if f.name == name {
			return f.value
		}
	}
	return ""
}

// text returns a field with its encoded words decoded.
func (h mailHeader) text(name string) string { return decodeWords(h.raw(name)) }

var wordDecoder = mime.WordDecoder{CharsetReader: func(declared string, r io.Reader) (io.Reader, error) {
	data, err := io.ReadAll(io.LimitReader(r, 1<<16))
	if err != nil {
		return nil, err
	}
	return bytes.NewReader(charset.Decode(data, declared)), nil
}}

// decodeWords decodes RFC 2047 encoded words. It treats raw bytes beyond ASCII, which old programs send,
// as text in an undeclared charset.
func decodeWords(s string) string {
	out, err := wordDecoder.DecodeHeader(s)
	if err != nil {
		out = s
	}
	return clean.OneLine(string(charset.Decode([]byte(out), "")))
}

// contentType returns the type of a part, text/plain when there is none.
func (h mailHeader) contentType() (string, mailParams) {
	value := h.raw("content-type")
	if value == "" {
		return media.Text, nil
	}
	mt, params := parseParams(value)
	if !strings.Contains(mt, "/") {
		mt = media.Text
	}
	if alias, ok := media.Aliases[mt]; ok {
		mt = alias
	}
	return mt, params
}

// mailParams are the parameters of a field.
type mailParams []mailField

// get returns a parameter; empty when there is none.
func (p mailParams) get(name string) string {
	for _, f := range p {
		if f.name == name {
			return f.value
		}
	}
	return ""
}

// parseParams reads a field with parameters. It tolerates common errors: missing quotes around values,
// comments after values and extra semicolons.
func parseParams(value string) (string, mailParams) {
	if strings.Contains(value, "*") { // values in pieces, or in charsets (RFC 2231)
		if first, all, err := mime.ParseMediaType(value); err == nil {
			var params mailParams
			for k, v := range all {
				params = append(params, mailField{k, v})
			}
			return first, params
		}
	}
	first, rest, _ := strings.Cut(value, ";")
	var params mailParams
	for rest != "" && len(params) < 32 {
		name, after, ok := strings.Cut(rest, "=")
		if i := strings.IndexByte(name, ';'); i >= 0 || !ok {
			if i < 0 {
				break
			}
			rest = rest[i+1:]
			continue
		}
		var v string
		v, rest = paramValue(strings.TrimLeft(after, " \t"))
		params = append(params, mailField{strings.ToLower(strings.TrimSpace(name)), v})
	}
	return strings.ToLower(strings.TrimSpace(first)), params
}

// paramValue splits off a parameter value and the semicolon after it.
func paramValue(s string) (value, rest string) {
	if !strings.HasPrefix(s, `"`) {
		value, rest, _ = strings.Cut(s, ";")
		if i := strings.Index(value, " ("); i >= 0 {
			value = value[:i] // a remark
		}
		return strings.Trim(strings.TrimSpace(value), `"'`), rest
	}
	end := 1
	for end < len(s) && s[end] != '"' {
		if s[end] == '\\' {
			end++
		}
		end++
	}
	end = min(end, len(s))
	value = s[1:end]
	if strings.IndexByte(value, '\\') >= 0 {
		value = quotedPair.Replace(value)
	}
	_, rest, _ = strings.Cut(s[end:], ";")
	return value, rest
}

var quotedPair = strings.NewReplacer(`\\`, `\`, `\"`, `"`)

// fileName returns the name of an attachment without folders.
func (h mailHeader) fileName(params mailParams) string {
	name := ""
	if value := h.raw("content-disposition"); value != "" {
		_, p := parseParams(value)
		name = p.get("filename")
	}
	name = decodeWords(clean.FirstOf(name, params.get("name")))
	if name == "" {
		return ""
	}
	return path.Base(strings.ReplaceAll(name, "\\", "/"))
}
