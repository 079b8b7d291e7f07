// Package item is the record that contextmem keeps with every source beside the
// columns that backends know: what the caller said of the item and what the
// pipeline found out. Backends store it as opaque bytes.
package item

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// Doc is the record. Keys are short because there is one per source.
type Doc struct {
	UserName          string          `json:"un,omitempty"`
	Instructions      string          `json:"ci,omitempty"`
	Markdown          bool            `json:"md,omitempty"` // a memory's text is markdown
	Pairs             bool            `json:"pr,omitempty"` // the original is rendered user/assistant turns
	Turns             []Turn          `json:"tn,omitempty"` // of a conversation
	NamedTitle        bool            `json:"nt,omitempty"` // the title was given, not derived
	URL               string          `json:"u,omitempty"`
	Description       string          `json:"d,omitempty"`
	Note              string          `json:"n,omitempty"`
	Timestamp         string          `json:"ts,omitempty"` // as given
	Zone              int             `json:"z,omitempty"`  // of the item's time, seconds east of UTC, by which its relative dates are read
	App               *App            `json:"a,omitempty"`
	ForcefulRelations json.RawMessage `json:"r,omitempty"`   // as given, canonical shape
	ACL               []string        `json:"acl,omitempty"` // principals that may see it; none: everybody
	Dense             []string        `json:"ef,omitempty"`  // values of metadata fields with a dense embedding
	Sparse            []string        `json:"sf,omitempty"`  // values of metadata fields in the keyword index
	Meta              json.RawMessage `json:"m,omitempty"`   // app items: free members
	Supplied          bool            `json:"sg,omitempty"`  // a graph came with the item
	Partial           string          `json:"p,omitempty"`   // why the parsed text may be incomplete
	Extracted         bool            `json:"x,omitempty"`   // readers are shown the extracted text, not the original
	Folder            string          `json:"fo,omitempty"`  // of a file: the folders of its name, with slashes between them
	Fingerprint       []byte          `json:"fp,omitempty"`  // of a file and all that was said of it, as it was handed in
}

// partialMark stands in every record that says Partial.
var partialMark = []byte(`"p":"`)

// PartialOf returns Partial of a stored record. Most records hold none, and are not decoded.
func PartialOf(record []byte) (string, error) {
	if !bytes.Contains(record, partialMark) {
		return "", nil
	}
	d, err := Decode(record)
	if err != nil {
		return "", err
	}
	return d.Partial, nil
}

// fingerprintMark begins the last member of a record that has a fingerprint.
var fingerprintMark = []byte(`"fp":"`)

// WithoutFingerprint returns the part of a stored record before its fingerprint, the whole record where it has none. Records
// with equal parts are equal but for their fingerprints.
func WithoutFingerprint(record []byte) []byte {
	rest, ok := bytes.CutSuffix(record, []byte(`"}`))
	if !ok {
		return record
	}
	digits := bytes.LastIndexByte(rest, '"') + 1
	if !bytes.HasSuffix(rest[:digits], fingerprintMark) || bytes.IndexByte(rest[digits:], '{') >= 0 || bytes.IndexByte(rest[digits:], '}') >= 0 { // it belongs to something inside the record
		return record
	}
	return rest[:digits-len(fingerprintMark)]
}

// Turn is one message of a conversation in the original, of which it is the bytes [Start, End).
type Turn struct {
	Start int        `json:"s"`
	End   int        `json:"e"`
	Role  string     `json:"r,omitempty"` // empty: user
	Name  string     `json:"n,omitempty"` // as given
	Time  *time.Time `json:"t,omitempty"` // as given
}

// User reports whether a user speaks.
func (t *Turn) User() bool { return t.Role == "" }

// App is what is special about an item from an application.
type App struct {
	Kind        string          `json:"k,omitempty"`
	Provider    string          `json:"p,omitempty"`
	ExternalID  string          `json:"x,omitempty"`
	ParentID    string          `json:"px,omitempty"` // external id of the parent
	ThreadID    string          `json:"t,omitempty"`
	Status      string          `json:"st,omitempty"`
	Priority    string          `json:"pr,omitempty"`
	Actors      []string        `json:"ac,omitempty"`
	Fields      json.RawMessage `json:"f,omitempty"`
	Attachments json.RawMessage `json:"at,omitempty"`
	Comments    json.RawMessage `json:"co,omitempty"`
}

// Encode returns the stored form; the zero Doc is nil.
func (d *Doc) Encode() ([]byte, error) {
	b, err := json.Marshal(d)
	if err != nil || string(b) == "{}" {
		return nil, err
	}
	return b, nil
}

// Decode reads the stored form; nil is the zero Doc.
func Decode(b []byte) (*Doc, error) {
	d := new(Doc)
	if len(b) == 0 {
		return d, nil
	}
	if err := json.Unmarshal(b, d); err != nil {
		return nil, fmt.Errorf("record of a source: %w: %w", backend.ErrCorrupt, err)
	}
	return d, nil
}

// ChunkPrefix is what the keys of a source's chunks begin with: equal for all
// versions of an item, different between items of any partition of a tenant.
func ChunkPrefix(part backend.Partition, id string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d\x00%d\x00%s\x00%s", part.Class, len(part.Sub), part.Sub, id)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// ChunkKey is the key of chunk n of a source with the prefix.
func ChunkKey(prefix string, n int) string { return prefix + "_chunk_" + strconv.Itoa(n) }
