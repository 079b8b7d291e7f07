package parse

import (
	"bytes"
	"context"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
)

// parseText reads plain text and source code in any common charset.
func parseText(_ context.Context, in Input, lim Limits) (*Document, error) {
	enc, data, err := textOf(in)
	if err != nil {
		return nil, err
	}
	// A little more than the limit is kept, so that the registry sees that there was more.
	t := textOut{max: int(min(lim.MaxOutput, 1<<30)) + utf8.UTFMax}
	t.buf = make([]byte, 0, min(decodedSize(enc, data), t.max+textPiece))
	if err := t.readAll(decodingReader(enc, data)); err != nil {
		return nil, err
	}
	return &Document{Text: ownedString(bytes.TrimRight(t.finish(), " \n\t"))}, nil
}

// textOf returns the encoding of a text, nil for UTF-8, and its bytes without a byte order mark; an error when the
// input is no text.
func textOf(in Input) (encoding.Encoding, []byte, error) {
	if looksBinary(head(in.Data, 64<<10)) {
		return nil, nil, malformed("the file holds binary data, not text")
	}
	_, charset := mediaTypeOf(in.ContentType)
	enc, skip := detectCharset(in.Data, charset)
	return enc, in.Data[skip:], nil
}

// parseMarkdown keeps Markdown as it is. The fields of a YAML front matter become metadata and plain lines, because
// its fence would make a heading of them.
func parseMarkdown(ctx context.Context, in Input, lim Limits) (*Document, error) {
	doc, err := parseText(ctx, in, lim)
	if err != nil {
		return nil, err
	}
	doc.Markdown = true
	if front, body, ok := frontMatter(doc.Text); ok {
		doc.frontMatter(front)
		doc.Text = body
		if lines := frontLines(front); lines != "" {
			doc.Text = lines + "\n\n" + strings.TrimLeft(body, "\n")
		}
	}
	return titled(doc), nil
}

// frontMatter splits a block between "---" lines off the beginning.
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

// frontMatter takes title, author, dates and language from the simple fields of a front matter.
func (d *Document) frontMatter(front string) {
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
			d.Created = parseTime(value)
		case "updated", "modified", "lastmod":
			d.Modified = parseTime(value)
		case "description", "summary":
			d.setMeta("description", value)
		case "tags", "keywords":
			d.setMeta("keywords", strings.Trim(value, "[] "))
		}
	}
}

// frontLines keeps the fields as text, without comments, which would look like headings.
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

// setMeta sets a field of Meta unless it is set or empty.
func (d *Document) setMeta(key, value string) {
	value = oneLine(value)
	if value == "" {
		return
	}
	if d.Meta == nil {
		d.Meta = map[string]string{}
	}
	if d.Meta[key] == "" {
		d.Meta[key] = value
	}
}
