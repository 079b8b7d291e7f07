package simd

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bitCase returns a query of dim values and n records of random bytes, whose
// factors and offsets are ordinary numbers.
func bitCase(r *rand.Rand, dim, n, spare, off int) (values []int8, recs []byte, b *BitQuery) {
	stride := (dim/8 + 8 + spare + 63) &^ 63
	if dim == 8*HalfCode && spare%2 == 0 {
		stride = HalfLine
	}
	values, recs = make([]int8, dim), unaligned[byte](stride*n, off)
	extreme := r.IntN(4) == 0
	for i := range values {
		values[i] = int8(r.IntN(16) - 8)
		if extreme {
			values[i] = -8
		}
	}
	for i := range recs {
		recs[i] = byte(r.Uint32())
		if extreme {
			recs[i] = 255
		}
	}
	for i := range n {
		meta := recs[i*stride+dim/8:]
		binary.LittleEndian.PutUint32(meta, math.Float32bits(r.Float32()))
		binary.LittleEndian.PutUint32(meta[4:], math.Float32bits(r.Float32()-.5))
	}
	b = new(BitQuery)
	b.Set(values, stride)
	b.Weigh(r.Float32(), r.Float32()*10-5)
	return values, recs, b
}

func checkBits(t *testing.T, k kernels, n int, recs []byte, b *BitQuery) {
	t.Helper()
	want, got := make([]float32, n), make([]float32, n+1)
	got[n] = 42
	estimateBitsGeneric(want, recs, b)
	k.bits(got[:n], recs, b)
	require.Equal(t, want, got[:n], "%s: stride %d, meta %d, %d records", k.name, b.stride, b.meta, n)
	require.Equal(t, float32(42), got[n], "%s wrote past the end", k.name)
}

func TestEstimateBitsMatchesGeneric(t *testing.T) {
	t.Parallel()
	for _, k := range levels() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, 3))
			for dim := 64; dim <= 4096; dim += 64 * (1 + dim/1024) {
				for _, n := range []int{1, 2, 7, 8, 9, 16, 23} {
					_, recs, b := bitCase(r, dim, n, r.IntN(60), r.IntN(64))
					checkBits(t, k, n, recs, b)
				}
			}
			for n := 1; n <= 70; n++ {
				_, recs, b := bitCase(r, 8*HalfCode, n, 0, r.IntN(64))
				checkBits(t, k, n, recs, b)
			}
		})
	}
}

// checkPick compares estimates of records at random positions with those of all records.
func checkPick(t *testing.T, r *rand.Rand, k kernels, picks, n int, recs []byte, b *BitQuery) {
	t.Helper()
	all, positions, want := make([]float32, n), make([]uint32, picks), make([]float32, picks)
	estimateBitsGeneric(all, recs, b)
	for i := range positions {
		positions[i] = uint32(r.IntN(n))
		want[i] = all[positions[i]]
	}
	got := make([]float32, picks+1)
	got[picks] = 42
	if k.pick != nil {
		k.pick(got[:picks], recs, positions, b)
	} else {
		pickEach(got[:picks], recs, positions, b, k.bits)
	}
	require.Equal(t, want, got[:picks], "%s: stride %d, meta %d, %d of %d records", k.name, b.stride, b.meta, picks, n)
	require.Equal(t, float32(42), got[picks], "%s wrote past the end", k.name)
}

func TestPickBitsMatchesGeneric(t *testing.T) {
	t.Parallel()
	for _, k := range levels() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, 4))
			for dim := 64; dim <= 4096; dim += 64 * (1 + dim/512) {
				for _, n := range []int{1, 5, 40} {
					_, recs, b := bitCase(r, dim, n, r.IntN(60), r.IntN(64))
					for _, picks := range []int{1, 7, 8, 9, 23, 24, 25, 47} {
						checkPick(t, r, k, picks, n, recs, b)
					}
				}
			}
			for picks := 1; picks <= 70; picks++ {
				_, recs, b := bitCase(r, 8*HalfCode, 50, 0, r.IntN(64))
				checkPick(t, r, k, picks, 50, recs, b)
			}
		})
	}
}

func TestPickBitsShort(t *testing.T) {
	t.Parallel()
	_, recs, b := bitCase(rand.New(rand.NewPCG(3, 4)), 384, 3, 4, 0)
	PickBits(nil, nil, nil, b)
	got, want := make([]float32, 2), make([]float32, 3)
	PickBits(got, recs, []uint32{2, 0}, b)
	estimateBitsGeneric(want, recs, b)
	assert.Equal(t, []float32{want[2], want[0]}, got)
	assert.Panics(t, func() { PickBits(got, recs, []uint32{0, 3}, b) })
	assert.Panics(t, func() { PickBits(got, recs, []uint32{0}, b) })
}

// The portable kernel against the definition, bit by bit.
func TestEstimateBitsGeneric(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 3))
	for _, dim := range []int{64, 128, 384, 448, 1536} {
		t.Run(fmt.Sprint(dim), func(t *testing.T) {
			values, recs, b := bitCase(r, dim, 5, 4, 0)
			got := make([]float32, 5)
			estimateBitsGeneric(got, recs, b)
			for i := range got {
				rec := recs[i*b.stride:]
				sum := 0
				for j, v := range values {
					if rec[j/8]>>(j%8)&1 == 1 {
						sum += int(v)
					}
				}
				factor := math.Float32frombits(binary.LittleEndian.Uint32(rec[dim/8:]))
				offset := math.Float32frombits(binary.LittleEndian.Uint32(rec[dim/8+4:]))
				want := float64(offset) + float64(factor)*(float64(b.scale)*float64(sum)+float64(b.shift))
				assert.InDelta(t, want, got[i], 1e-4*(1+math.Abs(want)))
			}
		})
	}
}

func TestEstimateBitsShort(t *testing.T) {
	t.Parallel()
	for _, spare := range []int{0, 1} {
		t.Run(fmt.Sprint(spare), func(t *testing.T) { // half a line, and a whole one
			_, recs, b := bitCase(rand.New(rand.NewPCG(3, 3)), 128, 2, spare, 0)
			EstimateBits(nil, nil, b)
			got, want := make([]float32, 2), make([]float32, 2)
			EstimateBits(got, recs, b)
			estimateBitsGeneric(want, recs, b)
			assert.Equal(t, want, got)
			assert.Panics(t, func() { EstimateBits(make([]float32, 3), recs, b) })
		})
	}
	assert.Panics(t, func() { new(BitQuery).Set(make([]int8, 64), HalfLine) })
}

func FuzzEstimateBits(f *testing.F) {
	f.Add(uint64(1), uint8(1), uint8(1), uint8(0))
	f.Add(uint64(2), uint8(6), uint8(9), uint8(63))
	f.Fuzz(func(t *testing.T, seed uint64, words, n, off uint8) {
		r := rand.New(rand.NewPCG(seed, 9))
		_, recs, b := bitCase(r, 64*(1+int(words)%64), 1+int(n), r.IntN(60), int(off)%64)
		for _, k := range levels() {
			checkBits(t, k, 1+int(n), recs, b)
			checkPick(t, r, k, 1+int(off), 1+int(n), recs, b)
		}
	})
}

func BenchmarkEstimateBits(b *testing.B) {
	for _, dim := range []int{128, 384, 768} {
		_, recs, q := bitCase(rand.New(rand.NewPCG(4, 3)), dim, 1024, 4, 0)
		dst := make([]float32, 256)
		for _, k := range levels() {
			b.Run(fmt.Sprintf("%s/%d", k.name, dim), func(b *testing.B) {
				for b.Loop() {
					for at := 0; at < 1024; at += len(dst) {
						k.bits(dst, recs[at*q.stride:], q)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/row")
			})
		}
	}
}

func BenchmarkPickBits(b *testing.B) {
	const n, picks = 200_000, 2_000
	r := rand.New(rand.NewPCG(4, 3))
	_, recs, q := bitCase(r, 384, n, 4, 0)
	positions, dst := make([]uint32, picks), make([]float32, picks)
	for i := range positions {
		positions[i] = uint32(r.IntN(n))
	}
	for _, k := range levels() {
		b.Run(k.name, func(b *testing.B) {
			for b.Loop() {
				if k.pick != nil {
					k.pick(dst, recs, positions, q)
				} else {
					pickEach(dst, recs, positions, q, k.bits)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/picks, "ns/row")
		})
	}
}
