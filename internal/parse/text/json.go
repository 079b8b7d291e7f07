package text

import (
	"bytes"
	"context"
	"slices"
	"strconv"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/charset"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/media"
	"github.com/contextmem/contextmem/internal/parse/output"
)

// ParseJSON flattens JSON, JSON Lines and concatenated JSON values into "key: value" lines.
// Indentation shows the nesting, and one blank line separates top-level values. Text that is not JSON is kept as it is.
func ParseJSON(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	if charset.LooksBinary(clean.Head(in.Data, 64<<10)) {
		return nil, document.Errorf(document.Malformed, "the file holds binary data, not JSON")
	}
	_, declared := media.Of(in.ContentType)
	data := charset.Decode(in.Data, declared)
	j := jsonReader{ctx: ctx, data: data, maxDepth: lim.MaxDepth, max: int(min(lim.MaxOutput, 1<<30))}
	j.out = make([]byte, 0, min(len(data)+len(data)/8, j.max)+4096)
	err := j.document()
	doc := &document.Document{}
	switch {
	case err == nil || err == errJSONFull:
		doc.Text = clean.String(bytes.TrimRight(j.out, "\n "))
		if err == errJSONFull {
			doc.AddPartial(output.LimitReason(lim.MaxOutput))
		}
	case err == errJSONSyntax && j.pos >= len(data) && len(bytes.TrimSpace(j.out)) > 0:
		doc.Text = clean.String(bytes.TrimRight(j.out, "\n "))
		doc.AddPartial("the JSON ends too early")
	case err == errJSONSyntax:
		doc, err = Parse(ctx, in, lim)
		if err != nil {
			return nil, err
		}
		doc.AddPartial("not valid JSON at byte " + strconv.Itoa(j.pos) + ": kept as plain text")
	default:
		return nil, err
	}
	return doc, nil
}

type jsonError string

func (e jsonError) Error() string { return string(e) }

const (
	errJSONSyntax = jsonError("json: syntax")
	errJSONFull   = jsonError("json: output limit")
)

// jsonReader reads values and writes lines.
type jsonReader struct {
	ctx      context.Context
	data     []byte
	pos      int
	out      []byte
	depth    int
	maxDepth int
	max      int
	steps    int
	scratch  []byte
}

func (j *jsonReader) document() error {
	for n := 0; ; n++ {
		j.space()
		if j.pos < len(j.data) && n > 0 && j.data[j.pos] == ',' {
			j.pos++
			j.space()
		}
		if j.pos < len(j.data) && j.data[j.pos] == 0x1e { // JSON text sequences, RFC 7464
			j.pos++
			j.space()
		}
		if j.pos >= len(j.data) {
			if n == 0 {
				return errJSONSyntax
			}
			return nil
		}
		if n > 0 {
			j.out = append(j.out, '\n')
		}
		if err := j.value(0, false); err != nil {
			return err
		}
	}
}

func (j *jsonReader) space() {
	for j.pos < len(j.data) && clean.IsSpace(j.data[j.pos]) {
		j.pos++
	}
}

// value reads one value. Objects and arrays write lines at the given level; first says that the line already has text.
func (j *jsonReader) value(level int, begun bool) error {
	j.steps++
	if j.steps&1023 == 0 && j.ctx.Err() != nil {
		return j.ctx.Err()
	}
	if len(j.out) >= j.max {
		return errJSONFull
	}
	if cap(j.out)-len(j.out) < 1024 {
		// Doubling allocates less in total than append, which grows large slices in smaller steps.
		j.out = slices.Grow(j.out, min(cap(j.out)+4096, j.max-len(j.out)+4096))
	}
	if j.pos >= len(j.data) {
		return errJSONSyntax
	}
	switch c := j.data[j.pos]; {
	case c == '{':
		return j.object(level, begun)
	case c == '[':
		return j.array(level, begun)
	case c == '"':
		s, err := j.str()
		if err != nil {
			return err
		}
		if !begun {
			j.indent(level)
		}
		if IsBase64(s) {
			j.out = append(j.out, "(base64, "+strconv.Itoa(len(s))+" characters)"...)
		} else {
			j.writeText(s, level+1)
		}
		j.out = append(j.out, '\n')
		return nil
	default:
		start := j.pos
		for j.pos < len(j.data) && isJSONScalar(j.data[j.pos]) {
			j.pos++
		}
		word := j.data[start:j.pos]
		if !validScalar(word) {
			if j.pos < len(j.data) {
				j.pos = start
			}
			return errJSONSyntax
		}
		if !begun {
			j.indent(level)
		}
		j.out = append(append(j.out, word...), '\n')
		return nil
	}
}

func isJSONScalar(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '-' || b == '+' || b == '.'
}

// validScalar accepts numbers, true, false, null, and the NaN and Infinity that some programs write.
func validScalar(b []byte) bool {
	switch string(b) {
	case "true", "false", "null", "NaN", "Infinity", "-Infinity":
		return true
	case "":
		return false
	}
	if b[0] != '-' && (b[0] < '0' || b[0] > '9') {
		return false
	}
	for _, c := range b {
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return false
		}
	}
	return true
}

func (j *jsonReader) indent(level int) {
	for range min(level, output.MaxIndent) {
		j.out = append(j.out, ' ', ' ')
	}
}

func (j *jsonReader) enter() error {
	j.depth++
	j.pos++
	if j.depth > j.maxDepth {
		return document.Errorf(document.LimitExceeded, "the JSON is nested deeper than %d levels", j.maxDepth)
	}
	return nil
}

// more moves to the next member or element and reports whether there is one before closer, which ends the value.
// It accepts a trailing comma before closer.
func (j *jsonReader) more(closer byte, first bool) (bool, error) {
	j.space()
	if !first && j.pos < len(j.data) && j.data[j.pos] == ',' {
		j.pos++
		j.space()
	} else if !first && j.pos < len(j.data) && j.data[j.pos] != closer {
		return false, errJSONSyntax
	}
	if j.pos >= len(j.data) {
		return false, errJSONSyntax
	}
	if j.data[j.pos] == closer {
		j.pos++
		j.depth--
		return false, nil
	}
	return true, nil
}

// object writes one line for each member. begun means that the first member may follow on the current line, after "- ".
// An object that is the value of a key begins a new line.
func (j *jsonReader) object(level int, begun bool) error {
	if err := j.enter(); err != nil {
		return err
	}
	first := true
	for {
		more, err := j.more('}', first)
		if err != nil {
			return err
		}
		if !more {
			if first && begun {
				j.out = append(j.out, '\n')
			}
			return nil
		}
		if j.pos >= len(j.data) || j.data[j.pos] != '"' {
			return errJSONSyntax
		}
		key, err := j.str()
		if err != nil {
			return err
		}
		if !(first && begun) {
			j.indent(level)
		}
		first = false
		j.writeText(key, level+1)
		j.out = append(j.out, ':')
		j.space()
		if j.pos >= len(j.data) || j.data[j.pos] != ':' {
			return errJSONSyntax
		}
		j.pos++
		j.space()
		if err := j.member(level); err != nil {
			return err
		}
	}
}

// member writes the value of a key: a scalar on the line of the key, any other value below it.
func (j *jsonReader) member(level int) error {
	if j.pos >= len(j.data) {
		return errJSONSyntax
	}
	if c := j.data[j.pos]; c == '{' || c == '[' {
		j.out = append(j.out, '\n')
		return j.value(level+1, false)
	}
	j.out = append(j.out, ' ')
	return j.value(level, true)
}

// array writes one "- " line for each element.
func (j *jsonReader) array(level int, begun bool) error {
	if err := j.enter(); err != nil {
		return err
	}
	first := true
	for {
		more, err := j.more(']', first)
		if err != nil {
			return err
		}
		if !more {
			if first && begun {
				j.out = append(j.out, '\n')
			}
			return nil
		}
		if !(first && begun) {
			j.indent(level)
		}
		first = false
		j.out = append(j.out, '-', ' ')
		if err := j.value(level+1, true); err != nil {
			return err
		}
	}
}
