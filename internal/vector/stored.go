package vector

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/contextmem/contextmem/internal/fixed"
	"github.com/contextmem/contextmem/internal/half"
	"github.com/contextmem/contextmem/internal/simd"
)

// rowForm is the number format in which a segment stores its exact rows.
type rowForm uint32

const (
	rowFloats  rowForm = iota // float32
	rowHalves                 // 16-bit numbers
	rowTwelves                // multiples of a step in 12 bits: the upper 8 are the 8-bit row, the lower 4 are stored; see package fixed
)

// rest is the 4-bit remainder of a number that the 8-bit row represents exactly.
const rest = 8

// stored describes the exact rows of a segment: their form, and in ascending order the rows that the form cannot represent exactly, which
// are stored as float32 in addition.
type stored struct {
	form rowForm
	odd  []uint32
}

// rowBytes returns the size of a row of secFloats.
func (h *header) rowBytes() int {
	switch h.form {
	case rowHalves:
		return 2 * floatStride(h.dim)
	case rowTwelves:
		return codeStride(h.dim) / 2
	}
	return 4 * floatStride(h.dim)
}

// oddAt returns the offset of the row numbers of odd rows in secFloats, and floatsAt the offset of those rows.
func (h *header) oddAt() int { return h.n * h.rowBytes() }

func (h *header) floatsAt() int {
	return (h.oddAt() + 4*h.odd + sectionAlign - 1) &^ (sectionAlign - 1)
}

// floatBytes returns the size of secFloats.
func (h *header) floatBytes() int {
	if h.odd == 0 {
		return h.oddAt()
	}
	return h.floatsAt() + h.odd*4*floatStride(h.dim)
}

// choose returns the form that takes the least space.
func (b *builder) choose() (best stored, err error) {
	v := make([]float32, b.dim)
	forms := []stored{{form: rowHalves}, {form: rowTwelves}}
	if b.dim > fixed.MaxDim {
		forms = forms[:1]
	}
	for i := range b.n {
		if err := b.read(i, v); err != nil {
			return best, err
		}
		for j := range forms {
			if f := &forms[j]; !f.holds(v) {
				f.odd = append(f.odd, uint32(i))
			}
		}
		if !slices.ContainsFunc(forms, func(f stored) bool { return 2*len(f.odd) < b.n }) {
			return best, nil // neither would be much smaller than float32
		}
	}
	room := func(s stored) int {
		return (&header{dim: b.dim, n: b.n, form: s.form, odd: len(s.odd)}).floatBytes()
	}
	for _, f := range forms {
		if room(f) < room(best) {
			best = f
		}
	}
	return best, nil
}

// holds reports whether the form represents a row exactly.
func (s *stored) holds(v []float32) bool {
	if s.form == rowTwelves {
		_, ok := fixed.Step(v)
		return ok
	}
	return !slices.ContainsFunc(v, func(f float32) bool { return !half.Exact(f) })
}

// isOdd reports whether the form cannot represent a row exactly.
func (s *stored) isOdd(row int) bool {
	if len(s.odd) == 0 {
		return false
	}
	_, odd := slices.BinarySearch(s.odd, uint32(row))
	return odd
}

// code writes the 8-bit row of v to row, and returns its scale. In the form rowTwelves it writes the remainders to rests.
func (s *stored) code(row, rests []uint8, v []float32, odd bool) float32 {
	if s.form != rowTwelves || odd {
		return quantiseRow(row, v)
	}
	step, _ := fixed.Step(v)
	for i := range rests {
		rests[i] = rest | rest<<4
	}
	for i := range row[len(v):] {
		row[len(v)+i] = simd.Bias
	}
	for i, f := range v {
		k := fixed.Multiple(f, step) + 8
		row[i] = uint8(k>>4 + simd.Bias)
		at, shift := i/64*32+i%32, i%64/32*4
		rests[at] = rests[at]&^(15<<shift) | uint8(k&15)<<shift
	}
	return 16 * step
}

// writeFloats writes the exact rows.
func (b *builder) writeFloats(sw *sectionWriter) error {
	if err := sw.begin(secFloats); err != nil {
		return err
	}
	v, halves := make([]float32, floatStride(b.dim)), make([]uint16, floatStride(b.dim))
	row, rests := make([]uint8, codeStride(b.dim)), make([]uint8, codeStride(b.dim)/2)
	for i := range b.n {
		if b.rows.form == rowTwelves {
			i = b.rowAt(i) // in the order of the 8-bit rows
		}
		if err := b.read(i, v); err != nil {
			return err
		}
		bytes := bytesOf(v)
		switch b.rows.form {
		case rowHalves:
			half.Pack(halves, v)
			bytes = bytesOf(halves)
		case rowTwelves:
			clear(rests)
			b.rows.code(row, rests, v[:b.dim], b.rows.isOdd(i))
			bytes = rests
		}
		if err := sw.write(bytes); err != nil {
			return err
		}
	}
	return b.writeOdd(sw, v)
}

// writeOdd writes the rows that the form cannot represent exactly. v is a buffer for one row.
func (b *builder) writeOdd(sw *sectionWriter, v []float32) error {
	if len(b.rows.odd) == 0 {
		return nil
	}
	if err := sw.write(bytesOf(b.rows.odd)); err != nil {
		return err
	}
	var zeros [sectionAlign]byte
	if err := sw.write(zeros[:sw.h.floatsAt()-sw.h.oddAt()-4*len(b.rows.odd)]); err != nil {
		return err
	}
	for _, i := range b.rows.odd {
		if err := b.read(int(i), v); err != nil {
			return err
		}
		if err := sw.write(bytesOf(v)); err != nil {
			return err
		}
	}
	return nil
}

// openRows makes views of the exact rows.
func (s *Segment) openRows() {
	data := s.section(secFloats)
	rows := data[:s.h.oddAt()]
	switch s.h.form {
	case rowHalves:
		s.halves = view[uint16](rows)
	case rowTwelves:
		s.rests = rows
	default:
		s.floats = view[float32](rows)
	}
	if s.h.odd > 0 {
		s.odd, s.floats = view[uint32](data[len(rows):][:4*s.h.odd]), view[float32](data[s.h.floatsAt():])
	}
}

// stored returns a row that is stored as float32, or nil for a row in another form.
func (s *Segment) stored(row uint32) []float32 {
	at := int(row)
	if s.h.form != rowFloats {
		if s.h.odd == 0 {
			return nil
		}
		i, odd := slices.BinarySearch(s.odd, row)
		if !odd {
			return nil
		}
		at = i
	}
	fs := floatStride(s.h.dim)
	return s.floats[at*fs : (at+1)*fs]
}

// unpack converts a row that is not stored as float32. The first floatStride numbers of room are the result.
func (s *Segment) unpack(row uint32, room []float32) {
	if s.h.form == rowHalves {
		fs := floatStride(s.h.dim)
		simd.Halves(room[:fs], s.halves[int(row)*fs:])
		return
	}
	at, cs := s.position(row), codeStride(s.h.dim)
	simd.Twelves(room[:cs], s.codes[at*cs:], s.rests[at*cs/2:], s.scales[at]/16)
}

// position returns the index of a row among the 8-bit rows.
func (s *Segment) position(row uint32) int {
	if s.h.kind == kindExact {
		return int(row)
	}
	return min(int(s.ivf.positions[row]), s.h.n-1)
}

func (s *Segment) floatRow(row uint32, buf *rowBuf) []float32 {
	fs := floatStride(s.h.dim)
	if s.reader == nil || s.h.form == rowTwelves {
		if v := s.stored(row); v != nil {
			return v
		}
		buf.row = slices.Grow(buf.row[:0], codeStride(s.h.dim))[:codeStride(s.h.dim)]
		s.unpack(row, buf.row)
		return buf.row[:fs]
	}
	if s.h.odd > 0 {
		if v := s.stored(row); v != nil {
			return v
		}
	}
	spans, _, _ := s.h.layout()
	buf.row = slices.Grow(buf.row[:0], fs)[:fs]
	into := bytesOf(buf.row)
	if s.h.form == rowHalves {
		buf.halves = slices.Grow(buf.halves[:0], fs)[:fs]
		into = bytesOf(buf.halves)
	}
	at := spans[secFloats].off + len(into)*int(row)
	if n, err := s.reader.ReadAt(into, int64(at)); n < len(into) {
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("%w: it ends before row %d", ErrFormat, row)
		}
		buf.err = cmp.Or(buf.err, err)
		return nil
	}
	if s.h.form == rowHalves {
		simd.Halves(buf.row, buf.halves)
	}
	return buf.row
}

func (s *Segment) floatRun(first uint32, buf *rowBuf) []float32 {
	fs := floatStride(s.h.dim)
	if s.h.form == rowFloats {
		return s.floats[int(first)*fs:]
	}
	n := min(chunkRows, s.h.n-int(first)) * fs
	buf.row = slices.Grow(buf.row[:0], n)[:n]
	if s.h.form == rowHalves {
		simd.Halves(buf.row, s.halves[int(first)*fs:])
	}
	if s.h.form == rowHalves && s.h.odd == 0 {
		return buf.row
	}
	room := make([]float32, codeStride(s.h.dim))
	for i := 0; i < n; i += fs {
		row := first + uint32(i/fs)
		if v := s.stored(row); v != nil {
			copy(buf.row[i:], v)
		} else if s.h.form == rowTwelves {
			s.unpack(row, room)
			copy(buf.row[i:], room[:fs])
		}
	}
	return buf.row
}
