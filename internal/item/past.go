package item

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/contextmem/contextmem/backend"
)

// MaxPastBytes bounds the encoded size of all earlier versions of an item together. The oldest are dropped first.
const MaxPastBytes = 256 << 10

// Version holds the content and metadata of an earlier version of an item. Versions are numbered from 1.
type Version struct {
	N         int             `json:"n"`
	At        time.Time       `json:"at"` // when the version was accepted
	Until     time.Time       `json:"to"` // when the next version was accepted
	By        string          `json:"by"` // the operation that made the next version
	ExpiresAt time.Time       `json:"ex,omitzero"`
	Title     string          `json:"ti,omitempty"`
	Kind      string          `json:"ki,omitempty"`
	Filename  string          `json:"fi,omitempty"`
	MediaType string          `json:"mt,omitempty"`
	Session   string          `json:"se,omitempty"`
	Named     bool            `json:"sn,omitempty"` // the metadata named the session, not the caller
	Time      time.Time       `json:"tm,omitzero"`
	Size      int64           `json:"si"`
	Infer     bool            `json:"in,omitempty"`
	Doc       json.RawMessage `json:"do,omitempty"`
	Text      *string         `json:"tx,omitempty"` // the original, if it is valid UTF-8
	Data      []byte          `json:"da,omitempty"` // the original, if it is binary
	Shown     string          `json:"sh,omitempty"` // the extracted text, if readers are shown it instead of the original
	Lost      bool            `json:"lo,omitempty"` // the original was too large to keep
}

// Original returns the original of a version; nil if it was not kept.
func (v *Version) Original() []byte {
	if v.Text != nil {
		return []byte(*v.Text)
	}
	return v.Data
}

// Readable returns the text that readers are shown; empty for binary content.
func (v *Version) Readable() string {
	if v.Shown == "" && v.Text != nil {
		return *v.Text
	}
	return v.Shown
}

// Keep sets the original of a version and the text that readers are shown, as far as the size limits allow.
// Lost is set if the original is nil or too large.
func (v *Version) Keep(original []byte, shown string) {
	v.Text, v.Data, v.Shown, v.Lost = nil, nil, "", false
	if len(shown) <= MaxPastBytes/2 {
		v.Shown = shown
	}
	switch {
	case original == nil || len(original)+len(v.Shown) > MaxPastBytes/2:
		v.Lost = true
	case utf8.Valid(original):
		s := string(original)
		v.Text = &s
	default:
		v.Data = original
	}
}

// Expired reports whether a version has expired by now.
func (v *Version) Expired(now time.Time) bool {
	return !v.ExpiresAt.IsZero() && !v.ExpiresAt.After(now)
}

// Sees reports whether a caller with the given principals may see a version. Without principals a caller sees everything.
func (v *Version) Sees(principals []string) (bool, error) {
	if len(principals) == 0 {
		return true, nil
	}
	doc, err := Decode(v.Doc)
	if err != nil || len(doc.ACL) == 0 {
		return err == nil, err
	}
	return slices.ContainsFunc(doc.ACL, func(p string) bool { return slices.Contains(principals, p) }), nil
}

// Past holds the stored versions of an item except the newest.
type Past struct {
	Newest   int       // number of the newest version
	Versions []Version // oldest first
}

// storedPast is the stored form of a Past.
type storedPast struct {
	Newest   int               `json:"n"`
	Versions []json.RawMessage `json:"v"`
}

// DecodePast decodes the stored form; nil decodes to the Past of a first version.
func DecodePast(b []byte) (*Past, error) {
	p := &Past{Newest: 1}
	if len(b) == 0 {
		return p, nil
	}
	var s storedPast
	err := json.Unmarshal(b, &s)
	p.Newest, p.Versions = max(s.Newest, 1), make([]Version, len(s.Versions))
	for i, v := range s.Versions {
		if err == nil {
			err = json.Unmarshal(v, &p.Versions[i])
		}
	}
	if err != nil {
		return nil, fmt.Errorf("versions of a source: %w: %w", backend.ErrCorrupt, err)
	}
	return p, nil
}

// Encode returns the stored form with at most keep versions, the newest ones, and without those expired by now. It is nil for a first version.
func (p *Past) Encode(keep int, now time.Time) ([]byte, error) {
	if p.Newest <= 1 {
		return nil, nil
	}
	vs := slices.DeleteFunc(slices.Clone(p.Versions), func(v Version) bool { return v.Expired(now) })
	vs = vs[max(0, len(vs)-max(keep, 0)):]
	s, total := storedPast{p.Newest, make([]json.RawMessage, len(vs))}, 64
	from := len(vs)
	for from > 0 {
		b, err := json.Marshal(&vs[from-1])
		if err != nil {
			return nil, err
		}
		if total += len(b) + 1; total > MaxPastBytes {
			break
		}
		from--
		s.Versions[from] = b
	}
	s.Versions = s.Versions[from:]
	return json.Marshal(s)
}
