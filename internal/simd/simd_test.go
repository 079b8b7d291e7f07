package simd

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// kernels is one level's set of kernels, called past the dispatch so that one
// run covers every level that the machine has.
type kernels struct {
	name   string
	dotU8  func(dst []int32, rows []uint8, q []int8)
	dotF32 func(dst []float32, rows []float32, q []float32)
	bits   func(dst []float32, recs []byte, b *BitQuery)
	pick   func(dst []float32, recs []byte, positions []uint32, b *BitQuery) // nil: by bits
	add    func(dst []float32, row []uint8, scale float32)                   // nil: by the level below
	halves func(dst []float32, src []uint16)                                 // nil: by the level below
	twelve func(dst []float32, row, rest []uint8, step float32)              // nil: by the level below
}

var portable = kernels{name: "generic", dotU8: dotU8Generic, dotF32: dotF32Generic, bits: estimateBitsGeneric, add: addScaledGeneric, halves: halvesGeneric, twelve: twelvesGeneric}

// unaligned returns n values whose first is off bytes after a 64-byte boundary.
func unaligned[T any](n, off int) []T {
	var zero T
	size := int(unsafe.Sizeof(zero))
	buf := make([]T, n+128/size)
	at := int(uintptr(unsafe.Pointer(&buf[0])) % 64)
	skip := (64 - at + off) % 64 / size
	return buf[skip : skip+n : skip+n]
}

func TestChoose(t *testing.T) {
	t.Parallel()
	wide, narrow, arm := []Level{Generic, AVX2, AVX512}, []Level{Generic, AVX2}, []Level{Generic, NEON}
	for _, c := range []struct {
		name string
		have []Level
		want Level
	}{
		{"", wide, AVX512},
		{"avx2", wide, AVX2},
		{"generic", wide, Generic},
		{"generic", narrow, Generic},
		{"avx512", narrow, AVX2},
		{"avx2", arm, NEON},
		{"neon", arm, NEON},
		{"neon", wide, AVX512},
		{"generic", arm, Generic},
		{"avx2", []Level{Generic}, Generic},
		{"sse9", narrow, AVX2},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, choose(c.name, c.have), "choose(%q, %v)", c.name, c.have)
		})
	}
	assert.Contains(t, supported(), Active())
}

func TestDotU8MatchesGeneric(t *testing.T) {
	t.Parallel()
	for _, k := range levels() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, 2))
			for stride := 0; stride <= 4096; stride += 64 * (1 + stride/512) {
				for _, n := range []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 17} {
					off := r.IntN(64)
					q, rows := unaligned[int8](stride, off), unaligned[uint8](stride*n, off)
					fillBytes(r, rows, q)
					checkDotU8(t, k, n, rows, q)
				}
			}
		})
	}
}

// fillBytes fills rows and q, now and then with the extremes only, where a
// saturating multiply would show.
func fillBytes(r *rand.Rand, rows []uint8, q []int8) {
	extreme := r.IntN(4) == 0
	for i := range rows {
		rows[i] = uint8(r.Uint32())
		if extreme {
			rows[i] = 255
		}
	}
	for i := range q {
		q[i] = int8(r.Uint32())
		if extreme {
			q[i] = -128
		}
	}
}

func checkDotU8(t *testing.T, k kernels, n int, rows []uint8, q []int8) {
	t.Helper()
	want, got := make([]int32, n), make([]int32, n+1)
	for i := range want {
		for j := range q {
			want[i] += int32(rows[i*len(q)+j]) * int32(q[j])
		}
	}
	got[n] = 42
	if n > 0 && len(q) > 0 {
		k.dotU8(got[:n], rows, q)
	}
	require.Equal(t, want, got[:n], "%s: stride %d, %d rows", k.name, len(q), n)
	require.Equal(t, int32(42), got[n], "%s wrote past the end", k.name)
}

func TestDotF32MatchesGeneric(t *testing.T) {
	t.Parallel()
	for _, k := range levels() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(3, 4))
			for stride := 16; stride <= 4096; stride += 16 * (1 + stride/256) {
				for _, n := range []int{1, 2, 3, 4, 5, 8, 11} {
					off := 4 * r.IntN(16)
					q, rows := unaligned[float32](stride, off), unaligned[float32](stride*n, off)
					fillFloats(r, rows)
					fillFloats(r, q)
					checkDotF32(t, k, n, rows, q)
				}
			}
		})
	}
}

// fillFloats mixes magnitudes, so that another order of additions gives other bits.
func fillFloats(r *rand.Rand, x []float32) {
	for i := range x {
		x[i] = float32(r.NormFloat64()) * float32(uint32(1)<<r.IntN(12))
	}
}

func checkDotF32(t *testing.T, k kernels, n int, rows, q []float32) {
	t.Helper()
	want, got := make([]float32, n), make([]float32, n+1)
	got[n] = 42
	dotF32Generic(want, rows, q)
	k.dotF32(got[:n], rows, q)
	require.Equal(t, want, got[:n], "%s: %d values, %d rows", k.name, len(q), n)
	require.Equal(t, float32(42), got[n], "%s wrote past the end", k.name)
}

// TestDotF32Generic compares the portable kernel with a plain sum in float64. The other kernels are compared with the portable one, so it
// needs a reference of its own.
func TestDotF32Generic(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{16, 48, 384, 4096} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			q, row, got := make([]float32, n), make([]float32, n), make([]float32, 1)
			var want float64
			for i := range q {
				q[i], row[i] = r.Float32()-.5, r.Float32()-.5
				want += float64(q[i]) * float64(row[i])
			}
			dotF32Generic(got, row, q)
			assert.InDelta(t, want, got[0], 1e-4, "n=%d", n)
		})
	}
}

func TestEmptyAndShort(t *testing.T) {
	t.Parallel()
	DotU8(nil, nil, make([]int8, 64))
	DotF32(nil, nil, make([]float32, 16))
	d8, d32 := []int32{7}, []float32{7}
	DotU8(d8, nil, nil)
	DotF32(d32, nil, nil)
	assert.Equal(t, []int32{0}, d8)
	assert.Equal(t, []float32{0}, d32)
	assert.Panics(t, func() { DotU8(make([]int32, 2), make([]uint8, 127), make([]int8, 64)) })
	assert.Panics(t, func() { DotU8(make([]int32, 1), make([]uint8, 64), make([]int8, 63)) })
	assert.Panics(t, func() { DotF32(make([]float32, 2), make([]float32, 31), make([]float32, 16)) })
	assert.Panics(t, func() { DotF32(make([]float32, 1), make([]float32, 16), make([]float32, 15)) })
}

func TestPrefetchReadsOnly(t *testing.T) {
	t.Parallel()
	b := []byte{1, 2, 3}
	Prefetch(b)
	Prefetch(make([]byte, 1000))
	assert.Equal(t, []byte{1, 2, 3}, b)
}

func FuzzDotU8(f *testing.F) {
	f.Add(uint64(1), uint8(1), uint8(1), uint8(0))
	f.Add(uint64(2), uint8(6), uint8(5), uint8(63))
	f.Fuzz(func(t *testing.T, seed uint64, chunks, n, off uint8) {
		stride := 64 * (1 + int(chunks)%64)
		rows, q := unaligned[uint8](stride*(1+int(n)), int(off)%64), unaligned[int8](stride, int(off/3)%64)
		fillBytes(rand.New(rand.NewPCG(seed, 7)), rows, q)
		for _, k := range levels() {
			checkDotU8(t, k, 1+int(n), rows, q)
		}
	})
}

func FuzzDotF32(f *testing.F) {
	f.Add(uint64(1), uint8(1), uint8(1), uint8(0))
	f.Add(uint64(2), uint8(24), uint8(5), uint8(63))
	f.Fuzz(func(t *testing.T, seed uint64, chunks, n, off uint8) {
		stride := 16 * (1 + int(chunks))
		rows, q := unaligned[float32](stride*(1+int(n)), int(off)%16*4), unaligned[float32](stride, int(off/3)%16*4)
		r := rand.New(rand.NewPCG(seed, 8))
		fillFloats(r, rows)
		fillFloats(r, q)
		for _, k := range levels() {
			checkDotF32(t, k, 1+int(n), rows, q)
		}
	})
}

func BenchmarkDotU8(b *testing.B) {
	for _, dim := range []int{128, 384, 768} {
		for _, k := range levels() {
			for _, rows := range []int{256, 100_000} {
				b.Run(fmt.Sprintf("%s/%dx%d", k.name, rows, dim), func(b *testing.B) {
					data, q, dst := unaligned[uint8](rows*dim, 0), make([]int8, dim), make([]int32, 256)
					fillBytes(rand.New(rand.NewPCG(9, 9)), data, q)
					b.SetBytes(int64(len(data)))
					for b.Loop() {
						for at := 0; at < rows; at += len(dst) {
							n := min(len(dst), rows-at)
							k.dotU8(dst[:n], data[at*dim:], q)
						}
					}
				})
			}
		}
	}
}
