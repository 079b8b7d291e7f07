package vector

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"unsafe"
)

// A segment file consists of the following parts. All numbers are little-endian.
//
//	header    headerSize bytes
//	sections  each at a multiple of sectionAlign, with zeros between; the header
//	          determines which sections there are and their lengths
//	footer    a CRC-32C (Castagnoli) of each section, then a CRC-32C of these
//
// The header has, by offset: 0 magic, 8 version, 12 metric, 16 dimensions, 20
// rows, 24 kind, 28 lists, 32 form of the rows, 36 odd rows, 40 size of the file, 48 the probing width for
// each of recallPoints (float32), 124 CRC-32C of bytes 0 to 123.
const (
	headerSize    = 128
	headerSumAt   = 124
	widthsAt      = 48
	formatVersion = 1 // of segments of rowFloats
	halvesVersion = 2 // of rowHalves without odd rows, which was not there before
	formsVersion  = 3 // of others
	formAt        = 32
	oddAt         = 36
	sectionAlign  = 64
)

var (
	magic      = [8]byte{'c', 'm', 'v', 'e', 'c', 's', 'e', 'g'}
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// kind is the structure of a segment.
type kind uint32

const (
	kindExact kind = iota // 8-bit rows in row order
	kindIVF8              // 8-bit rows in list order, scanned
	kindIVF1              // 8-bit rows in list order, scanned by 1-bit codes
)

// header is the decoded head of a segment.
type header struct {
	metric Metric
	dim    int
	n      int
	kind   kind
	lists  int
	form   rowForm
	odd    int // number of rows that form cannot represent exactly
	widths [len(recallPoints)]float32
}

// Section numbers, in file order. In an exact segment the sections from secRows on are empty.
// In a segment without 1-bit codes secRecords is empty.
const (
	secCodes          = iota // [n][codeStride]uint8, by position
	secScales                // [n]float32, of the codes
	secFloats                // [n][floatStride]float32, in row order; other forms and odd rows: see header.floatsAt
	secRows                  // [n]uint32, the row at a position
	secPositions             // [n]uint32, the position of a row
	secRecords               // [n][recordStride]byte, by position; see record
	secOffsets               // [lists+1]uint32, first position of each list
	secCentroids             // [lists][codeStride]uint8
	secCentroidScales        // [lists]float32
	secSpreads               // [lists]float32, see ivfBuilder.spreads
	secMean                  // [floatStride]float32, of the rows
	numSections
)

// span is a range of bytes of the file.
type span struct{ off, size int }

// layout returns the byte ranges of the sections, the offset of the footer and the size of
// the file. The numbers cannot overflow, since decodeHeader bounds the rows.
func (h *header) layout() (spans [numSections]span, footer, size int) {
	sizes := [numSections]int{
		secCodes:  h.n * codeStride(h.dim),
		secScales: h.n * 4,
		secFloats: h.floatBytes(),
	}
	if h.kind != kindExact {
		sizes[secRows] = h.n * 4
		sizes[secPositions] = h.n * 4
		sizes[secOffsets] = (h.lists + 1) * 4
		sizes[secCentroids] = h.lists * codeStride(h.dim)
		sizes[secCentroidScales] = h.lists * 4
		sizes[secSpreads] = h.lists * 4
		sizes[secMean] = floatStride(h.dim) * 4
	}
	if h.kind == kindIVF1 {
		sizes[secRecords] = h.n * recordStride(h.dim)
	}
	at := headerSize
	for i, size := range sizes {
		spans[i] = span{at, size}
		at = (at + size + sectionAlign - 1) &^ (sectionAlign - 1)
	}
	return spans, at, at + 4*(numSections+1)
}

// version is the format that releases have to know which read the segment.
func (h *header) version() uint32 {
	switch {
	case h.form == rowFloats:
		return formatVersion
	case h.form == rowHalves && h.odd == 0:
		return halvesVersion
	}
	return formsVersion
}

// encode returns the header's bytes.
func (h *header) encode() []byte {
	b := make([]byte, headerSize)
	copy(b, magic[:])
	le := binary.LittleEndian
	le.PutUint32(b[8:], h.version())
	le.PutUint32(b[formAt:], uint32(h.form))
	le.PutUint32(b[oddAt:], uint32(h.odd))
	le.PutUint32(b[12:], uint32(h.metric))
	le.PutUint32(b[16:], uint32(h.dim))
	le.PutUint32(b[20:], uint32(h.n))
	le.PutUint32(b[24:], uint32(h.kind))
	le.PutUint32(b[28:], uint32(h.lists))
	_, _, size := h.layout()
	le.PutUint64(b[40:], uint64(size))
	for i, w := range h.widths {
		le.PutUint32(b[widthsAt+4*i:], math.Float32bits(w))
	}
	le.PutUint32(b[headerSumAt:], crc32.Checksum(b[:headerSumAt], castagnoli))
	return b
}

// decodeHeader decodes the header of data. It checks the header, and that data has the size given there.
func decodeHeader(data []byte) (*header, error) {
	le := binary.LittleEndian
	switch {
	case len(data) < headerSize:
		return nil, fmt.Errorf("%w: %d bytes", ErrFormat, len(data))
	case [8]byte(data) != magic:
		return nil, fmt.Errorf("%w: foreign magic", ErrFormat)
	case le.Uint32(data[8:]) < formatVersion || le.Uint32(data[8:]) > formsVersion:
		return nil, fmt.Errorf("%w: version %d, want at most %d", ErrFormat, le.Uint32(data[8:]), formsVersion)
	case le.Uint32(data[headerSumAt:]) != crc32.Checksum(data[:headerSumAt], castagnoli):
		return nil, fmt.Errorf("%w: header checksum", ErrFormat)
	}
	h := &header{
		metric: Metric(le.Uint32(data[12:])),
		dim:    int(le.Uint32(data[16:])),
		n:      int(le.Uint32(data[20:])),
		kind:   kind(le.Uint32(data[24:])),
		lists:  int(le.Uint32(data[28:])),
		form:   rowForm(le.Uint32(data[formAt:])),
		odd:    int(le.Uint32(data[oddAt:])),
	}
	for i := range h.widths {
		h.widths[i] = math.Float32frombits(le.Uint32(data[widthsAt+4*i:]))
	}
	if err := checkShape(h.dim, h.metric); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if uint64(le.Uint32(data[20:])) > min(MaxRows, math.MaxInt/(8*MaxDim)) || h.kind > kindIVF1 {
		return nil, fmt.Errorf("%w: %d rows, kind %d", ErrFormat, h.n, h.kind)
	}
	if h.form > rowTwelves || h.odd < 0 || h.odd > h.n || h.form == rowFloats && h.odd > 0 || h.version() != le.Uint32(data[8:]) {
		return nil, fmt.Errorf("%w: rows of form %d, %d of them odd, in version %d", ErrFormat, h.form, h.odd, le.Uint32(data[8:]))
	}
	if h.lists < 0 || h.lists > h.n || (h.lists > 0) != (h.kind != kindExact) {
		return nil, fmt.Errorf("%w: %d lists of %d rows", ErrFormat, h.lists, h.n)
	}
	_, _, size := h.layout()
	if le.Uint64(data[40:]) != uint64(size) || len(data) != size {
		return nil, fmt.Errorf("%w: %d bytes, want %d", ErrFormat, len(data), size)
	}
	return h, nil
}

// sectionWriter writes the sections of a segment one after the other.
type sectionWriter struct {
	w    io.Writer
	h    *header
	next int // number of the next section
	off  int
	sum  uint32 // checksum of the current section so far
	left int    // bytes of the current section that are not written yet
	sums []byte
}

func newSectionWriter(w io.Writer, h *header) (*sectionWriter, error) {
	s := &sectionWriter{w: w, h: h}
	return s, s.raw(h.encode())
}

func (s *sectionWriter) raw(b []byte) error {
	n, err := s.w.Write(b)
	s.off += n
	return err
}

// begin starts section id. Sections must be started in order, and none may be left out.
func (s *sectionWriter) begin(id int) error {
	if err := s.close(); err != nil {
		return err
	}
	spans, _, _ := s.h.layout()
	if id != s.next {
		return fmt.Errorf("vector: section %d out of order", id)
	}
	s.next, s.left, s.sum = id+1, spans[id].size, 0
	return s.pad(spans[id].off)
}

// close ends the current section.
func (s *sectionWriter) close() error {
	if s.left != 0 {
		return fmt.Errorf("vector: section %d lacks %d bytes", s.next-1, s.left)
	}
	if s.next > 0 {
		s.sums = binary.LittleEndian.AppendUint32(s.sums, s.sum)
	}
	return nil
}

func (s *sectionWriter) pad(to int) error {
	var zeros [sectionAlign]byte
	return s.raw(zeros[:to-s.off])
}

// write adds bytes to the current section.
func (s *sectionWriter) write(b []byte) error {
	s.sum = crc32.Update(s.sum, castagnoli, b)
	s.left -= len(b)
	return s.raw(b)
}

// finish writes the remaining sections as empty ones, and then the footer.
func (s *sectionWriter) finish() error {
	for s.next < numSections {
		if err := s.begin(s.next); err != nil {
			return err
		}
	}
	if err := s.close(); err != nil {
		return err
	}
	_, footer, _ := s.h.layout()
	if err := s.pad(footer); err != nil {
		return err
	}
	return s.raw(binary.LittleEndian.AppendUint32(s.sums, crc32.Checksum(s.sums, castagnoli)))
}

// littleEndian reports whether this machine is little-endian. On others, segments can be neither
// written nor opened.
var littleEndian = func() bool {
	x := uint16(1)
	return *(*byte)(unsafe.Pointer(&x)) == 1
}()

// view returns the bytes of b as a slice of T without copying. b must begin at a multiple of 4,
// and its length must be a multiple of T's size.
func view[T float32 | uint32 | uint16](b []byte) []T {
	if len(b) == 0 {
		return nil
	}
	var one T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(one)))
}

// bytesOf returns the bytes of x without copying.
func bytesOf[T float32 | uint32 | uint64 | uint16](x []T) []byte {
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(one)))
}
