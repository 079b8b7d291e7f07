// Package archive reads containers of files within limits.
package archive

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"strings"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/output"
)

// File reads a ZIP container within limits. It parses the directory itself, because the standard archive/zip
// allocates memory for every declared entry before a caller can count them, and refuses truncated files.
type File struct {
	Ctx     context.Context
	data    []byte
	entries map[string]*Entry // by lower-case name
	Order   []*Entry
	left    int64 // bytes that may still be unpacked
	ratio   int64
	base    int64  // number of bytes before the archive, which the offsets in it do not include
	Damage  string // why entries may be missing or incomplete
	kept    blocks // the content of keptOf, which Peek has unpacked and Open reads next
	keptOf  *Entry
}

type Entry struct {
	Name      string
	method    uint16
	encrypted bool
	packed    int64 // -1 if unknown
	crc       uint32
	checked   bool  // crc is known
	header    int64 // offset of the local header
}

// Signatures and fixed lengths of the records (PKWARE APPNOTE 6.3.10, sections 4.3.7, 4.3.12, 4.3.16).
const (
	zipLocalSig    = "PK\x03\x04"
	zipCentralSig  = "PK\x01\x02"
	zipEndSig      = "PK\x05\x06"
	zip64EndSig    = "PK\x06\x06"
	zip64LocSig    = "PK\x06\x07"
	zipLocalLen    = 30
	zipCentralLen  = 46
	zipEndLen      = 22
	zipRatioGrace  = 4 << 20
	zipMaxName     = 1024
	reasonCutOff   = "the file is cut off or damaged: its table of contents is missing or wrong"
	ReasonDamaged  = "a part of the file is damaged"
	reasonCutEntry = "a part of the file is cut off"
)

// Open reads the directory. Without one it collects the entries from their local headers.
func Open(ctx context.Context, data []byte, lim document.Limits) (*File, error) {
	z := &File{Ctx: ctx, data: data, entries: map[string]*Entry{}, left: lim.MaxExpanded, ratio: int64(lim.MaxRatio)}
	at, count, ok := z.findDirectory()
	if ok {
		err := z.readDirectory(at, count, lim.MaxEntries)
		var e *document.Error
		if errors.As(err, &e) && e.Kind == document.LimitExceeded {
			return nil, err
		}
		ok = err == nil
	}
	if !ok || !z.consistent() {
		z.entries, z.Order = map[string]*Entry{}, nil
		if err := z.salvage(lim.MaxEntries); err != nil {
			return nil, err
		}
		z.Damage = reasonCutOff
	}
	if len(z.Order) == 0 {
		return nil, document.Errorf(document.Malformed, "not a ZIP container, or one without files")
	}
	return z, nil
}

// consistent reports whether every entry is at its offset in the directory. Lost or added bytes shift entries.
func (z *File) consistent() bool {
	for _, e := range z.Order {
		if !z.isLocal(e.header) {
			return false
		}
	}
	return true
}

func (z *File) isLocal(at int64) bool {
	return at >= 0 && at <= int64(len(z.data))-zipLocalLen && string(z.data[at:at+4]) == zipLocalSig
}

// findDirectory returns the offset of the central directory and the number of entries that it declares.
func (z *File) findDirectory() (at int64, count uint64, ok bool) {
	tail := max(0, len(z.data)-zipEndLen-(1<<16))
	i := bytes.LastIndex(z.data[tail:], []byte(zipEndSig))
	if i < 0 || len(z.data)-tail-i < zipEndLen {
		return 0, 0, false
	}
	end := tail + i
	rec := z.data[end:]
	count = uint64(binary.LittleEndian.Uint16(rec[10:]))
	size := int64(binary.LittleEndian.Uint32(rec[12:]))
	at = int64(binary.LittleEndian.Uint32(rec[16:]))
	dirEnd := int64(end)
	if loc := end - 20; loc >= 0 && string(z.data[loc:loc+4]) == zip64LocSig {
		rec64 := binary.LittleEndian.Uint64(z.data[loc+8:])
		if rec64 < uint64(len(z.data)-56) && len(z.data) > 56 && string(z.data[rec64:rec64+4]) == zip64EndSig {
			r := z.data[rec64:]
			count = binary.LittleEndian.Uint64(r[32:])
			size = int64(binary.LittleEndian.Uint64(r[40:]))
			at = int64(binary.LittleEndian.Uint64(r[48:]))
			dirEnd = int64(rec64)
		}
	}
	if z.isCentral(at) {
		return at, count, true
	}
	// If bytes precede the archive, its directory still ends where its end record begins.
	if start := dirEnd - size; size >= 0 && z.isCentral(start) {
		z.base = start - at
		return start, count, true
	}
	return 0, 0, false
}

func (z *File) isCentral(at int64) bool {
	return at >= 0 && at <= int64(len(z.data))-zipCentralLen && string(z.data[at:at+4]) == zipCentralSig
}

func (z *File) readDirectory(at int64, count uint64, maxEntries int) error {
	if count > uint64(maxEntries) {
		return document.Errorf(document.LimitExceeded, "the container holds %d files, more than the limit of %d", count, maxEntries)
	}
	for z.isCentral(at) {
		if len(z.Order) >= maxEntries {
			return document.Errorf(document.LimitExceeded, "the container holds more than %d files", maxEntries)
		}
		h := z.data[at:]
		nameLen, extraLen := int64(binary.LittleEndian.Uint16(h[28:])), int64(binary.LittleEndian.Uint16(h[30:]))
		commentLen := int64(binary.LittleEndian.Uint16(h[32:]))
		if int64(len(h)) < zipCentralLen+nameLen+extraLen {
			return document.Errorf(document.Malformed, "the table of contents is cut off")
		}
		e := &Entry{
			Name:      zipName(h[zipCentralLen : zipCentralLen+nameLen]),
			method:    binary.LittleEndian.Uint16(h[10:]),
			encrypted: binary.LittleEndian.Uint16(h[8:])&1 != 0,
			crc:       binary.LittleEndian.Uint32(h[16:]),
			checked:   true,
			packed:    int64(binary.LittleEndian.Uint32(h[20:])),
			header:    int64(binary.LittleEndian.Uint32(h[42:])),
		}
		unpacked := binary.LittleEndian.Uint32(h[24:])
		e.zip64(h[zipCentralLen+nameLen:zipCentralLen+nameLen+extraLen], unpacked == 1<<32-1)
		e.header += z.base
		z.add(e)
		at += zipCentralLen + nameLen + extraLen + commentLen
	}
	return nil
}

// zip64 reads the long sizes from the extra field 0x0001 if the short ones have their greatest value.
func (e *Entry) zip64(extra []byte, longUnpacked bool) {
	for len(extra) >= 4 {
		id, n := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
		extra = extra[4:]
		if n > len(extra) {
			return
		}
		if id != 1 {
			extra = extra[n:]
			continue
		}
		f := extra[:n]
		take := func(dst *int64) {
			if len(f) >= 8 {
				*dst = int64(binary.LittleEndian.Uint64(f))
				f = f[8:]
			}
		}
		if longUnpacked {
			var unpacked int64
			take(&unpacked)
		}
		if e.packed == 1<<32-1 {
			take(&e.packed)
		}
		if e.header == 1<<32-1 {
			take(&e.header)
		}
		return
	}
}

func (z *File) add(e *Entry) {
	z.Order = append(z.Order, e)
	key := strings.ToLower(e.Name)
	if z.entries[key] == nil {
		z.entries[key] = e
	}
}

func zipName(b []byte) string {
	name := strings.ReplaceAll(string(clean.Head(b, zipMaxName)), "\\", "/")
	return strings.TrimPrefix(strings.TrimPrefix(name, "./"), "/")
}

// salvage collects entries from local headers.
func (z *File) salvage(maxEntries int) error {
	at := 0
	for n := 0; ; n++ {
		if n&255 == 0 && z.Ctx.Err() != nil {
			return z.Ctx.Err()
		}
		i := bytes.Index(z.data[at:], []byte(zipLocalSig))
		if i < 0 {
			return nil
		}
		at += i
		if len(z.Order) >= maxEntries {
			return document.Errorf(document.LimitExceeded, "the container holds more than %d files", maxEntries)
		}
		h := z.data[at:]
		if len(h) < zipLocalLen {
			return nil
		}
		nameLen := int(binary.LittleEndian.Uint16(h[26:]))
		extraLen := int(binary.LittleEndian.Uint16(h[28:]))
		if len(h) < zipLocalLen+nameLen+extraLen {
			return nil
		}
		flags := binary.LittleEndian.Uint16(h[6:])
		e := &Entry{
			Name:      zipName(h[zipLocalLen : zipLocalLen+nameLen]),
			method:    binary.LittleEndian.Uint16(h[8:]),
			encrypted: flags&1 != 0,
			crc:       binary.LittleEndian.Uint32(h[14:]),
			packed:    int64(binary.LittleEndian.Uint32(h[18:])),
			header:    int64(at),
		}
		start := at + zipLocalLen + nameLen + extraLen
		if flags&8 != 0 || e.packed == 1<<32-1 || int64(start)+e.packed > int64(len(z.data)) {
			e.packed = -1
			at = start
		} else {
			e.checked = true
			at = start + int(e.packed)
		}
		z.add(e)
	}
}

// Has reports whether there is a file of that name, ignoring case.
func (z *File) Has(name string) bool { return z.entries[strings.ToLower(name)] != nil }

// Open returns the content of a file, or nil if there is none.
func (z *File) Open(name string) *Stream {
	e := z.entries[strings.ToLower(strings.TrimPrefix(name, "/"))]
	if e == nil {
		return nil
	}
	s := &Stream{z: z, e: e}
	h := e.header
	if !z.isLocal(h) {
		s.err = document.Errorf(document.Malformed, "a file of the container is not where its table of contents says")
		return s
	}
	start := h + zipLocalLen + int64(binary.LittleEndian.Uint16(z.data[h+26:])) + int64(binary.LittleEndian.Uint16(z.data[h+28:]))
	if e.encrypted {
		s.err = document.NewError(document.Encrypted, "the container needs a password", nil).WithHint("save it without one")
		return s
	}
	if start > int64(len(z.data)) {
		s.err = document.Errorf(document.Malformed, "a file of the container is cut off")
		return s
	}
	raw := z.data[start:]
	if e.packed >= 0 && e.packed <= int64(len(raw)) {
		raw = raw[:e.packed]
	}
	s.packed = int64(len(raw))
	switch {
	case e == z.keptOf:
		s.r, z.kept, z.keptOf = &blocks{list: z.kept.list}, blocks{}, nil
	case e.method == 0:
		s.r = bytes.NewReader(raw)
	case e.method == 8:
		s.r = flate.NewReader(bytes.NewReader(raw))
	default:
		s.err = document.NewError(document.Unsupported, fmt.Sprintf("the container uses compression method %d", e.method), nil)
		return s
	}
	s.sum = crc32.NewIEEE()
	return s
}

// Peek returns the content of a file that is read again later, or nil if there is none. What it unpacks is bounded by what is left of the
// limit, but does not count, and it records no damage. The next Open of a file that was peeked at to its end does not unpack it again, unless it
// is larger than maxKept.
func (z *File) Peek(name string) io.Reader {
	s := z.Open(name)
	if s == nil || s.r == nil {
		return nil
	}
	return &peek{z: z, e: s.e, r: io.LimitedReader{R: s.r, N: max(0, min(z.left, max(zipRatioGrace, z.ratio*max(1, s.packed))))}}
}

// maxKept bounds the content that Peek keeps for Open.
const maxKept = 8 << 20

// peek reads a file until the context ends.
type peek struct {
	z    *File
	e    *Entry
	r    io.LimitedReader
	kept blocks
	size int
	over bool // the file is larger than what is kept
}

func (p *peek) Read(b []byte) (int, error) {
	if err := p.z.Ctx.Err(); err != nil {
		return 0, err
	}
	n, err := p.r.Read(b)
	p.size += n
	if p.over = p.size > maxKept; p.over {
		p.kept.list = nil
	} else {
		p.kept.add(b[:n])
	}
	if err == io.EOF && !p.over && p.r.N > 0 {
		p.z.kept, p.z.keptOf = p.kept, p.e
	}
	return n, err
}

// blocks is content in blocks, so that it is not copied while it grows.
type blocks struct {
	list [][]byte
	at   int // offset in the first block that is read next
}

const blockSize = 64 << 10

func (k *blocks) add(b []byte) {
	for len(b) > 0 {
		n := len(k.list)
		if n == 0 || len(k.list[n-1]) == blockSize {
			k.list = append(k.list, make([]byte, 0, blockSize))
			n++
		}
		last := &k.list[n-1]
		some := b[:min(len(b), blockSize-len(*last))]
		*last = append(*last, some...)
		b = b[len(some):]
	}
}

// Read reads and frees what was added.
func (k *blocks) Read(b []byte) (n int, err error) {
	for n < len(b) && len(k.list) > 0 {
		some := copy(b[n:], k.list[0][k.at:])
		n += some
		if k.at += some; k.at == len(k.list[0]) {
			k.list[0] = nil
			k.list, k.at = k.list[1:], 0
		}
	}
	if n == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Read returns a whole file of at most most bytes. A larger file is an error; a missing one gives (nil, nil).
func (z *File) Read(name string, most int64) ([]byte, error) {
	s := z.Open(name)
	if s == nil {
		return nil, nil
	}
	data, err := io.ReadAll(io.LimitReader(s, most+1))
	if int64(len(data)) > most {
		return nil, document.Errorf(document.LimitExceeded, "a file of the container is larger than %d bytes", most)
	}
	if err != nil && output.IsDocumentError(err) {
		return nil, err
	}
	return data, nil
}

// Note records the first damage in Damage and ignores later ones.
func (z *File) Note(reason string) {
	if z.Damage == "" {
		z.Damage = reason
	}
}

// Stream unpacks one file and counts the unpacked bytes. If the file is damaged, the stream records that in the container and ends without
// an error, so that the data before the damage stays usable. Exceeding a limit is an error.
type Stream struct {
	z      *File
	e      *Entry
	r      io.Reader
	err    error
	packed int64
	n      int64
	sum    hash.Hash32
}

func (s *Stream) Read(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	if err := s.z.Ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.r.Read(p)
	s.n += int64(n)
	s.z.left -= int64(n)
	_, _ = s.sum.Write(p[:n]) // a hash never fails
	switch {
	case s.z.left < 0:
		s.err = document.Errorf(document.LimitExceeded, "the container unpacks to more than the limit")
		return 0, s.err
	case s.n > zipRatioGrace && s.n > s.z.ratio*max(1, s.packed):
		s.err = document.Errorf(document.LimitExceeded, "a file of the container unpacks to more than %d times its size", s.z.ratio)
		return 0, s.err
	case err == io.EOF:
		if s.e.checked && s.sum.Sum32() != s.e.crc {
			s.z.Note(ReasonDamaged)
		}
		s.err = io.EOF
	case err != nil:
		s.z.Note(reasonCutEntry)
		s.err = io.EOF
	}
	return n, s.err
}
