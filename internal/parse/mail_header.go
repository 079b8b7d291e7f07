package parse

import (
	"bytes"
	"io"
	"mime"
	"path"
	"strings"
)

// mailHeader is a header as it stands, fields in order; names are in lower case.
type mailHeader []mailField

type mailField struct{ name, value string }

// splitHeader cuts a mail at its first empty line.
func splitHeader(data []byte) (head, body []byte) {
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

// parseMailHeader reads the fields and joins folded lines.
func parseMailHeader(head []byte) mailHeader {
	var h mailHeader
	var value []byte // of the last field
	end := func() {
		if len(h) > 0 {
			h[len(h)-1].value = string(value)
		}
	}
	for line := range bytes.Lines(head) {
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			continue
		}
		if (line[0] == ' ' || line[0] == '\t') && len(h) > 0 {
			if len(value) < 1<<16 {
				value = append(append(value, ' '), bytes.TrimLeft(line, " \t")...)
			}
			continue
		}
		name, rest, ok := bytes.Cut(line, []byte(":"))
		if !ok || len(h) >= 2000 {
			continue
		}
		end()
		h = append(h, mailField{name: strings.ToLower(string(bytes.TrimSpace(name)))})
		value = append(value[:0], bytes.TrimSpace(rest)...)
	}
	end()
	return h
}

// raw returns the first field of that name as it stands.
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

var wordDecoder = mime.WordDecoder{CharsetReader: func(charset string, r io.Reader) (io.Reader, error) {
	data, err := io.ReadAll(io.LimitReader(r, 1<<16))
	if err != nil {
		return nil, err
	}
	return bytes.NewReader(decodeText(data, charset)), nil
}}

// decodeWords decodes RFC 2047 words. Raw bytes beyond ASCII, which old programs send, count as text of an
// undeclared charset.
func decodeWords(s string) string {
	out, err := wordDecoder.DecodeHeader(s)
	if err != nil {
		out = s
	}
	return oneLine(string(decodeText([]byte(out), "")))
}

// contentType returns the type of a part, text/plain when there is none.
func (h mailHeader) contentType() (string, map[string]string) {
	value := h.raw("content-type")
	if value == "" {
		return typeText, nil
	}
	mt, params, err := mime.ParseMediaType(value)
	if err != nil || !strings.Contains(mt, "/") {
		mt, params = looseMediaType(value)
	}
	if alias, ok := typeAliases[mt]; ok {
		mt = alias
	}
	return mt, params
}

// looseMediaType reads a content type that breaks the rules, as many mails have.
func looseMediaType(value string) (string, map[string]string) {
	fields := strings.Split(value, ";")
	mt := strings.ToLower(strings.TrimSpace(fields[0]))
	if !strings.Contains(mt, "/") {
		mt = typeText
	}
	params := map[string]string{}
	for _, f := range fields[1:] {
		if k, v, ok := strings.Cut(f, "="); ok {
			params[strings.ToLower(strings.TrimSpace(k))] = strings.Trim(strings.TrimSpace(v), `"'`)
		}
	}
	return mt, params
}

// fileName returns the name of an attachment without folders.
func (h mailHeader) fileName(params map[string]string) string {
	name := ""
	if value := h.raw("content-disposition"); value != "" {
		_, p, err := mime.ParseMediaType(value)
		if err != nil {
			_, p = looseMediaType("x/y;" + value)
		}
		name = p["filename"]
	}
	name = decodeWords(firstOf(name, params["name"]))
	if name == "" {
		return ""
	}
	return path.Base(strings.ReplaceAll(name, "\\", "/"))
}
