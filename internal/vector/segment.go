package vector

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"sync/atomic"
	"unsafe"
)

// Segment is an immutable part that is read in place, usually in a mapped file. It is safe for
// concurrent use. It uses hardly any memory beside the bytes with which it was opened. These
// must stay mapped and unchanged while it is in use.
type Segment struct {
	h      *header
	data   []byte
	codes  []uint8
	scales []float32
	floats []float32 // of all rows, or of odd ones
	halves []uint16
	rests  []uint8
	odd    []uint32
	reader io.ReaderAt // of data; nil: float32 rows are used in place
	ivf    ivf

	greatest atomic.Uint32 // bits of the greatest scale; 0: not known
}

// OpenSegment returns a segment over data. The segment refers to data and does not change it.
// OpenSegment checks the header and all sizes, but not the content; see Verify. If data does
// not begin at a multiple of 8, as mappings always do, OpenSegment copies it.
//
// It returns ErrFormat if a check fails. With other damage, searches may return wrong hits, but
// neither they nor Vector panic.
func OpenSegment(data []byte) (*Segment, error) {
	if !littleEndian {
		return nil, errors.New("vector: segments need a little-endian machine")
	}
	h, err := decodeHeader(data)
	if err != nil {
		return nil, err
	}
	if uintptr(unsafe.Pointer(unsafe.SliceData(data)))%8 != 0 {
		aligned := alignedBytes(len(data))
		copy(aligned, data)
		data = aligned
	}
	s := &Segment{h: h, data: data}
	s.codes = s.section(secCodes)
	s.scales = view[float32](s.section(secScales))
	s.openRows()
	s.ivf = ivf{
		rows:      view[uint32](s.section(secRows)),
		positions: view[uint32](s.section(secPositions)),
		records:   s.section(secRecords),
		offsets:   view[uint32](s.section(secOffsets)),
		centroids: s.section(secCentroids),
		scales:    view[float32](s.section(secCentroidScales)),
		spreads:   view[float32](s.section(secSpreads)),
		mean:      view[float32](s.section(secMean)),
	}
	return s, s.checkLists()
}

// checkLists returns an error unless each position belongs to exactly one list. Searches check
// the rest of the data when they use it.
func (s *Segment) checkLists() error {
	if s.h.kind == kindExact {
		return nil
	}
	o := s.ivf.offsets
	if !slices.IsSorted(o) || o[0] != 0 || int(o[s.h.lists]) != s.h.n {
		return fmt.Errorf("%w: lists do not divide the rows", ErrFormat)
	}
	return nil
}

// section returns the bytes of a section.
func (s *Segment) section(id int) []byte {
	spans, _, _ := s.h.layout()
	at := spans[id]
	return s.data[at.off : at.off+at.size : at.off+at.size]
}

// Verify reads the whole segment and returns ErrFormat if a checksum is wrong.
func (s *Segment) Verify() error {
	_, footer, _ := s.h.layout()
	sums := s.data[footer:]
	last := len(sums) - 4
	if crc32.Checksum(sums[:last], castagnoli) != binary.LittleEndian.Uint32(sums[last:]) {
		return fmt.Errorf("%w: footer checksum", ErrFormat)
	}
	for id := range numSections {
		if crc32.Checksum(s.section(id), castagnoli) != binary.LittleEndian.Uint32(sums[4*id:]) {
			return fmt.Errorf("%w: checksum of section %d", ErrFormat, id)
		}
	}
	return nil
}

// Dim returns the number of dimensions.
func (s *Segment) Dim() int { return s.h.dim }

// Metric returns the metric.
func (s *Segment) Metric() Metric { return s.h.metric }

// Len returns the number of rows.
func (s *Segment) Len() int { return s.h.n }

// Vector returns the vector of a row, normalised if the metric is Cosine. It lies in the segment's
// bytes, or in buf if buf has room for it and some padding. The caller must not change it. Vector
// returns nil if there is no such row.
func (s *Segment) Vector(row uint32, buf []float32) []float32 {
	if int(row) >= s.h.n {
		return nil
	}
	v := s.stored(row)
	if v == nil {
		v = slices.Grow(buf[:0], codeStride(s.h.dim))[:codeStride(s.h.dim)]
		s.unpack(row, v)
	}
	return v[:s.h.dim:s.h.dim]
}

// Coded reports whether searches use 1-bit codes that leave only few rows to score. The codes, a
// fraction of the segment, are then all that must be in memory; see ReadRows.
func (s *Segment) Coded() bool { return s.h.kind == kindIVF1 && s.h.dim >= leanFromDim }

// ReadRows makes searches read float32 rows from r, which reads the segment's bytes, instead of
// using them in place. A row then costs a system call but no memory. In place it would cost
// memory, since a touched page of a mapping, and some pages around it, stay in the memory of
// the process. ReadRows must be called before the first search. Searches return the errors of
// r, or ErrFormat if r ends before a row. Rows of 12 bits are mostly in what is scanned: these are used in place.
func (s *Segment) ReadRows(r io.ReaderAt) { s.reader = r }

// Search appends the best q.K rows to dst, ordered by Compare unless q.AnyOrder is set. It
// returns ErrDimension, or the error of ctx. If the segment has an inverted file, q.Recall is
// the expected share of the true hits. Otherwise the result is exact, except that it may miss
// a row whose 8-bit score is far off its float32 score.
func (s *Segment) Search(ctx context.Context, q *Query, dst []Hit) ([]Hit, error) {
	if len(q.Vector) != s.h.dim {
		return dst, fmt.Errorf("%w: query has %d, want %d", ErrDimension, len(q.Vector), s.h.dim)
	}
	k := min(q.K, s.h.n)
	if k <= 0 {
		return dst, ctx.Err()
	}
	sr := begin(q, s.h.metric, k)
	defer sr.end()
	if !sr.finite() {
		return dst, ctx.Err()
	}
	recall := q.Recall
	if recall == 0 {
		recall = DefaultRecall
	}
	var err error
	if s.h.kind == kindExact || recall >= 1 {
		err = sr.exact(ctx, s, s.h.n)
	} else {
		err = s.approximate(ctx, sr, recall)
	}
	if err == nil {
		err = sr.buf.err
	}
	if err != nil {
		return dst, err
	}
	return sr.appendHits(dst), nil
}

func (s *Segment) rowScale(row uint32) float32 {
	return s.scales[s.position(row)]
}

// maxScale reads the scales once.
func (s *Segment) maxScale() float32 {
	greatest := math.Float32frombits(s.greatest.Load())
	if greatest == 0 && s.h.n > 0 {
		greatest = slices.Max(s.scales[:s.h.n])
		s.greatest.Store(math.Float32bits(greatest))
	}
	return greatest
}

func (s *Segment) scanAll(ctx context.Context, sr *search, n int) error {
	if s.h.kind == kindExact {
		return sr.scan(ctx, s.codes, s.scales[:n], 0)
	}
	for at := 0; at < n; at += blockRows {
		if at%checkRows == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		s.visitCodes(sr, at, min(at+blockRows, n))
	}
	return nil
}
