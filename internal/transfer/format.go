package transfer

import (
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/internal/feedback"
)

// FormatVersion is the version of the format described in docs/export.md.
const FormatVersion = 1

// line is one line of a file. Exactly one field is set.
type line struct {
	Header *header           `json:"header,omitempty"`
	Item   *itemLine         `json:"item,omitempty"`
	Merge  *mergeLine        `json:"merge,omitempty"`
	Boost  *feedback.Opinion `json:"boost,omitempty"`
	End    *end              `json:"end,omitempty"`
}

// header is the first line of a file.
type header struct {
	Format       int             `json:"format"`
	Tenant       string          `json:"tenant"`
	Exported     time.Time       `json:"exported"`
	Embeddings   bool            `json:"embeddings,omitempty"`
	Dimension    int             `json:"dimension,omitempty"`
	Schema       []content.Field `json:"schema,omitempty"`
	Instructions string          `json:"instructions,omitempty"`
	Counts       counts          `json:"counts"`
}

// counts are the numbers of items at the start of the export.
type counts struct {
	Knowledge int `json:"knowledge"`
	Memory    int `json:"memory"`
	Raw       int `json:"raw"`
}

// end is the last line of a file. A file without it is truncated.
type end struct {
	Items  int    `json:"items"`
	Merges int    `json:"merges"`
	Boosts int    `json:"boosts"`
	SHA256 string `json:"sha256,omitempty"` // of all bytes before the line, in hexadecimal
}

// itemLine is the line of an item.
type itemLine struct {
	Class      string          `json:"class"`
	Sub        string          `json:"sub,omitempty"` // empty: the default sub-tenant
	ID         string          `json:"id"`
	State      string          `json:"state"`
	ErrorCode  string          `json:"error_code,omitempty"`
	Error      string          `json:"error,omitempty"`
	Title      string          `json:"title,omitempty"`
	Kind       string          `json:"kind,omitempty"`
	Filename   string          `json:"filename,omitempty"`
	MediaType  string          `json:"media_type,omitempty"`
	Size       int64           `json:"size,omitempty"`
	Infer      bool            `json:"infer,omitempty"`
	CreatedAt  time.Time       `json:"created_at"`
	UpdatedAt  time.Time       `json:"updated_at"`
	Time       time.Time       `json:"time,omitzero"`
	ExpiresAt  time.Time       `json:"expires_at,omitzero"`
	Session    string          `json:"session,omitempty"`
	Metadata   json.RawMessage `json:"metadata,omitempty"`
	Additional json.RawMessage `json:"additional,omitempty"`
	Doc        json.RawMessage `json:"doc,omitempty"`
	Tags       []byte          `json:"tags,omitempty"` // 8 bytes per tag, little endian
	Original   *blob           `json:"original,omitempty"`
	Supplied   *blob           `json:"supplied,omitempty"`
	Past       json.RawMessage `json:"versions,omitempty"` // content of earlier versions
	Vectors    []vectorLine    `json:"vectors,omitempty"`
}

// blob holds content as text if it is valid UTF-8, else as bytes.
type blob struct {
	Text  *string `json:"text,omitempty"`
	Bytes []byte  `json:"base64,omitempty"`
}

func newBlob(b []byte) *blob {
	if utf8.Valid(b) {
		s := string(b)
		return &blob{Text: &s}
	}
	return &blob{Bytes: b}
}

func (b *blob) data() []byte {
	if b.Text != nil {
		return []byte(*b.Text)
	}
	return b.Bytes
}

// vectorLine is a vector supplied by a caller.
type vectorLine struct {
	Chunk  string `json:"chunk"`
	Vector []byte `json:"vector"` // IEEE 754, 4 bytes per number, little endian
}

// mergeLine is the line of a merge of entities.
type mergeLine struct {
	Class  string    `json:"class"`
	Sub    string    `json:"sub,omitempty"`
	From   string    `json:"from"`
	Into   string    `json:"into"`
	Reason string    `json:"reason,omitempty"`
	At     time.Time `json:"at"`
	Undone bool      `json:"undone,omitempty"`
	Stated bool      `json:"stated,omitempty"`
}

var classNames = map[backend.Class]string{backend.Knowledge: "knowledge", backend.Memory: "memory", backend.Raw: "raw"}

// classOf returns the class with the given name, or 0 if there is none.
func classOf(name string) backend.Class {
	for c, n := range classNames {
		if n == name {
			return c
		}
	}
	return 0
}

var stateNames = map[backend.State]string{backend.Queued: "queued", backend.Processing: "processing", backend.GraphCreation: "graph_creation",
	backend.Completed: "completed", backend.Errored: "errored"}
