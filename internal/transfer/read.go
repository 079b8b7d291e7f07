package transfer

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/contextmem/contextmem/fault"
)

// reader reads the lines of an export. Each of its errors names the line.
type reader struct {
	op   string
	in   *bufio.Reader
	max  int64
	hash hash.Hash
	buf  []byte
	at   int // number of lines read so far
}

func newReader(op string, r io.Reader, maxLine int64) *reader {
	return &reader{op: op, in: bufio.NewReaderSize(r, 64<<10), max: maxLine, hash: sha256.New()}
}

// bad returns an error about the line that was read last.
func (r *reader) bad(format string, args ...any) error {
	return &fault.Error{Op: r.op, Kind: fault.KindInvalid, Resource: fault.Tenant, Err: fmt.Errorf("line %d %s", r.at, fmt.Sprintf(format, args...))}
}

// next returns the next line. The line is valid until the next call.
func (r *reader) next() (*line, error) {
	r.at++
	r.buf = r.buf[:0]
	for {
		part, err := r.in.ReadSlice('\n')
		if int64(len(r.buf)+len(part)) > r.max {
			return nil, r.bad("is over the limit of %d bytes", r.max)
		}
		r.buf = append(r.buf, part...)
		if err == nil {
			break
		}
		if errors.Is(err, io.EOF) {
			return nil, r.bad("is cut off: the file has no end")
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, fmt.Errorf("read line %d: %w", r.at, err)
		}
	}
	l := new(line)
	d := json.NewDecoder(bytes.NewReader(r.buf))
	d.DisallowUnknownFields()
	if err := d.Decode(l); err != nil {
		return nil, r.malformed(err)
	}
	if d.InputOffset() != int64(len(bytes.TrimRight(r.buf, "\r\n\t "))) {
		return nil, r.bad("goes on behind its object, at byte %d", d.InputOffset())
	}
	if l.members() != 1 {
		return nil, r.bad("must have exactly one of header, item, merge, boost and end")
	}
	if l.End == nil {
		r.hash.Write(r.buf)
	}
	return l, nil
}

// malformed returns the error for a line that is not valid JSON of the format. The error quotes nothing of the line.
func (r *reader) malformed(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return r.bad("is not valid JSON, at byte %d", syntax.Offset)
	case errors.As(err, &kind):
		return r.bad("has a wrong type in field %q", kind.Field)
	}
	return r.bad("is not of the format: a member is unknown or has a wrong form")
}

// check compares the end line of a file with the counts of what was read.
func (r *reader) check(have, want end) error {
	have.SHA256 = hex.EncodeToString(r.hash.Sum(nil))
	if want.SHA256 == "" { // the file was written by hand
		have.SHA256 = ""
	}
	switch {
	case have.Items != want.Items || have.Merges != want.Merges || have.Boosts != want.Boosts:
		return r.bad("says %d items, %d merges and %d boosts, the file has %d, %d and %d", want.Items, want.Merges, want.Boosts, have.Items, have.Merges, have.Boosts)
	case have.SHA256 != want.SHA256:
		return r.bad("has another SHA-256 than the lines before it: the file was damaged")
	}
	_, err := r.in.ReadByte()
	if err == nil {
		r.at++
		return r.bad("stands behind the end")
	}
	if !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

func (l *line) members() (n int) {
	for _, there := range [...]bool{l.Header != nil, l.Item != nil, l.Merge != nil, l.Boost != nil, l.End != nil} {
		if there {
			n++
		}
	}
	return n
}
