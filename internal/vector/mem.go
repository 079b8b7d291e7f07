package vector

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/contextmem/contextmem/internal/simd"
)

// chunkRows is the number of rows that a Mem allocates at a time. It is the number of rows of
// a filter's word, and takes 41 KB for the default model's 128 dimensions.
const chunkRows = 64

// chunk holds chunkRows rows.
type chunk struct {
	codes  []uint8
	floats []float32
	scales [chunkRows]float32
}

// Mem is an in-memory part to which rows can be appended. It is safe for concurrent use:
// searches and reads run during an append, and appends exclude each other. A search sees
// the rows that were appended before it began.
type Mem struct {
	dim    int
	metric Metric

	mu     sync.Mutex // held while appending
	n      atomic.Uint32
	chunks atomic.Pointer[[]*chunk]
	scale  atomic.Uint32 // bits of the greatest 8-bit scale of a row
}

// NewMem returns an empty part. It allocates no rows before the first Append. It
// panics if dim is not in 1..MaxDim or the metric is unknown.
func NewMem(dim int, metric Metric) *Mem {
	if err := checkShape(dim, metric); err != nil {
		panic(err)
	}
	m := &Mem{dim: dim, metric: metric}
	m.chunks.Store(new([]*chunk))
	return m
}

// Dim returns the number of dimensions.
func (m *Mem) Dim() int { return m.dim }

// Metric returns the metric.
func (m *Mem) Metric() Metric { return m.metric }

// Len returns the number of rows.
func (m *Mem) Len() int { return int(m.n.Load()) }

// Append adds a copy of v and returns its row number; the first is 0. It panics if
// len(v) is not Dim, or if the part has MaxRows rows.
func (m *Mem) Append(v []float32) (row uint32) {
	if len(v) != m.dim {
		panic(fmt.Errorf("%w: %d, want %d", ErrDimension, len(v), m.dim))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	row = m.n.Load()
	if row == MaxRows {
		panic("vector: part is full")
	}
	chunks := *m.chunks.Load()
	if int(row) == len(chunks)*chunkRows {
		// Readers hold the old slice header and never read beyond its length, so
		// growing in place is safe.
		chunks = append(chunks, newChunk(m.dim))
		m.chunks.Store(&chunks)
	}
	c, i := chunks[row/chunkRows], int(row%chunkRows)
	fs, cs := floatStride(m.dim), codeStride(m.dim)
	f := c.floats[i*fs:][:m.dim]
	copy(f, v)
	if m.metric == Cosine {
		normalise(f)
	}
	c.scales[i] = quantiseRow(c.codes[i*cs:][:cs], f)
	m.scale.Store(math.Float32bits(max(m.maxScale(), c.scales[i])))
	m.n.Store(row + 1)
	return row
}

func newChunk(dim int) *chunk {
	return &chunk{
		codes:  alignedBytes(chunkRows * codeStride(dim)),
		floats: make([]float32, chunkRows*floatStride(dim)),
	}
}

// alignedBytes returns n bytes that begin at a cache line.
func alignedBytes(n int) []byte {
	b := make([]byte, n+simd.AlignU8)
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (simd.AlignU8 - 1)
	return b[skip : skip+n : skip+n]
}

// Vector returns the vector of a row, normalised if the metric is Cosine. The caller must
// not change it. Vector returns nil if there is no such row. It does not use the buffer.
func (m *Mem) Vector(row uint32, _ []float32) []float32 {
	if row >= m.n.Load() {
		return nil
	}
	return m.floatRow(row, nil)[:m.dim:m.dim]
}

// Search appends the best q.K rows to dst, ordered by Compare unless q.AnyOrder is set. It
// returns ErrDimension, or the error of ctx. The result is exact, except that it may miss
// a row whose 8-bit score is far off its float32 score.
func (m *Mem) Search(ctx context.Context, q *Query, dst []Hit) ([]Hit, error) {
	if len(q.Vector) != m.dim {
		return dst, fmt.Errorf("%w: query has %d, want %d", ErrDimension, len(q.Vector), m.dim)
	}
	n := m.Len()
	k := min(q.K, n)
	if k <= 0 {
		return dst, ctx.Err()
	}
	s := begin(q, m.metric, k)
	defer s.end()
	if !s.finite() {
		return dst, ctx.Err()
	}
	if err := s.exact(ctx, m, n); err != nil {
		return dst, err
	}
	return s.appendHits(dst), nil
}

func (m *Mem) floatRow(row uint32, _ *rowBuf) []float32 {
	fs, i := floatStride(m.dim), int(row%chunkRows)
	return (*m.chunks.Load())[row/chunkRows].floats[i*fs : (i+1)*fs]
}

func (m *Mem) floatRun(first uint32, _ *rowBuf) []float32 {
	return (*m.chunks.Load())[first/chunkRows].floats
}

func (m *Mem) rowScale(row uint32) float32 {
	return (*m.chunks.Load())[row/chunkRows].scales[row%chunkRows]
}

func (m *Mem) maxScale() float32 { return math.Float32frombits(m.scale.Load()) }

func (m *Mem) scanAll(ctx context.Context, s *search, n int) error {
	chunks := *m.chunks.Load()
	for first := 0; first < n; first += chunkRows {
		c := chunks[first/chunkRows]
		if err := s.scan(ctx, c.codes, c.scales[:min(chunkRows, n-first)], first); err != nil {
			return err
		}
	}
	return nil
}
