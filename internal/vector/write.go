package vector

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"runtime"
)

// writeBuffer is the size of the writes that WriteSegment makes.
const writeBuffer = 1 << 18

// DefaultExactRows is the number of rows up to which a segment has no inverted file. A scan of
// so many rows takes a fraction of a millisecond.
const DefaultExactRows = 20_000

// wholeRows is the number of rows up to which a segment always stores them as float32 and not as 16-bit numbers. Searches often
// score all rows of so small a segment, and would have to convert them.
const wholeRows = 2_048

// WriteOptions are the options of WriteSegment. Nil is the same as the zero value.
type WriteOptions struct {
	// ExactRows is the number of rows up to which the segment has no inverted file and is
	// searched exactly. 0 means DefaultExactRows; negative means no limit.
	ExactRows int
	// Check, unless nil, is called from time to time from WriteSegment's goroutine. If it
	// returns an error, WriteSegment ends and returns the error. Set it to a context's Err
	// to make WriteSegment stop early: a million rows take seconds.
	Check func() error
	// Workers is the number of goroutines that build the segment. 0 means GOMAXPROCS.
	Workers int
	// From is an earlier segment whose rows are among those written. If it has lists, and at least half as many rows
	// as are written, WriteSegment adapts its lists: it splits those that have grown and dissolves those that have
	// shrunk. Otherwise, and if From is nil, WriteSegment trains new lists.
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

// WriteSegment writes a segment of n rows to w. vec returns the vector of a row below n.
// WriteSegment calls vec from one goroutine, several times for each row and in any order, and
// does not use its result after the next call. Equal input gives equal bytes.
// WriteSegment makes large sequential writes to w and neither syncs nor closes it.
//
// It returns ErrDimension if vec returns a vector of another length, and the errors of w and
// opts.Check.
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
		if b.rows, err = b.choose(); err != nil {
			return err
		}
	}
	buf := bufio.NewWriterSize(w, writeBuffer)
	if err := b.write(buf); err != nil {
		return err
	}
	return buf.Flush()
}

// source reads the rows of a segment that is being written.
type source struct {
	vec    func(row int) []float32
	dim    int
	metric Metric
	check  func() error
	reads  int
}

// read copies a row to dst, and normalises it if the metric is Cosine. The length of dst is at least
// dim; read does not change dst[dim:].
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
	n    int
	ivf  *ivfBuilder // nil in an exact segment
	rows stored
}

func (b *builder) write(w io.Writer) error {
	h := &header{metric: b.metric, dim: b.dim, n: b.n, kind: kindExact, form: b.rows.form, odd: len(b.rows.odd)}
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

// rowAt returns the number of the row at a position.
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
	v, row, rests := make([]float32, b.dim), make([]uint8, codeStride(b.dim)), make([]uint8, codeStride(b.dim)/2)
	scales := make([]float32, b.n)
	for i := range b.n {
		if err := b.read(b.rowAt(i), v); err != nil {
			return err
		}
		scales[i] = b.rows.code(row, rests, v, b.rows.isOdd(b.rowAt(i)))
		if err := sw.write(row); err != nil {
			return err
		}
	}
	if err := sw.begin(secScales); err != nil {
		return err
	}
	return sw.write(bytesOf(scales))
}
