package fixed

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func random(r *rand.Rand, n int, scale float64) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64() * scale)
	}
	return v
}

// What was rounded has a step, is rounded to itself, and differs by half a step at most.
func TestRounded(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 2_000 {
		v := random(r, MinDim+r.IntN(MaxDim-MinDim+1), math.Ldexp(1+r.Float64(), r.IntN(60)-30))
		was := append([]float32(nil), v...)
		got, ok := Rounded(nil, v)
		require.Equal(t, was, v)
		if !ok {
			require.Equal(t, was, got)
			continue
		}
		step, ok := Step(got)
		require.True(t, ok, i)
		top := int32(0)
		for j, f := range got {
			k := Multiple(f, step)
			require.Equal(t, f, float32(k)*step)
			require.InDelta(t, v[j], f, float64(step)*.5001)
			top = max(top, k, -k)
		}
		require.EqualValues(t, Most, top)
		again, ok := Rounded(nil, got)
		require.True(t, ok)
		require.Equal(t, got, again)
	}
}

// with is a vector of 64 numbers that begins with some.
func with(some ...float32) []float32 { return append(some, make([]float32, 64-len(some))...) }

func TestNotRounded(t *testing.T) {
	t.Parallel()
	outlier := make([]float32, 128)
	for i := range outlier {
		outlier[i] = .01
	}
	_, ok := Rounded(nil, outlier)
	require.True(t, ok)
	outlier[7] = 1
	for name, v := range map[string][]float32{
		"one stands out": outlier, "zeros": make([]float32, 9), "empty": nil, "tiny": with(1e-30, 1e-30), "huge": with(1e30, 1),
		"not a number": with(1, float32(math.NaN())), "infinite": with(1, float32(math.Inf(-1))), "short": random(rand.New(rand.NewPCG(1, 2)), MinDim-1, 1), "long": random(rand.New(rand.NewPCG(1, 2)), MaxDim+1, 1),
	} {
		got, ok := Rounded(nil, v)
		assert.False(t, ok, name)
		assert.Equal(t, len(v), len(got), name)
	}
	for name, v := range map[string][]float32{"tiny": {1e-30, 1e-30}, "huge": {Most * 0x1p90, 0}, "not a number": {1, float32(math.NaN())}, "only that": {float32(math.NaN())},
		"infinite": {1, float32(math.Inf(-1))}, "another": {Most, .5}, "long step": {Most * 1.0001, 0}} {
		_, ok := Step(v)
		assert.False(t, ok, name)
	}
	step, ok := Step(make([]float32, 3))
	assert.True(t, ok)
	assert.Zero(t, step)
	assert.Zero(t, Multiple(0, 0))
}

// Rounding changes an inner product of unit vectors by some 1/20,000.
func TestProducts(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	worst, sum := 0., 0.
	const rounds = 1000
	for range rounds {
		v, q := random(r, 128, .0884), random(r, 128, .0884)
		got, ok := Rounded(nil, v)
		require.True(t, ok)
		d := 0.
		for i := range v {
			d += float64(got[i]-v[i]) * float64(q[i])
		}
		worst, sum = max(worst, math.Abs(d)), sum+d*d
	}
	assert.Less(t, math.Sqrt(sum/rounds), 5e-5)
	assert.Less(t, worst, 2e-4)
}

func BenchmarkRounded(b *testing.B) {
	v, room := make([]float32, 128), make([]float32, 128)
	for i := range v {
		v[i] = float32(i%37-18) / 131
	}
	b.Run("rounded", func(b *testing.B) {
		for b.Loop() {
			Rounded(room, v)
		}
	})
	out, _ := Rounded(nil, v)
	b.Run("step", func(b *testing.B) {
		for b.Loop() {
			Step(out)
		}
	})
}
