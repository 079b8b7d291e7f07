package vector

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/contextmem/contextmem/internal/half"
)

// writeBuffer is the size of the writes that WriteSegment makes.
const writeBuffer = 1 << 18

// DefaultExactRows is the number of rows up to which a segment gets no structure
// but its rows: a scan of them takes a fraction of a millisecond.
const DefaultExactRows = 20_000

// wholeRows is the number of rows up to which a segment keeps them in float32 whatever they are: all of so few are often scored at once.
const wholeRows = 2_048

// WriteOptions says how a segment is built. Nil is the zero value.
type WriteOptions struct {
	// ExactRows is the number of rows up to which the segment is searched exactly.
	// 0 is DefaultExactRows; negative is no limit.
	ExactRows int
	// Check, unless nil, is called now and then, from WriteSegment's goroutine; an
	// error that it returns ends the work and is WriteSegment's. A context's Err
	// fits: building a million rows takes seconds.
	Check func() error
	// Workers is the number of goroutines that build. 0 is GOMAXPROCS.
	Workers int
	// From is an earlier segment whose rows are among those written. If it has lists, and at least half as many rows,
	// they are taken over: those that grew are split, those that shrank dissolved. Otherwise, and with nil, lists are
	// trained anew.
	From *Segment
}

// complete returns the options with defaults filled in; o may be nil.
func (o *WriteOptions) complete() WriteOptions {
	var c WriteOptions
	if o != nil {
		c = *o
	}
	if c.ExactRows == 0 {
		c.ExactRows = DefaultExactRows
	}
	if c.Check == nil {
		c.Check = func() error { return nil }
	}
	if c.Workers <= 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	return c
}

// WriteSegment writes a segment of n rows to w. vec returns the vector of a row
// below n; it is called from one goroutine, several times for each row and in any
// order, and what it returned is not used after the next call. Equal input gives
// equal bytes. w gets large sequential writes and is neither synced nor closed.
//
// It errs with ErrDimension when vec returns a vector of another length, and with the
// errors of w and opts.Check.
func WriteSegment(w io.Writer, dim int, metric Metric, n int, vec func(row int) []float32, opts *WriteOptions) error {
	if err := checkShape(dim, metric); err != nil {
		return err
	}
	if n < 0 || n > MaxRows {
		return fmt.Errorf("vector: %d rows are not in 0..%d", n, MaxRows)
	}
	if !littleEndian {
		return errors.New("vector: segments need a little-endian machine")
	}
	o := opts.complete()
	b := &builder{source: source{vec: vec, dim: dim, metric: metric, check: o.Check}, n: n}
	if o.ExactRows >= 0 && n > o.ExactRows {
		var err error
		if b.ivf, err = newIVFBuilder(b.source, n, o.Workers, o.From); err != nil {
			return err
		}
	}
	if n > wholeRows && metric != Cosine {
		var err error
		if b.halves, err = b.exact(); err != nil {
			return err
		}
	}
	buf := bufio.NewWriterSize(w, writeBuffer)
	if err := b.write(buf); err != nil {
		return err
	}
	return buf.Flush()
}

// source reads rows for a segment being written.
type source struct {
	vec    func(row int) []float32
	dim    int
	metric Metric
	check  func() error
	reads  int
}

// read copies a row to dst, whose length is at least dim, and normalises it under
// Cosine. What lies behind dim is left alone.
func (s *source) read(row int, dst []float32) error {
	if s.reads++; s.reads%batchRows == 0 {
		if err := s.check(); err != nil {
			return err
		}
	}
	v := s.vec(row)
	if len(v) != s.dim {
		return fmt.Errorf("%w: row %d has %d, want %d", ErrDimension, row, len(v), s.dim)
	}
	copy(dst, v)
	if s.metric == Cosine {
		normalise(dst[:s.dim])
	}
	return nil
}

// builder writes one segment.
type builder struct {
	source
	n      int
	ivf    *ivfBuilder // nil in an exact segment
	halves bool        // see header
}

// exact reports whether 16 bits hold each number of the rows.
func (b *builder) exact() (bool, error) {
	v := make([]float32, b.dim)
	for i := range b.n {
		if err := b.read(i, v); err != nil {
			return false, err
		}
		for _, f := range v {
			if !half.Exact(f) {
				return false, nil
			}
		}
	}
	return true, nil
}

func (b *builder) write(w io.Writer) error {
	h := &header{metric: b.metric, dim: b.dim, n: b.n, kind: kindExact, halves: b.halves}
	if b.ivf != nil {
		h.kind, h.lists, h.widths = b.ivf.kind, len(b.ivf.spreads), b.ivf.widths
	}
	sw, err := newSectionWriter(w, h)
	if err != nil {
		return err
	}
	if err := b.writeCodes(sw); err != nil {
		return err
	}
	if err := b.writeFloats(sw); err != nil {
		return err
	}
	if b.ivf != nil {
		if err := b.ivf.write(sw); err != nil {
			return err
		}
	}
	return sw.finish()
}

// rowAt returns the row whose 8-bit form is at a position.
func (b *builder) rowAt(position int) int {
	if b.ivf == nil {
		return position
	}
	return int(b.ivf.order[position])
}

// writeCodes writes the 8-bit rows and their scales.
func (b *builder) writeCodes(sw *sectionWriter) error {
	if err := sw.begin(secCodes); err != nil {
		return err
	}
	v, row := make([]float32, b.dim), make([]uint8, codeStride(b.dim))
	scales := make([]float32, b.n)
	for i := range b.n {
		if err := b.read(b.rowAt(i), v); err != nil {
			return err
		}
		scales[i] = quantiseRow(row, v)
		if err := sw.write(row); err != nil {
			return err
		}
	}
	if err := sw.begin(secScales); err != nil {
		return err
	}
	return sw.write(bytesOf(scales))
}

// writeFloats writes the rows as they are.
func (b *builder) writeFloats(sw *sectionWriter) error {
	if err := sw.begin(secFloats); err != nil {
		return err
	}
	v, halves := make([]float32, floatStride(b.dim)), make([]uint16, floatStride(b.dim))
	for i := range b.n {
		if err := b.read(i, v); err != nil {
			return err
		}
		row := bytesOf(v)
		if b.halves {
			for j, f := range v {
				halves[j] = half.Of(f)
			}
			row = bytesOf(halves)
		}
		if err := sw.write(row); err != nil {
			return err
		}
	}
	return nil
}
