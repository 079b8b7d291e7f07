package output

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/clean"
)

// Titled takes the first heading for a title that the metadata does not give.
func Titled(doc *document.Document) *document.Document {
	switch strings.ToLower(strings.Trim(doc.Title, "() \t\r\n")) {
	case "", "anonymous", "untitled", "unspecified": // what programs write that know none
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

// LimitReason says that a text was cut, for Document.Partial; limit is in bytes.
func LimitReason(limit int64) string {
	return fmt.Sprintf("the text was cut at the limit of %d bytes", limit)
}

// MaxIndent bounds the levels that are indented, so that deep nesting cannot blow up the text.
const MaxIndent = 12

// IsDocumentError reports whether err says what is wrong with the document.
func IsDocumentError(err error) bool {
	var e *document.Error
	return errors.As(err, &e) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
