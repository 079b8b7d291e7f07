package content

import (
	"io"
	"time"
)

// File is a document to parse.
type File struct {
	ID          string // upsert key; default: derived from name and scope, so that the same name again replaces it
	Name        string // file name, with folders or without, which are searched; its ending helps to find the format
	ContentType string // media type, may carry a charset; helps to find the format
	Data        []byte // the content; or
	// Open returns the content when Data is nil. It is read once, before the call returns.
	Open                 func() (io.ReadCloser, error)
	Title                string // default: that of the document, else the file name
	Kind                 string // free category, shown as type
	URL                  string
	Description          string
	Time                 time.Time // default: a time in the metadata, else the document's own
	Metadata, Additional map[string]any
	ForcefulRelations    *ForcefulRelations
	ACL                  []string // principals that may see it; none: everybody
}
