package output

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/clean"
)

// Titled sets the title to the first heading when the metadata has no title.
func Titled(doc *document.Document) *document.Document {
	switch strings.ToLower(strings.Trim(doc.Title, "() \t\r\n")) {
	case "", "anonymous", "untitled", "unspecified": // placeholders that programs write for an unknown title
		doc.Title = FirstHeading(doc.Text)
	}
	return doc
}

// FirstHeading returns the text of the first heading of Markdown within its first lines.
func FirstHeading(text string) string {
	for line := range strings.Lines(text[:min(len(text), 1<<14)]) {
		if rest := strings.TrimLeft(line, "#"); len(rest) < len(line) && strings.HasPrefix(rest, " ") {
			return strings.TrimSpace(strings.TrimRight(rest, "# \n"))
		}
	}
	return ""
}

// SetMeta sets a field of Meta unless it is set or empty.
func SetMeta(d *document.Document, key, value string) {
	value = clean.OneLine(value)
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

// LimitReason returns the reason for Document.Partial when a text was cut at limit bytes.
func LimitReason(limit int64) string {
	return fmt.Sprintf("the text was cut at the limit of %d bytes", limit)
}

// MaxIndent limits the indented levels, so that deep nesting cannot inflate the text.
const MaxIndent = 12

// IsDocumentError reports whether err is a [document.Error] or means that the context ended.
func IsDocumentError(err error) bool {
	var e *document.Error
	return errors.As(err, &e) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
