package vector

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/bitset"
)

// smallIVF makes WriteSegment build an inverted file even for few rows.
var smallIVF = &WriteOptions{ExactRows: 100}

func TestIVFRecall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dim    int
		metric Metric
		kind   kind
	}{
		{64, InnerProduct, kindIVF8},
		{65, Cosine, kindIVF1},
		{100, Cosine, kindIVF1},
		{128, InnerProduct, kindIVF1},
		{160, InnerProduct, kindIVF1},
		{200, Cosine, kindIVF1},
		{384, InnerProduct, kindIVF1},
		{600, Cosine, kindIVF1},
	} {
		if testing.Short() && c.dim > shortDim {
			continue
		}
		t.Run(fmt.Sprintf("dim=%d,metric=%d", c.dim, c.metric), func(t *testing.T) {
			t.Parallel()
			gen := newClusters(uint64(c.dim), c.dim, 40, 1.5)
			vs := gen.take(6000)
			s := segmentOf(t, c.dim, c.metric, vs, smallIVF)
			require.Equal(t, c.kind, s.h.kind)
			queries := gen.take(40)
			o := newOracle(vs, c.metric)
			for _, accept := range []float64{1, .5, .1, .01} {
				for _, r := range []io.ReaderAt{nil, bytes.NewReader(s.data)} {
					s.reader = r
					got := ivfRecall(t, s, o, queries, accept, .9, DefaultRecall, .99, 1)
					for i, want := range []float32{.89, .97, .98, 1} {
						assert.GreaterOrEqual(t, got[i], want, "accept=%v, rows are read: %v", accept, r != nil)
					}
				}
			}
		})
	}
}

// ivfRecall searches s with each of recalls and returns the share of the true top 10 found. It
// checks that the hits are accepted, correctly scored and in order.
func ivfRecall(t *testing.T, s *Segment, o *oracle, queries [][]float32, accept float64, recalls ...float32) []float32 {
	t.Helper()
	found, want := make([]float32, len(recalls)), 0
	for i, v := range queries {
		q := &Query{Vector: v, K: 10}
		if accept < 1 {
			q.Accept = share(rand.New(rand.NewPCG(uint64(i), 5)), len(o.rows), accept)
		}
		all := o.all(q)
		truth := all[:min(q.K, len(all))]
		score := map[uint32]float32{}
		for _, h := range all {
			score[h.Row] = h.Score
		}
		want += len(truth)
		for j, recall := range recalls {
			q.Recall = recall
			hits, err := s.Search(t.Context(), q, nil)
			require.NoError(t, err)
			require.Len(t, hits, len(truth))
			require.True(t, slices.IsSortedFunc(hits, Compare))
			for _, h := range hits {
				x, ok := score[h.Row]
				require.True(t, ok && x == h.Score, "row %d: %v, want %v", h.Row, h.Score, x)
			}
			found[j] += float32(common(hits, truth))
		}
	}
	for j := range found {
		found[j] /= float32(want)
	}
	return found
}

// failing is a reader whose reads fail.
type failing struct{}

func (failing) ReadAt([]byte, int64) (int, error) { return 0, errors.New("the disk is gone") }

// TestReadRowsFails checks that a search fails if a row cannot be read.
func TestReadRowsFails(t *testing.T) {
	t.Parallel()
	for _, dim := range []int{64, 128, 256} {
		t.Run(fmt.Sprint(dim), func(t *testing.T) {
			gen := newClusters(3, dim, 5, 1)
			s := segmentOf(t, dim, InnerProduct, gen.take(500), smallIVF)
			require.Equal(t, dim > 200, s.Coded())
			q := &Query{Vector: gen.take(1)[0], K: 4}
			few := bitset.New(500)
			few.Add(7)
			for _, q := range []*Query{q, {Vector: q.Vector, K: 4, Recall: 1}, {Vector: q.Vector, K: 4, Accept: few}} {
				s.ReadRows(failing{})
				_, err := s.Search(t.Context(), q, nil)
				require.ErrorContains(t, err, "the disk is gone")
				s.ReadRows(bytes.NewReader(s.data[:headerSize]))
				_, err = s.Search(t.Context(), q, nil)
				require.ErrorIs(t, err, ErrFormat)
				s.ReadRows(bytes.NewReader(s.data))
				hits, err := s.Search(t.Context(), q, nil)
				require.NoError(t, err)
				require.NotEmpty(t, hits)
			}
		})
	}
}

// TestIVFDegenerate writes rows that are all equal or have few distinct values. Lists stay empty,
// and residuals and the calibration are zero.
func TestIVFDegenerate(t *testing.T) {
	t.Parallel()
	for _, dim := range []int{8, 120, 256} {
		t.Run(fmt.Sprint(dim), func(t *testing.T) {
			for _, distinct := range []int{1, 3} {
				gen := newClusters(9, dim, 5, 1)
				base := gen.take(distinct)
				base[0] = slices.Clone(base[0])
				vs := make([][]float32, 500)
				for i := range vs {
					vs[i] = base[i%distinct]
				}
				s := segmentOf(t, dim, InnerProduct, vs, smallIVF)
				hits, err := s.Search(t.Context(), &Query{Vector: base[0], K: 4}, nil)
				require.NoError(t, err)
				require.Len(t, hits, 4)
				want := brute(vs, InnerProduct, &Query{Vector: base[0], K: 4})
				for i := range hits {
					assert.Equal(t, want[i].Score, hits[i].Score)
				}
				for _, odd := range []float32{0, float32(math.NaN()), float32(math.Inf(1))} {
					q := &Query{Vector: make([]float32, dim), K: 4}
					q.Vector[0] = odd
					hits, err := s.Search(t.Context(), q, nil)
					require.NoError(t, err)
					if odd == 0 {
						assert.Equal(t, []Hit{{0, 0}, {1, 0}, {2, 0}, {3, 0}}, hits)
					} else {
						assert.Empty(t, hits)
					}
				}
			}
		})
	}
}

// TestIVFOddRows checks that rows with NaN do not affect other rows.
func TestIVFOddRows(t *testing.T) {
	t.Parallel()
	for _, dim := range []int{32, 128, 256} {
		t.Run(fmt.Sprint(dim), func(t *testing.T) {
			gen := newClusters(10, dim, 5, 1)
			vs := gen.take(1000)
			for i, x := range []float64{math.NaN(), math.Inf(1), 3e38, 0} {
				vs[100+i] = make([]float32, dim)
				vs[100+i][i] = float32(x)
			}
			s := segmentOf(t, dim, InnerProduct, vs, smallIVF)
			for _, row := range []uint32{7, 500, 999} {
				hits, err := s.Search(t.Context(), &Query{Vector: vs[row], K: 20}, nil)
				require.NoError(t, err)
				assert.True(t, slices.ContainsFunc(hits, func(h Hit) bool { return h.Row == row }), "dim=%d row=%d", dim, row)
			}
		})
	}
}

func TestWriteSegmentRepeatable(t *testing.T) {
	t.Parallel()
	vs := newClusters(4, 256, 10, 1).take(700)
	assert.True(t, bytes.Equal(segmentBytes(t, 256, Cosine, vs, smallIVF), segmentBytes(t, 256, Cosine, vs, smallIVF)))
}

func TestWriteSegmentRefuses(t *testing.T) {
	t.Parallel()
	vec := func(int) []float32 { return make([]float32, 4) }
	for name, err := range map[string]error{
		"dimensions":  WriteSegment(new(bytes.Buffer), 0, Cosine, 1, vec, nil),
		"metric":      WriteSegment(new(bytes.Buffer), 4, Metric(7), 1, vec, nil),
		"rows":        WriteSegment(new(bytes.Buffer), 4, Cosine, -1, vec, nil),
		"row":         WriteSegment(new(bytes.Buffer), 5, Cosine, 1, vec, nil),
		"row of many": WriteSegment(new(bytes.Buffer), 5, Cosine, 200, vec, smallIVF),
		"writer":      WriteSegment(brokenWriter{}, 4, Cosine, 1, vec, nil),
	} {
		t.Run(name, func(t *testing.T) {
			assert.Error(t, err, name)
		})
	}
}

// TestWriteSegmentCheck lets each call of Check fail in turn. Each must end WriteSegment.
func TestWriteSegmentCheck(t *testing.T) {
	t.Parallel()
	vs := newClusters(5, 256, 5, 1).take(3000)
	calls := 0
	count := &WriteOptions{ExactRows: 100, Check: func() error { calls++; return nil }}
	whole := segmentBytes(t, 256, Cosine, vs, count)
	require.Greater(t, calls, trainRounds)
	for stop := 1; stop <= calls; stop += shortly(1, 9) {
		n := 0
		opts := &WriteOptions{ExactRows: 100, Workers: 1, Check: func() error {
			if n++; n == stop {
				return context.Canceled
			}
			return nil
		}}
		var b bytes.Buffer
		err := WriteSegment(&b, 256, Cosine, len(vs), func(i int) []float32 { return vs[i] }, opts)
		require.ErrorIs(t, err, context.Canceled, "call %d", stop)
		require.Less(t, b.Len(), len(whole))
	}
	one := segmentBytes(t, 256, Cosine, vs, &WriteOptions{ExactRows: 100, Workers: 1})
	assert.True(t, bytes.Equal(whole, one), "workers must not matter")
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, assert.AnError }

func TestSegmentConcurrent(t *testing.T) {
	t.Parallel()
	gen := newClusters(6, 256, 10, 1)
	vs := gen.take(1500)
	s := segmentOf(t, 256, InnerProduct, vs, smallIVF)
	var wg sync.WaitGroup
	for i, v := range gen.take(8) {
		wg.Go(func() {
			q := &Query{Vector: v, K: 10, Accept: share(rand.New(rand.NewPCG(1, uint64(i))), len(vs), .5)}
			first, err := s.Search(t.Context(), q, nil)
			assert.NoError(t, err)
			for range 50 {
				again, err := s.Search(t.Context(), q, nil)
				assert.NoError(t, err)
				assert.Equal(t, first, again)
			}
		})
	}
	wg.Wait()
}

// damagedSegments returns small segments to be damaged: of all three kinds, with both sizes of records, and
// with rows of 16-bit numbers.
func damagedSegments(t testing.TB) [][]byte {
	gen, narrow, wide := newClusters(7, 20, 5, 1), newClusters(7, 128, 5, 1), newClusters(7, 200, 5, 1)
	return [][]byte{
		segmentBytes(t, 20, InnerProduct, gen.take(150), nil),
		segmentBytes(t, 20, InnerProduct, gen.take(150), smallIVF),
		segmentBytes(t, 128, InnerProduct, narrow.take(150), smallIVF),
		segmentBytes(t, 200, Cosine, wide.take(150), smallIVF),
		segmentBytes(t, 128, InnerProduct, halved(narrow.take(150)), smallIVF),
	}
}

func TestOpenSegmentCut(t *testing.T) {
	t.Parallel()
	for _, data := range damagedSegments(t) {
		for _, n := range []int{0, 1, 7, headerSize - 1, headerSize, len(data) / 2, len(data) - 1} {
			_, err := OpenSegment(data[:n])
			require.ErrorIs(t, err, ErrFormat, "%d of %d bytes", n, len(data))
		}
		_, err := OpenSegment(append(slices.Clone(data), 0))
		require.ErrorIs(t, err, ErrFormat)
	}
}

// TestOpenSegmentForgedHeader sets every header field to odd values and corrects the checksum.
func TestOpenSegmentForgedHeader(t *testing.T) {
	t.Parallel()
	for _, data := range damagedSegments(t) {
		for at := 0; at < widthsAt; at += 4 {
			for _, x := range []uint32{0, 1, 0x7fffffff, 0x80000000, 0xffffffff} {
				b := slices.Clone(data)
				if binary.LittleEndian.Uint32(b[at:]) == x {
					continue
				}
				binary.LittleEndian.PutUint32(b[at:], x)
				useDamaged(t, forge(b))
			}
		}
	}
}

// forge corrects the header's checksum.
func forge(b []byte) []byte {
	binary.LittleEndian.PutUint32(b[headerSumAt:], crc32.Checksum(b[:headerSumAt], castagnoli))
	return b
}

// useDamaged opens and searches arbitrary bytes. A panic fails the test.
func useDamaged(t *testing.T, data []byte) {
	t.Helper()
	s, err := OpenSegment(data)
	if err != nil {
		require.ErrorIs(t, err, ErrFormat)
		return
	}
	_ = s.Verify()
	q := &Query{Vector: make([]float32, s.Dim()), K: 10}
	for i := range q.Vector {
		q.Vector[i] = float32(i%7) - 3
	}
	for _, accept := range []float64{1, .2, .02} {
		for _, recall := range []float32{0, 1} {
			q.Accept, q.Recall = share(rand.New(rand.NewPCG(1, 1)), s.Len(), accept), recall
			hits, err := s.Search(t.Context(), q, nil)
			require.NoError(t, err)
			for _, h := range hits {
				require.NotNil(t, s.Vector(h.Row, nil))
			}
		}
	}
	for _, row := range []uint32{0, uint32(s.Len() - 1), uint32(s.Len()), math.MaxUint32} {
		s.Vector(row, nil)
	}
}

func TestSegmentDamage(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(31, 32))
	for _, data := range damagedSegments(t) {
		for range 200 {
			b := slices.Clone(data)
			at := headerSize + r.IntN(len(b)-headerSize)
			b[at] ^= 1 << r.IntN(8)
			useDamaged(t, b)
		}
		// Overwrite whole sections with one byte.
		good, err := OpenSegment(data)
		require.NoError(t, err)
		spans, _, _ := good.h.layout()
		for id, sp := range spans {
			for _, fill := range []byte{0, 0x7f, 0xff} {
				b := slices.Clone(data)
				for i := range sp.size {
					b[sp.off+i] = fill
				}
				useDamaged(t, b)
				if s, err := OpenSegment(b); sp.size > 0 && err == nil {
					require.ErrorIs(t, s.Verify(), ErrFormat, "section %d", id)
				}
			}
		}
		// Verify checks the sections, and decodeHeader the header; only padding is unchecked.
		for range 100 {
			b := slices.Clone(data)
			sp := spans[r.IntN(numSections)]
			if sp.size == 0 {
				continue
			}
			b[sp.off+r.IntN(sp.size)] ^= 1 << r.IntN(8)
			if s, err := OpenSegment(b); err == nil {
				require.ErrorIs(t, s.Verify(), ErrFormat)
			}
		}
	}
}

func TestOpenSegmentUnaligned(t *testing.T) {
	t.Parallel()
	vs := newClusters(8, 20, 5, 1).take(150)
	data := segmentBytes(t, 20, InnerProduct, vs, smallIVF)
	for off := range 9 {
		buf := alignedBytes(len(data) + off)[off:]
		copy(buf, data)
		s, err := OpenSegment(buf)
		require.NoError(t, err)
		require.NoError(t, s.Verify())
		assert.Equal(t, vs[149], s.Vector(149, nil))
		hits, err := s.Search(t.Context(), &Query{Vector: vs[3], K: 1, Recall: .99}, nil)
		require.NoError(t, err)
		assert.Equal(t, brute(vs, InnerProduct, &Query{Vector: vs[3], K: 1}), hits)
	}
}

func FuzzOpenSegment(f *testing.F) {
	for _, data := range damagedSegments(f) {
		f.Add(data, uint16(0), byte(0))
		f.Add(data, uint16(20), byte(255))
	}
	f.Fuzz(func(t *testing.T, data []byte, at uint16, x byte) {
		if len(data) < headerSize {
			useDamaged(t, data)
			return
		}
		b := slices.Clone(data)
		b[int(at)%len(b)] ^= x
		useDamaged(t, forge(b))
	})
}

// TestRotation checks that a rotation preserves lengths and angles, and spreads a single coordinate over all.
func TestRotation(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(41, 42))
	for _, dim := range []int{64, 128, 192, 384, 448, 768, 1536, 4096} {
		t.Run(fmt.Sprint(dim), func(t *testing.T) {
			rot := rotationOf(dim)
			require.Equal(t, dim, rot.dim)
			a, b := make([]float32, dim), make([]float32, dim)
			var before, after, length float64
			for i := range a {
				a[i], b[i] = float32(r.NormFloat64()), float32(r.NormFloat64())
				before += float64(a[i]) * float64(b[i])
			}
			rot.apply(a)
			rot.apply(b)
			for i := range a {
				after += float64(a[i]) * float64(b[i])
			}
			assert.InDelta(t, before, after, 1e-3*float64(dim))
			for range 5 {
				one := make([]float32, dim)
				one[r.IntN(dim)] = 1
				rot.apply(one)
				length = 0
				for _, x := range one {
					assert.Less(t, math.Abs(float64(x)), 6/math.Sqrt(float64(dim)), "dim=%d", dim)
					length += float64(x) * float64(x)
				}
				assert.InDelta(t, 1, length, 1e-4)
			}
		})
	}
}
