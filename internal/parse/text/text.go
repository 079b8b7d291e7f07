// Package text reads plain text, Markdown, separated values and JSON.
package text

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/lazyregexp"
	"github.com/contextmem/contextmem/internal/parse/charset"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/media"
	"github.com/contextmem/contextmem/internal/parse/output"
)

// Parse reads plain text and source code in any common charset.
func Parse(_ context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	enc, data, err := textOf(in)
	if err != nil {
		return nil, err
	}
	if enc == nil && output.IsClean(data) {
		return textDocument(data), nil // the document shares the memory of the file
	}
	// The text kept is slightly longer than the limit, so that the registry notices the excess.
	t := output.Collector{Max: int(min(lim.MaxOutput, 1<<30)) + utf8.UTFMax}
	t.Buf = make([]byte, 0, min(charset.DecodedSize(enc, data), t.Max+output.Piece))
	if err := t.ReadAll(charset.DecodingReader(enc, data)); err != nil {
		return nil, err
	}
	doc := textDocument(t.Finish())
	if charset.Mixed(enc, data) {
		doc.AddPartial("letters are in UTF-8 where the text is taken to be, or said to be, in another charset: they may be wrong")
	}
	return doc, nil
}

// textDocument makes a document of a text. The text must not change afterwards.
func textDocument(text []byte) *document.Document {
	doc := &document.Document{Text: clean.String(bytes.TrimRight(text, " \n\t"))}
	if isEncoded(doc.Text) {
		doc.AddPartial("the file holds encoded data and no words")
	}
	if strings.Contains(doc.Text, "\uFFFD") {
		doc.AddPartial("some bytes are no text in the charset of the file, and were replaced")
	}
	return doc
}

// minEncoded is the smallest size in bytes of a text that isEncoded may classify as encoded data.
const minEncoded = 1024

// isEncoded reports whether a text is data in base64 or hexadecimal digits.
// Such a text is one long line of digits, or base64 lines that all have one length except the last.
func isEncoded(text string) bool {
	if len(text) < minEncoded {
		return false
	}
	rest, width := text, strings.IndexByte(text, '\n')
	if width < 0 {
		width = len(text)
	}
	if width < 60 || width < minEncoded && width != 64 && width != 76 {
		return false
	}
	var lower, upper, digit bool
	for rest != "" {
		line, more, _ := strings.Cut(rest, "\n")
		if rest = more; len(line) != width && rest != "" {
			return false
		}
		for _, c := range []byte(strings.TrimRight(line, "=")) {
			switch {
			case c >= '0' && c <= '9':
				digit = true
			case c >= 'a' && c <= 'z':
				lower = true
			case c >= 'A' && c <= 'Z':
				upper = true
			case c != '+' && c != '/' && c != '-' && c != '_':
				return false
			}
		}
	}
	return digit && (lower && upper || width >= minEncoded)
}

// textOf returns the encoding of a text, nil for UTF-8, and its bytes without a byte order mark.
// It returns an error when the input is not text.
func textOf(in document.Input) (encoding.Encoding, []byte, error) {
	if charset.LooksBinary(clean.Head(in.Data, 64<<10)) {
		return nil, nil, document.Errorf(document.Malformed, "the file holds binary data, not text")
	}
	for _, mark := range sealed {
		if bytes.HasPrefix(bytes.TrimLeft(clean.Head(in.Data, 1024), "\xef\xbb\xbf \r\n"), []byte(mark)) {
			return nil, nil, document.NewError(document.Encrypted, "the text is encrypted", nil).WithHint("decrypt it")
		}
	}
	_, declared := media.Of(in.ContentType)
	enc, skip := charset.Detect(in.Data, declared)
	return enc, in.Data[skip:], nil
}

// sealed lists the beginnings of encrypted texts: OpenPGP (RFC 9580), age, Ansible Vault.
var sealed = []string{"-----BEGIN PGP MESSAGE-----", "-----BEGIN AGE ENCRYPTED FILE-----", "$ANSIBLE_VAULT;"}

// ParseMarkdown keeps Markdown as it is. The fields of a YAML front matter become metadata and plain lines,
// because Markdown would read the closing "---" as a heading underline.
func ParseMarkdown(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	doc, err := Parse(ctx, in, lim)
	if err != nil {
		return nil, err
	}
	doc.Markdown = true
	if front, body, ok := frontMatter(doc.Text); ok {
		setFrontMatter(doc, front)
		doc.Text = body
		if lines := frontLines(front); lines != "" {
			doc.Text = lines + "\n\n" + strings.TrimLeft(body, "\n")
		}
	} else if openFront(doc.Text) {
		doc.AddPartial("the front matter has no end: the file may be cut off")
	}
	return output.Titled(doc), nil
}

// frontMatter splits a leading block between "---" lines from the rest.
func frontMatter(text string) (front, body string, ok bool) {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return "", text, false
	}
	end := strings.Index(rest[:min(len(rest), 1<<16)], "\n---")
	if dots := strings.Index(rest[:min(len(rest), 1<<16)], "\n..."); dots >= 0 && (end < 0 || dots < end) {
		end = dots
	}
	if end < 0 {
		return "", text, false
	}
	front, body = rest[:end], rest[end+4:]
	if line, after, _ := strings.Cut(body, "\n"); strings.Trim(line, "- ") == "" {
		body = after
	} else {
		return "", text, false
	}
	first, _, _ := strings.Cut(strings.TrimSpace(front), "\n")
	if !strings.Contains(first, ":") && !strings.HasPrefix(first, "#") {
		return "", text, false
	}
	return front, body, true
}

var (
	// frontLine matches a line of YAML: a field, an entry of a list, or what is indented.
	frontLine = lazyregexp.New(`^(?:[A-Za-z_][\w -]{0,40}:(?:\s|$)|-(?:\s|$)|\s+\S)`)
	// frontField matches a field that front matters usually have.
	frontField = lazyregexp.New(`(?i)^(?:title|author|authors|date|created|updated|modified|lastmod|lang|language|description|summary|tags|keywords|categories|layout|draft|slug|permalink):(?:\s|$)`)
)

// openFront reports whether a text begins with a front matter that does not end: its first line has a usual field, or all of its lines are YAML and
// more than two. A rule followed by a paragraph with a colon is none.
func openFront(text string) bool {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok || strings.Contains(rest, "\n---") || strings.Contains(rest, "\n...") {
		return false
	}
	if frontField.MatchString(rest) {
		return true
	}
	lines := strings.Split(rest, "\n")
	return len(lines) > 2 && !strings.HasPrefix(lines[0], "-") && !strings.HasPrefix(lines[0], " ") &&
		!slices.ContainsFunc(lines[:len(lines)-1], func(l string) bool { return !frontLine.MatchString(l) })
}

// frontMatter takes title, author, dates and language from the simple fields of a front matter.
func setFrontMatter(d *document.Document, front string) {
	for line := range strings.Lines(front) {
		key, value, ok := strings.Cut(strings.TrimRight(line, "\n"), ":")
		if !ok || key == "" || key[0] == ' ' || key[0] == '#' || key[0] == '-' {
			continue
		}
		value = strings.Trim(strings.TrimSpace(value), `"'`)
		if value == "" || value[0] == '|' || value[0] == '>' {
			continue
		}
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "title":
			d.Title = value
		case "author", "authors":
			d.Author = strings.Trim(value, "[] ")
		case "lang", "language":
			d.Language = value
		case "date", "created":
			d.Created = clean.Time(value)
		case "updated", "modified", "lastmod":
			d.Modified = clean.Time(value)
		case "description", "summary":
			output.SetMeta(d, "description", value)
		case "tags", "keywords":
			output.SetMeta(d, "keywords", strings.Trim(value, "[] "))
		}
	}
}

// FrontMatter returns the fields of a YAML front matter as plain values: strings, integers, booleans and lists of them.
// It returns nil when data has no front matter and leaves out values of any other form.
func FrontMatter(data []byte) map[string]any {
	head := strings.ReplaceAll(string(bytes.TrimPrefix(clean.Head(data, 1<<16), []byte("\xef\xbb\xbf"))), "\r\n", "\n")
	if !utf8.ValidString(head) {
		head = strings.ToValidUTF8(head, "")
	}
	front, _, ok := frontMatter(head)
	if !ok {
		return nil
	}
	out := map[string]any{}
	list := "" // the key whose items follow
	for line := range strings.Lines(front) {
		line = strings.TrimRight(line, "\n ")
		if item, ok := strings.CutPrefix(strings.TrimLeft(line, " "), "- "); ok && list != "" {
			items, _ := out[list].([]any)
			if v, ok := frontValue(item); ok && len(items) < 100 {
				out[list] = append(items, v)
			}
			continue
		}
		list = ""
		key, value, ok := strings.Cut(line, ":")
		if !ok || key == "" || strings.ContainsAny(key[:1], " #-\"'{[") || len(out) >= 50 {
			continue
		}
		if value = strings.TrimSpace(value); value == "" {
			list = key
			continue
		}
		if inner, ok := strings.CutPrefix(value, "["); ok && strings.HasSuffix(inner, "]") {
			var items []any
			for _, s := range strings.Split(strings.TrimSuffix(inner, "]"), ",") {
				if v, ok := frontValue(s); ok && len(items) < 100 {
					items = append(items, v)
				}
			}
			if items != nil {
				out[key] = items
			}
			continue
		}
		if v, ok := frontValue(value); ok {
			out[key] = v
		}
	}
	for k, v := range out {
		if v == nil {
			delete(out, k)
		}
	}
	return out
}

// frontValue parses a plain YAML scalar or list.
func frontValue(s string) (any, bool) {
	s = strings.TrimSpace(s)
	if n := len(s); n > 1 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] {
		return s[1 : n-1], true
	}
	if i := strings.Index(s, " #"); i >= 0 {
		s = strings.TrimSpace(s[:i])
	}
	switch {
	case s == "" || strings.ContainsAny(s[:1], "|>&*!{[%@`") || s == "null" || s == "~":
		return nil, false
	case s == "true" || s == "false":
		return s == "true", true
	}
	if n, err := strconv.Atoi(s); err == nil && strconv.Itoa(n) == s && len(s) < 16 {
		return float64(n), true
	}
	return s, true
}

// frontLines returns the fields as text. It drops comments, which would look like headings.
func frontLines(front string) string {
	var kept []string
	for line := range strings.Lines(front) {
		line = strings.TrimRight(line, "\n ")
		if line != "" && !strings.HasPrefix(strings.TrimSpace(line), "#") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}
