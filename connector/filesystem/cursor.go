package filesystem

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"slices"
)

// entry is the cursor's record of a file.
type entry struct {
	path     string
	modified int64 // microseconds since 1970
	size     int64
	hash     [8]byte // first 8 bytes of the content's SHA-256; zero: never read
}

// cursor is the state between two pages. It holds the files in walk order, and the position of an unfinished walk.
//
// The encoded form is "1", then base64 of deflate of: after, the number of entries, and the entries. An entry has the length
// of the prefix shared with the previous path, the rest of the path, time, size and hash. Strings have a length prefix.
// Numbers are varints.
type cursor struct {
	after   string // last visited path; empty: no walk in progress
	entries []entry
}

const (
	maxCursor = 256 << 20 // decoded bytes of a cursor
	maxPath   = 1024      // bytes of a path relative to its folder: the limit of external ids
)

var errCursor = errors.New("the stored position can't be read")

func sortEntries(es []entry) {
	slices.SortFunc(es, func(a, b entry) int {
		switch {
		case before(a.path, b.path):
			return -1
		case before(b.path, a.path):
			return 1
		}
		return 0
	})
}

func merge(a, b []entry) []entry {
	out := append(a, b...)
	sortEntries(out)
	return out
}

func (c *cursor) encode() (string, error) {
	b := binary.AppendUvarint(nil, uint64(len(c.after)))
	b = append(b, c.after...)
	b = binary.AppendUvarint(b, uint64(len(c.entries)))
	last := ""
	for _, e := range c.entries {
		n := 0
		for n < len(last) && n < len(e.path) && last[n] == e.path[n] {
			n++
		}
		b = binary.AppendUvarint(b, uint64(n))
		b = binary.AppendUvarint(b, uint64(len(e.path)-n))
		b = append(b, e.path[n:]...)
		b = binary.AppendVarint(b, e.modified)
		b = binary.AppendVarint(b, e.size)
		b = append(b, e.hash[:]...)
		last = e.path
	}
	var z bytes.Buffer
	w, err := flate.NewWriter(&z, flate.BestSpeed)
	if err != nil {
		return "", err
	}
	_, err = w.Write(b)
	if err = errors.Join(err, w.Close()); err != nil {
		return "", err
	}
	return "1" + base64.RawStdEncoding.EncodeToString(z.Bytes()), nil
}

func decodeCursor(s string) (c cursor, err error) {
	if s == "" {
		return c, nil
	}
	if s[0] != '1' {
		return c, errCursor
	}
	z, err := base64.RawStdEncoding.DecodeString(s[1:])
	if err != nil {
		return c, errCursor
	}
	b, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(z)), maxCursor))
	if err != nil {
		return c, errCursor
	}
	d := decoder{b: b}
	c.after = string(d.take(d.uint()))
	n := d.uint()
	last := ""
	for i := uint64(0); i < n && !d.bad; i++ {
		shared := d.uint()
		if shared > uint64(len(last)) {
			return c, errCursor
		}
		e := entry{path: last[:shared] + string(d.take(d.uint())), modified: d.int(), size: d.int()}
		if len(e.path) > maxPath {
			return c, errCursor
		}
		copy(e.hash[:], d.take(8))
		c.entries, last = append(c.entries, e), e.path
	}
	if d.bad || len(d.b) > 0 {
		return c, errCursor
	}
	return c, nil
}

// decoder reads the fields of a cursor. It sets bad at the first missing field.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.bad = true
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) int() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.bad = true
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.b)) {
		d.bad = true
		return nil
	}
	v := d.b[:n]
	d.b = d.b[n:]
	return v
}
