package half

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each of the 65,536 values comes back, and between two neighbours the nearer one is taken, the even one in the middle.
func TestAllValues(t *testing.T) {
	for i := range 1 << 16 {
		h := uint16(i)
		f := Float(h)
		if f != f {
			require.Equal(t, uint16(0x7E00), Of(f)&0x7FFF)
			continue
		}
		require.Equal(t, h, Of(f))
		require.True(t, Exact(f))
		if h&0x7FFF >= 0x7BFF { // none above
			continue
		}
		next := Float(h + 1)
		middle := float32((float64(f) + float64(next)) / 2) // it has one bit more: exact
		even := h + h&1
		require.Equal(t, even, Of(middle), "%x", h)
		require.Equal(t, h, Of(math.Nextafter32(middle, f)), "%x", h)
		require.Equal(t, h+1, Of(math.Nextafter32(middle, next)), "%x", h)
		require.False(t, Exact(middle))
	}
	assert.Equal(t, float32(1), Float(0x3C00))
	assert.Equal(t, float32(-2), Float(0xC000))
	assert.Equal(t, float32(65504), Float(0x7BFF))
	assert.Equal(t, float32(1./(1<<24)), Float(1))
	assert.Equal(t, uint16(0x7C00), Of(65520))
	assert.Equal(t, uint16(0xFC00), Of(float32(math.Inf(-1))))
	assert.Zero(t, Of(1e-30))
}

func TestRounded(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	v := make([]float32, 384)
	norm := 0.
	for i := range v {
		v[i] = float32(r.NormFloat64())
		norm += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(norm))
	}
	was := append([]float32(nil), v...)
	got := Rounded(nil, v)
	require.Equal(t, was, v)
	dot, own := 0., 0.
	for i, f := range got {
		require.True(t, Exact(f))
		dot += float64(f) * float64(v[i])
		own += float64(f) * float64(f)
	}
	assert.InDelta(t, 1, dot, 1e-4)
	assert.InDelta(t, 1, dot/math.Sqrt(own), 1e-7)
	assert.Equal(t, got, Rounded(nil, got))
	for name, v := range map[string][]float32{"tiny": {1e-4, 2e-4}, "huge": {1, 70000}, "zero": {0, 0}, "none": nil} {
		out := Rounded(make([]float32, 0, 8), v)
		assert.Equal(t, v, out, name)
	}
}

// The short ways for most numbers give what the conversion there and back gives.
func TestShortWays(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 1 << 16 {
		f := math.Float32frombits(r.Uint32())
		if r.IntN(2) == 0 { // around the ends of the range, and with few bits
			f = math.Float32frombits(0x38800000 - 0x10000 + r.Uint32N(0x20000) | r.Uint32()&0x80000000)
		} else if r.IntN(2) == 0 {
			f = math.Float32frombits(math.Float32bits(f) &^ 0x1FFF)
		}
		there := Float(Of(f))
		exact := math.Float32bits(there) == math.Float32bits(f)
		if Exact(f) != exact {
			t.Fatalf("%x: exact is %v", math.Float32bits(f), !exact)
		}
		if !(math.Abs(float64(f)) <= most) {
			continue // not a number, or too large
		}
		if got := Rounded(nil, []float32{f, 1})[0]; math.Float32bits(got) != math.Float32bits(there) {
			t.Fatalf("%x rounds to %v, want %v", math.Float32bits(f), got, there)
		}
	}
}

// What kernels make of many numbers is what is made of each, for all that 16 bits hold, their middles and neighbours, and any other numbers.
func TestPack(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var all []float32
	for i := range 1 << 16 {
		f := Float(uint16(i))
		if f != f {
			continue
		}
		b := math.Float32bits(f)
		all = append(all, f, math.Float32frombits(b+1), math.Float32frombits(b|0x1000), math.Float32frombits(b|0x1001), math.Float32frombits(r.Uint32()))
	}
	for from := 0; from < len(all); {
		src := all[from:min(from+1+r.IntN(40), len(all))]
		from += len(src)
		exact := true
		dst := make([]uint16, len(src)+1)
		got := Pack(dst, src)
		for i, f := range src {
			if f == f {
				require.Equal(t, Of(f), dst[i], "%x", math.Float32bits(f))
			}
			exact = exact && Exact(f)
		}
		require.Zero(t, dst[len(src)])
		if !slices.ContainsFunc(src, func(f float32) bool { return f != f }) {
			require.Equal(t, exact, got, "%v", src)
		}
		small := slices.DeleteFunc(slices.Clone(src), func(f float32) bool { return !(math.Abs(float64(f)) <= most) })
		small = append(small, 1)
		for i, f := range Rounded(nil, small) {
			require.Equal(t, math.Float32bits(Float(Of(small[i]))), math.Float32bits(f))
		}
	}
	same := make([]float32, 16)
	for i := range same {
		same[i] = Float(uint16(0x3000 + 77*i))
	}
	dst := make([]uint16, 16)
	require.True(t, Pack(dst, same))
	for i := range same {
		one := slices.Clone(same)
		one[i] = math.Nextafter32(one[i], 9)
		require.False(t, Pack(dst, one), "a number in place %d that 16 bits do not hold", i)
		for _, large := range []float32{65505, float32(math.Inf(-1)), float32(math.NaN())} {
			one[i] = large
			require.Same(t, &one[0], &Rounded(make([]float32, 0, 16), one)[0], "%v in place %d", large, i)
		}
	}
}

func BenchmarkPack(b *testing.B) {
	v, dst := make([]float32, 256), make([]uint16, 256)
	for i := range v {
		v[i] = Float(uint16(0x2000 + 17*i))
	}
	room := make([]float32, 256)
	b.Run("pack", func(b *testing.B) {
		for b.Loop() {
			Pack(dst, v)
		}
	})
	b.Run("rounded", func(b *testing.B) {
		for b.Loop() {
			room = Rounded(room, v)
		}
	})
}
