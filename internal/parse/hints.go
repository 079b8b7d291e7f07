package parse

import (
	"errors"
	"strings"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/media"
)

// hints says what the sender of a file can do about an error whose parser gives no hint of its own.
var hints = map[document.Kind]string{
	document.Internal:      "save it in another format, such as PDF or plain text",
	document.Unsupported:   "save it as PDF, DOCX, HTML or plain text",
	document.Malformed:     "send it again, or open it in its program and save it anew",
	document.Encrypted:     "save it without protection",
	document.NoText:        "send a file that has text",
	document.LimitExceeded: "split it into smaller files",
	document.Timeout:       "split it into smaller files",
}

const (
	// archiveHint is the hint for archives that are beyond the limits, or packed in a way that is not read.
	archiveHint = "unpack it and send its files one by one"
	// textHint is the hint for texts in a charset that is not known, or with bytes that no text holds.
	textHint = "save it as text in UTF-8, or give it the name ending of its format"
)

// advise gives the error of a document a hint if it has none. It returns other errors unchanged.
func advise(err error, mediaType string) error {
	var e *document.Error
	if !errors.As(err, &e) || e.Hint != "" {
		return err
	}
	e.Hint = hints[e.Kind]
	switch {
	case e.Kind == document.NoText && mediaType == media.PDF:
		e.Hint = "if its pages show text, it needs OCR"
	case e.Kind == document.Malformed && strings.Contains(e.Reason, "binary data"):
		e.Hint = textHint
	case (e.Kind == document.LimitExceeded || e.Kind == document.Unsupported) && (mediaType == media.ZIP || mediaType == media.TAR || mediaType == media.GZIP):
		e.Hint = archiveHint
	}
	return err
}
