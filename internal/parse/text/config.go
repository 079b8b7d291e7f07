package text

import (
	"context"
	"path"
	"strings"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/lazyregexp"
)

// ParsePlain is Parse for files of any kind of plain text. It reports YAML and TOML files that end within a quoted value.
func ParsePlain(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	doc, err := Parse(ctx, in, lim)
	if err != nil {
		return nil, err
	}
	open := false
	switch strings.ToLower(path.Ext(in.Name)) {
	case ".toml":
		open = openTOML(doc.Text)
	case ".yaml", ".yml":
		open = openYAML(doc.Text)
	}
	if open {
		doc.AddPartial("a quoted value has no end: the file may be cut off")
	}
	return doc, nil
}

// openTOML reports whether a TOML text (version 1.0) ends within a string. A string in single quotation marks ends with its line.
func openTOML(text string) bool {
	for {
		i := strings.IndexAny(text, "#\"'")
		if i < 0 {
			return false
		}
		c := text[i]
		if c == '#' {
			_, text, _ = strings.Cut(text[i:], "\n")
			continue
		}
		mark := strings.Repeat(string(c), 3)
		if !strings.HasPrefix(text[i:], mark) {
			mark = mark[:1]
		}
		text = text[i+len(mark):]
		line, rest, more := strings.Cut(text, "\n")
		switch end := quoteEnd(text, mark, c == '"'); {
		case len(mark) == 1 && (end < 0 || end > len(line)):
			if !more {
				return true
			}
			text = rest // not TOML, but not cut off here
		case end < 0:
			return true
		default:
			text = text[end:]
		}
	}
}

// quoteEnd returns the offset behind the first mark in a text; negative: there is none. A backslash may precede a sign that does not count.
func quoteEnd(text, mark string, escapes bool) int {
	for i := 0; i < len(text); i++ {
		switch {
		case escapes && text[i] == '\\':
			i++
		case strings.HasPrefix(text[i:], mark):
			return i + len(mark)
		}
	}
	return -1
}

var (
	// yamlField matches the beginning of a line of YAML up to the value: indentation, hyphens of lists, and perhaps a key.
	yamlField = lazyregexp.New(`^ *(?:- +)*(?:(?:[^\s#"'{}\[\],&*!|>%@:-][^:"'#]*|"[^"]*"|'[^']*'):(?: +|$))?`)
	// yamlBlock matches the value of a field whose text are the lines below.
	yamlBlock = lazyregexp.New(`^[|>][-+0-9]{0,2}\s*(?:#.*)?$`)
)

// openYAML reports whether a YAML text ends within a quoted value of a field or of a list with one value in a line.
func openYAML(text string) bool {
	block := -1 // the indentation of the field whose text the lines are; negative: they are none
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		trimmed := strings.TrimLeft(line, " ")
		indent := len(line) - len(trimmed)
		if trimmed == "" || block >= 0 && indent > block || trimmed[0] == '#' {
			text = rest
			continue
		}
		block = -1
		start := len(yamlField.FindString(line))
		value := line[start:]
		for strings.HasPrefix(trimmed, "- ") && strings.TrimLeft(trimmed[2:], " ") != value {
			trimmed = strings.TrimLeft(trimmed[2:], " ")
		}
		switch {
		case yamlBlock.MatchString(value):
			block = strings.LastIndex(line[:start], trimmed[:len(trimmed)-len(value)])
		case start > 0 && value != "" && (value[0] == '"' || value[0] == '\''):
			mark := value[:1]
			end := quoteEnd(text[start+1:], mark, mark == `"`)
			for end >= 0 && mark == "'" && strings.HasPrefix(text[start+1+end:], "'") { // two of them are one that is quoted
				more := quoteEnd(text[start+1+end+1:], mark, false)
				if more < 0 {
					end = -1
					break
				}
				end += 1 + more
			}
			if end < 0 {
				return true
			}
			_, rest, _ = strings.Cut(text[start+1+end:], "\n")
		}
		text = rest
	}
	return false
}
