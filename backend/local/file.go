package local

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/atrest"
)

// An index file holds what one flush or one merge of several files wrote: a block for
// each partition concerned. All numbers in it are little-endian:
//
//	header     headerSize bytes: magic (8), version (4), 0 (4), id (8), offset and
//	           length of the directory (8 each), its CRC-32C (4), CRC-32C of the
//	           header so far (4), zeros
//	sections   each at a multiple of sectionAlign; zeros fill the gaps
//	directory  the partition and the sections of each block, with a CRC-32C for each section
//
// Files never change. The manifest names the files in use, in their order.
const (
	fileMagic    = "cmlocidx"
	fileVersion  = 7
	headerSize   = 64
	sectionAlign = 64
)

// sectionKind says what a section holds.
type sectionKind uint8

const (
	secRows    sectionKind = 1 // see content.encodeRows
	secTags    sectionKind = 2 // see content.encodeTags
	secGraph   sectionKind = 3 // see content.decodeGraph; only earlier releases write it
	secWords   sectionKind = 4 // a segment of package lexical
	secVectors sectionKind = 5 // a segment of package vector; its secPlaces section comes next
	secPlaces  sectionKind = 6 // see encodePlaces
	secLinks   sectionKind = 7 // see content.encodeLinks
)

type section struct {
	kind           sectionKind
	offset, length uint64
	sum            uint32
}

// block is the part of a file that belongs to one partition.
type block struct {
	file     *file
	part     backend.Partition
	cleared  bool   // earlier blocks of the partition no longer count
	flat     bool   // many vectors without a structure to search them, as earlier versions wrote: merge soon
	nextRow  uint32 // greater than every row number used so far
	rows     uint32 // number of rows in this block
	dropped  uint32 // number of rows of earlier blocks that this block deletes
	sections []section
	checked  atomic.Bool // the checksums of all sections were compared, or are being compared
}

// bytes returns the bytes of a section without copying them.
func (b *block) bytes(s section) []byte {
	return b.file.data[s.offset : s.offset+s.length : s.offset+s.length]
}

// file is an open index file. Its bytes stay valid until the last reference is released.
type file struct {
	id     uint64
	path   string
	size   int64
	sum    uint32 // of the header
	data   []byte
	mapped bool  // data is mapped memory; otherwise it is on the heap
	copied bool  // data is mapped memory with a decrypted copy, not the file itself
	synced bool  // the file survives a crash of the machine
	osf    *disk // the open file; nil: it is closed, because searches read no vectors from it
	blocks []*block
	refs   atomic.Int32
}

func (f *file) acquire() { f.refs.Add(1) }

// release gives a reference back. The last release frees the bytes. It ignores errors of
// unmapping, because no caller could act on them.
func (f *file) release() {
	if f.refs.Add(-1) == 0 {
		if f.mapped {
			_ = unmapFile(f.data)
		}
		if f.osf != nil {
			_ = f.osf.Close() // opened for reading only
		}
		f.data = nil
	}
}

// dropPages gives the memory of pages back to the system. data is part of the file and was read once, by a flush, merge or verification.
func (f *file) dropPages(data []byte) {
	if !f.mapped || f.copied || len(data) == 0 {
		return
	}
	page := uintptr(os.Getpagesize())
	off := int((page - uintptr(unsafe.Pointer(&data[0]))%page) % page)
	if n := (len(data) - off) / int(page) * int(page); n > 0 {
		dropPages(data[off : off+n])
	}
}

// weight returns the numbers of rows and of dropped rows, from which merges estimate their cost.
func (f *file) weight() (rows, dropped int) {
	for _, b := range f.blocks {
		rows += int(b.rows)
		dropped += int(b.dropped)
	}
	return rows, dropped
}

// flat reports whether a block of the file is flat.
func (f *file) flat() bool {
	return slices.ContainsFunc(f.blocks, func(b *block) bool { return b.flat })
}

func fileName(id uint64) string { return fmt.Sprintf("%016x.idx", id) }

// mapFrom is the size, in bytes, from which on files are mapped. Smaller files are read into
// memory, which is quicker than page faults. Linux allows a process 65,530 mappings: they
// are left to the larger files.
const mapFrom = 64 << 10

// readFrom is the size, in bytes, from which on files stay open beside their mapping, so that
// searches can read rows of vectors from them. A file of 20,000 vectors with 1-bit codes is larger.
// The files of most workspaces are smaller, because a process can open only so many files.
const readFrom = 16 << 20

// openFile reads the header and the directory of a file. It maps the file, or reads all of
// it into memory. The caller holds the only reference. Errors other than those of the file system are
// errFormat.
func openFile(dir string, id uint64, l limits) (*file, error) {
	f, osf, err := checkFile(dir, id, l.cipher)
	if err != nil {
		return nil, err
	}
	switch {
	case f.size >= mapFrom && osf.cipher == nil:
		f.data, err = mapFile(osf.f, f.size)
		f.mapped = err == nil
	case f.size >= mapFrom:
		if f.data, err = mapMemory(f.size); err == nil {
			f.mapped, f.copied = true, true
			if _, err = osf.ReadAt(f.data, 0); err != nil {
				_ = unmapFile(f.data)
			}
		}
	default:
		f.data = alignedBytes(int(f.size))
		_, err = osf.ReadAt(f.data, 0)
	}
	if err == nil && l.readFrom > 0 && f.size >= l.readFrom {
		f.osf = osf
		return f, nil
	}
	_ = osf.Close() // opened for reading only
	return f, err
}

// checkFile opens a file and reads its header and directory, but none of its sections.
// The caller closes osf.
func checkFile(dir string, id uint64, c *atrest.Cipher) (f *file, osf *disk, err error) {
	f = &file{id: id, path: filepath.Join(dir, fileName(id))}
	f.refs.Store(1)
	osf, err = openDisk(f.path, id, c)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%w: file %d is missing", errFormat, id)
	}
	if err != nil {
		return nil, nil, err
	}
	f.size = osf.size
	if err = f.readDirectory(osf); err != nil {
		return nil, nil, errors.Join(err, osf.Close())
	}
	return f, osf, nil
}

// readDirectory reads and checks the header and the directory.
func (f *file) readDirectory(r io.ReaderAt) error {
	if f.size < headerSize {
		return fmt.Errorf("%w: %d bytes", errFormat, f.size)
	}
	le, h := binary.LittleEndian, make([]byte, headerSize)
	if _, err := r.ReadAt(h, 0); err != nil {
		return err
	}
	if string(h[:8]) != fileMagic {
		return fmt.Errorf("%w: foreign magic", errFormat)
	}
	if v := le.Uint32(h[8:]); v != fileVersion {
		return fmt.Errorf("%w: version %d, want %d", errFormat, v, fileVersion)
	}
	f.sum = le.Uint32(h[44:])
	offset, length := le.Uint64(h[24:]), le.Uint64(h[32:])
	size := uint64(f.size)
	switch {
	case checksum(h[:44]) != f.sum:
		return fmt.Errorf("%w: header checksum", errFormat)
	case le.Uint64(h[16:]) != f.id:
		return fmt.Errorf("%w: another file's name", errFormat)
	case offset < headerSize || offset > size || length != size-offset:
		return fmt.Errorf("%w: %d bytes", errFormat, size)
	}
	dir := make([]byte, length)
	if _, err := r.ReadAt(dir, int64(offset)); err != nil {
		return err
	}
	if checksum(dir) != le.Uint32(h[40:]) {
		return fmt.Errorf("%w: directory checksum", errFormat)
	}
	blocks, err := decodeDirectory(dir, offset)
	for _, b := range blocks {
		b.file = f
	}
	f.blocks = blocks
	return err
}

// heapBytes estimates the memory of the open file, in bytes, without memory that maps the file itself.
func (f *file) heapBytes() int64 {
	const perFile, perBlock, perSection = 400, 300, 32 // perBlock includes the slot of the block
	n := int64(perFile)
	if !f.mapped || f.copied {
		n += f.size
	}
	for _, b := range f.blocks {
		n += perBlock + int64(len(b.part.Sub)) + perSection*int64(len(b.sections))
	}
	return n
}

// sync writes the file through to the disk, so that it survives a crash of the machine.
func (f *file) sync() error {
	if f.synced {
		return nil
	}
	osf, err := os.OpenFile(f.path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	err = errors.Join(osf.Sync(), osf.Close())
	f.synced = err == nil
	return err
}

// Flags of a block.
const (
	blockCleared = 1
	blockFlat    = 2
)

// encodeDirectory writes the number of blocks, then the blocks. A block is its class (1 byte), sub-tenant,
// flags (1 byte), next row, rows, dropped rows, the number of its sections, and the sections.
// A section is its kind (1 byte), offset, length and checksum (4 bytes).
func encodeDirectory(blocks []*block) []byte {
	var e encoder
	e.uint(uint64(len(blocks)))
	for _, b := range blocks {
		e.byte(byte(b.part.Class))
		e.text(b.part.Sub)
		flags := byte(0)
		if b.cleared {
			flags |= blockCleared
		}
		e.byte(flags)
		e.uint(uint64(b.nextRow))
		e.uint(uint64(b.rows))
		e.uint(uint64(b.dropped))
		e.uint(uint64(len(b.sections)))
		for _, s := range b.sections {
			e.byte(byte(s.kind))
			e.uint(s.offset)
			e.uint(s.length)
			e.fixed32(s.sum)
		}
	}
	return e.buf
}

// decodeDirectory reads the blocks of a directory. A section that ends above limit is errFormat.
func decodeDirectory(buf []byte, limit uint64) ([]*block, error) {
	const leastBlock, leastSection = 7, 7
	d := decoder{buf: buf}
	blocks := make([]*block, d.count(leastBlock))
	for i := range blocks {
		b := new(block)
		b.part.Class = backend.Class(d.byte())
		b.part.Sub = d.text()
		flags := d.byte()
		b.cleared, b.flat = flags&blockCleared != 0, flags&blockFlat != 0
		if flags&^(blockCleared|blockFlat) != 0 {
			d.fail()
		}
		b.nextRow, b.rows, b.dropped = d.uint32(), d.uint32(), d.uint32()
		b.sections = make([]section, d.count(leastSection))
		for j := range b.sections {
			s := section{kind: sectionKind(d.byte()), offset: d.uint(), length: d.uint(), sum: d.fixed32()}
			if s.offset < headerSize || s.offset%sectionAlign != 0 || s.offset > limit || s.length > limit-s.offset {
				d.fail()
			}
			b.sections[j] = s
		}
		if d.err != nil {
			return nil, d.err
		}
		blocks[i] = b
	}
	return blocks, d.end()
}

// fileWriter writes an index file under a temporary name. finish gives the file its final name.
type fileWriter struct {
	limits
	dir    string
	id     uint64
	f      *os.File
	out    *diskWriter
	buf    *bufio.Writer
	offset uint64
	blocks []*block
}

const tempSuffix = ".tmp"

func newFileWriter(dir string, id uint64, l limits) (*fileWriter, error) {
	f, err := os.OpenFile(filepath.Join(dir, fileName(id)+tempSuffix), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	out := newDiskWriter(f, id, l.cipher)
	w := &fileWriter{limits: l, dir: dir, id: id, f: f, out: out, buf: bufio.NewWriterSize(out, 1<<18)}
	return w, w.raw(make([]byte, headerSize))
}

func (w *fileWriter) raw(b []byte) error {
	n, err := w.buf.Write(b)
	w.offset += uint64(n)
	return err
}

func (w *fileWriter) pad() error {
	var zeros [sectionAlign]byte
	return w.raw(zeros[:-w.offset%sectionAlign])
}

// section writes a section and adds it to the newest block.
func (w *fileWriter) section(kind sectionKind, write func(io.Writer) error) error {
	if err := w.pad(); err != nil {
		return err
	}
	s := section{kind: kind, offset: w.offset}
	sum := &summing{w: w}
	if err := write(sum); err != nil {
		return err
	}
	s.length, s.sum = w.offset-s.offset, sum.sum
	b := w.blocks[len(w.blocks)-1]
	b.sections = append(b.sections, s)
	return nil
}

// summing passes bytes on to a fileWriter and keeps their checksum.
type summing struct {
	w   *fileWriter
	sum uint32
}

func (s *summing) Write(b []byte) (int, error) {
	s.sum = updateChecksum(s.sum, b)
	return len(b), s.w.raw(b)
}

// finish writes the directory and the header, gives the file its final name, and opens it.
func (w *fileWriter) finish() (*file, error) {
	if err := w.pad(); err != nil {
		return nil, err
	}
	dir := encodeDirectory(w.blocks)
	le := binary.LittleEndian
	h := make([]byte, headerSize)
	copy(h, fileMagic)
	le.PutUint32(h[8:], fileVersion)
	le.PutUint64(h[16:], w.id)
	le.PutUint64(h[24:], w.offset)
	le.PutUint64(h[32:], uint64(len(dir)))
	le.PutUint32(h[40:], checksum(dir))
	le.PutUint32(h[44:], checksum(h[:44]))
	if err := w.raw(dir); err != nil {
		return nil, err
	}
	if err := w.buf.Flush(); err != nil {
		return nil, err
	}
	if err := w.out.finish(h); err != nil {
		return nil, err
	}
	if err := os.Rename(w.f.Name(), filepath.Join(w.dir, fileName(w.id))); err != nil {
		return nil, err
	}
	return openFile(w.dir, w.id, w.limits)
}

// abandon closes and removes the temporary file; after finish it does nothing.
func (w *fileWriter) abandon() {
	_ = w.f.Close()
	_ = os.Remove(w.f.Name())
}
