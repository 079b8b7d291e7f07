package pdf

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"io"
)

// maxFilters bounds the chain of filters of one stream.
const maxFilters = 8

// errImageFilter means that a stream is image data, which has no text.
var errImageFilter = errors.New("image data")

// decode decrypts and decodes a stream. For damaged data it returns the part that could be decoded, without an error.
func (d *document) decode(s *stream) ([]byte, error) { return d.decodeInto(nil, s) }

// decodeInto is decode with a buffer that the result may use and then owns.
func (d *document) decodeInto(space *[]byte, s *stream) ([]byte, error) {
	if d.crypt == nil || d.crypt.streamMethod == cryptNone {
		return d.decodePlain(space, s)
	}
	method := d.crypt.streamMethod
	filters, params := d.filters(s.dict)
	for i, f := range filters {
		if n := d.name(d.dict(params[i])["Name"]); f == "Crypt" && (n == "" || n == "Identity") {
			method = cryptNone
		}
	}
	if t := s.dict["Type"]; t == name("XRef") || t == name("Metadata") && !d.crypt.encryptMeta {
		method = cryptNone
	}
	raw := s.raw
	if method != cryptNone {
		if d.decoded -= int64(len(raw)); d.decoded < 0 {
			return nil, d.overLimit()
		}
		raw = d.crypt.bytes(raw, s.id, method)
	}
	return d.decodePlain(space, &stream{dict: s.dict, raw: raw, id: s.id})
}

// overLimit ends the reading because the limit of decoded bytes is used up.
func (d *document) overLimit() error {
	err := fmt.Errorf("%w: too much decoded data", ErrLimit)
	d.note(partialTooLarge)
	d.fail(err)
	return err
}

// filters returns the names of a stream's filters and their parameters, in slices of equal length.
func (d *document) filters(dic dict) ([]name, []any) {
	f, p := dic["Filter"], dic["DecodeParms"]
	if f == nil {
		f = dic["F"]
	}
	if p == nil {
		p = dic["DP"]
	}
	var names []name
	switch v := d.resolve(f).(type) {
	case name:
		names = []name{v}
	case array:
		for _, o := range v[:min(len(v), maxFilters)] {
			names = append(names, d.name(o))
		}
	}
	params := make([]any, len(names))
	switch v := d.resolve(p).(type) {
	case dict:
		if len(params) > 0 {
			params[0] = v
		}
	case array:
		copy(params, v)
	}
	return names, params
}

// decodePlain decodes a stream that is not encrypted or was decrypted. The last filter may write to space, if it is not nil.
func (d *document) decodePlain(space *[]byte, s *stream) ([]byte, error) {
	data := s.raw
	names, params := d.filters(s.dict)
	for i, f := range names {
		limit := min(d.lim.MaxStreamBytes, d.decoded)
		if limit <= 0 || d.stop != nil {
			return nil, d.overLimit()
		}
		parms := d.dict(params[i])
		var out []byte
		var whole bool
		switch f {
		case "FlateDecode", "Fl":
			if space == nil || i < len(names)-1 {
				out, whole = d.inflate(nil, data, limit)
			} else {
				out, whole = d.inflate(*space, data, limit)
				*space = out
			}
		case "LZWDecode", "LZW":
			early, ok := d.integer(parms["EarlyChange"])
			out, whole = lzwDecode(data, limit, !ok || early != 0)
		case "ASCII85Decode", "A85":
			out, whole = ascii85Decode(data, limit)
		case "ASCIIHexDecode", "AHx":
			l := lexer{b: append([]byte{'<'}, data[:min(int64(len(data)), 2*limit)]...)}
			out, whole = []byte(l.hex()), true
		case "RunLengthDecode", "RL":
			out, whole = runLengthDecode(data, limit)
		case "Crypt":
			continue
		case "DCTDecode", "DCT", "JPXDecode", "CCITTFaxDecode", "CCF", "JBIG2Decode":
			return nil, errImageFilter
		default:
			return nil, fmt.Errorf("%w: unknown filter", ErrMalformed)
		}
		if int64(len(out)) >= limit {
			d.note(partialTooLarge)
		} else if !whole {
			d.note(partialStream)
		}
		d.decoded -= int64(len(out))
		if f != "ASCII85Decode" && f != "ASCIIHexDecode" {
			out = d.unpredict(out, parms)
		}
		data = out
		if err := d.ctx.Err(); err != nil {
			d.fail(err)
			return nil, err
		}
	}
	return data, nil
}

// inflate decodes zlib data, or raw deflate data without its header. A wrong checksum counts as damage, a missing one does not.
func (d *document) inflate(space, data []byte, limit int64) ([]byte, bool) {
	zlibHead := func(b []byte) bool {
		return len(b) >= 2 && b[0]&0x0f == 8 && (int(b[0])<<8|int(b[1]))%31 == 0
	}
	trimmed := data
	for len(trimmed) > 0 && isSpace(trimmed[0]) && !zlibHead(trimmed) {
		trimmed = trimmed[1:] // one line end too many before the data
	}
	if zlibHead(trimmed) {
		data = trimmed[2:]
	} else if len(data) >= 2 && data[0]&0x0f == 8 {
		data = data[2:] // the header check is damaged
	}
	src := bytes.NewReader(data)
	if d.inflater == nil {
		d.inflater = flate.NewReader(src)
	} else if err := d.inflater.(flate.Resetter).Reset(src, nil); err != nil {
		return nil, false
	}
	out, whole := readBounded(d.ctx, d.inflater, space, limit, len(data))
	var sum [4]byte
	if n, _ := io.ReadFull(src, sum[:]); whole && n == len(sum) {
		whole = binary.BigEndian.Uint32(sum[:]) == adler32.Checksum(out)
	}
	return out, whole
}

// readBounded reads up to limit bytes and reports whether the source ended without an error. It reads into space if it has capacity, else
// packed is a hint for the first size.
func readBounded(ctx interface{ Err() error }, r io.Reader, space []byte, limit int64, packed int) ([]byte, bool) {
	out := space[:0:min(int64(cap(space)), limit)]
	if cap(out) == 0 {
		out = make([]byte, 0, min(limit, int64(packed)*4+512, 1<<20))
	}
	for {
		if len(out) == cap(out) {
			grown := make([]byte, len(out), min(limit, int64(cap(out))*3/2+4096))
			copy(grown, out)
			out = grown
		}
		n, err := r.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		switch {
		case err == io.EOF:
			return out, true
		case err != nil, int64(len(out)) >= limit, ctx.Err() != nil:
			return out, false
		}
	}
}

// ascii85Decode decodes base-85 data (ISO 32000-1, 7.4.3).
func ascii85Decode(data []byte, limit int64) ([]byte, bool) {
	data = bytes.TrimPrefix(bytes.TrimLeft(data, "\x00\t\n\f\r "), []byte("<~"))
	out := make([]byte, 0, min(limit+4, int64(len(data))*4/5+4))
	var group uint32
	n := 0
	for _, c := range data {
		if int64(len(out)) >= limit {
			return out[:limit], false
		}
		switch {
		case isSpace(c):
		case c == '~':
			return ascii85Tail(out, group, n), true
		case c == 'z' && n == 0:
			out = append(out, 0, 0, 0, 0)
		case c < '!' || c > 'u':
			return ascii85Tail(out, group, n), false
		default:
			group = group*85 + uint32(c-'!')
			if n++; n == 5 {
				out = append(out, byte(group>>24), byte(group>>16), byte(group>>8), byte(group))
				group, n = 0, 0
			}
		}
	}
	return ascii85Tail(out, group, n), true
}

// ascii85Tail appends the n-1 bytes of an unfinished group of n digits.
func ascii85Tail(out []byte, group uint32, n int) []byte {
	if n < 2 {
		return out
	}
	for i := n; i < 5; i++ {
		group = group*85 + 84
	}
	b := []byte{byte(group >> 24), byte(group >> 16), byte(group >> 8)}
	return append(out, b[:n-1]...)
}

// runLengthDecode decodes run lengths (ISO 32000-1, 7.4.5).
func runLengthDecode(data []byte, limit int64) ([]byte, bool) {
	var out []byte
	for i := 0; i < len(data); {
		n := int(data[i])
		i++
		switch {
		case n == 128:
			return out, true
		case int64(len(out)) >= limit:
			return out[:limit], false
		case n < 128:
			end := min(i+n+1, len(data))
			out = append(out, data[i:end]...)
			i = end
		case i < len(data):
			out = append(out, bytes.Repeat(data[i:i+1], 257-n)...)
			i++
		}
	}
	return out[:min(int64(len(out)), limit)], true
}
