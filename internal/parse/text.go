package parse

import (
	"context"
	"strings"
	"unicode/utf8"
)

// parseText reads plain text and source code in any common charset.
func parseText(_ context.Context, in Input, lim Limits) (*Document, error) {
	data, shared, err := textOf(in, lim)
	if err != nil {
		return nil, err
	}
	text := ""
	if shared {
		text = string(data) // the document may outlive the input
	} else {
		text = ownedString(data)
	}
	return &Document{Text: strings.TrimRight(cleanText(text), " \n\t")}, nil
}

// textOf returns the input as UTF-8, or an error when it is no text. It keeps a little more than the output limit,
// so that the registry sees that there was more. shared says that the result is a part of the input.
func textOf(in Input, lim Limits) (data []byte, shared bool, err error) {
	if looksBinary(head(in.Data, 64<<10)) {
		return nil, false, malformed("the file holds binary data, not text")
	}
	_, charset := mediaTypeOf(in.ContentType)
	most := int(min(lim.MaxOutput, 1<<30)) + utf8.UTFMax
	enc, skip := detectCharset(in.Data, charset)
	data = in.Data[skip:]
	if enc != nil {
		return decodeMax(enc, data, most), false, nil
	}
	if len(data) > most {
		for most > 0 && !utf8.RuneStart(data[most]) {
			most--
		}
		data = data[:most]
	}
	valid := toValid(data)
	return valid, len(valid) == len(data), nil
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
