// Package item defines the record that contextmem keeps with every source, in addition
// to the columns that backends know: the caller's statements about the item and
// the results of the pipeline. Backends store it as opaque bytes.
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
	Turns             []Turn          `json:"tn,omitempty"` // turns of a conversation
	NamedTitle        bool            `json:"nt,omitempty"` // the caller gave the title; otherwise it is derived
	URL               string          `json:"u,omitempty"`
	Description       string          `json:"d,omitempty"`
	Note              string          `json:"n,omitempty"`
	Timestamp         string          `json:"ts,omitempty"` // the item's time as the caller gave it
	Zone              int             `json:"z,omitempty"`  // offset of the item's time in seconds east of UTC, used to resolve its relative dates
	App               *App            `json:"a,omitempty"`
	ForcefulRelations json.RawMessage `json:"r,omitempty"`   // as the caller gave them, in canonical form
	ACL               []string        `json:"acl,omitempty"` // principals that may see the item; empty: everybody
	Dense             []string        `json:"ef,omitempty"`  // values of metadata fields with a dense embedding
	Sparse            []string        `json:"sf,omitempty"`  // values of metadata fields in the keyword index
	Meta              json.RawMessage `json:"m,omitempty"`   // app items: free members
	Supplied          bool            `json:"sg,omitempty"`  // the caller supplied a graph with the item
	Partial           string          `json:"p,omitempty"`   // why the parsed text may be incomplete
	Extracted         bool            `json:"x,omitempty"`   // readers are shown the extracted text, not the original
	Folder            string          `json:"fo,omitempty"`  // folders in the file's name, separated by slashes
	Fingerprint       []byte          `json:"fp,omitempty"`  // hash of a file and its metadata as the caller sent them
}

// partialMark occurs in every record with a Partial.
var partialMark = []byte(`"p":"`)

// PartialOf returns Partial of a stored record. It avoids decoding the many records without one.
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

// fingerprintMark begins the last member of records with a fingerprint.
var fingerprintMark = []byte(`"fp":"`)

// WithoutFingerprint returns the part of a stored record before its fingerprint, or the whole record if it has none.
// Records with equal results differ at most in their fingerprints.
func WithoutFingerprint(record []byte) []byte {
	rest, ok := bytes.CutSuffix(record, []byte(`"}`))
	if !ok {
		return record
	}
	digits := bytes.LastIndexByte(rest, '"') + 1
	if !bytes.HasSuffix(rest[:digits], fingerprintMark) || bytes.IndexByte(rest[digits:], '{') >= 0 || bytes.IndexByte(rest[digits:], '}') >= 0 { // the mark belongs to a value inside the record
		return record
	}
	return rest[:digits-len(fingerprintMark)]
}

// Turn is one message of a conversation: the bytes [Start, End) of the original.
type Turn struct {
	Start int        `json:"s"`
	End   int        `json:"e"`
	Role  string     `json:"r,omitempty"` // empty for a user
	Name  string     `json:"n,omitempty"` // as the caller gave it
	Time  *time.Time `json:"t,omitempty"` // as the caller gave it
}

// User reports whether a user speaks.
func (t *Turn) User() bool { return t.Role == "" }

// App holds the fields of an item from an application.
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

// Encode returns the stored form; nil for the zero Doc.
func (d *Doc) Encode() ([]byte, error) {
	b, err := json.Marshal(d)
	if err != nil || string(b) == "{}" {
		return nil, err
	}
	return b, nil
}

// Decode decodes the stored form; nil decodes to the zero Doc.
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

// ChunkPrefix returns the prefix of the keys of a source's chunks. It is equal for all
// versions of an item, and different for different items of a tenant.
func ChunkPrefix(part backend.Partition, id string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d\x00%d\x00%s\x00%s", part.Class, len(part.Sub), part.Sub, id)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// ChunkKey returns the key of chunk n of the source with the given prefix.
func ChunkKey(prefix string, n int) string { return prefix + "_chunk_" + strconv.Itoa(n) }
