package httpapi

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rounded is a score as JSON shows it.
func rounded(f float64) string {
	if math.Abs(f) >= 1e9 {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	s := strings.TrimRight(strconv.FormatFloat(f, 'f', 6, 64), "0")
	if s = strings.TrimSuffix(s, "."); s == "-0" {
		return "0"
	}
	return s
}

// Scores are rounded as strconv rounds them.
func TestAppendScore(t *testing.T) {
	t.Parallel()
	list := []float64{0, math.Copysign(0, -1), 1, .1, .5e-6, 1.5e-6, 2.5e-6, math.Nextafter(.5e-6, 0), math.Nextafter(.5e-6, 1), 1e-300, math.SmallestNonzeroFloat64, 0.40599999999999997, 0.7999999999999999,
		.9999994, .9999995, .9999999, 9.9999996, 999999.9999995, 1e6, 1e9 - 1, math.Nextafter(1e9, 0), 1e9, math.Nextafter(1e9, 2e9), 1e15, 1e21, 1e300, math.MaxFloat64}
	for i := range 1000 { // halves that a float64 holds: odd multiples of 2^-7
		list = append(list, float64(2*i+1)/128, math.Nextafter(float64(2*i+1)/128, 0), math.Nextafter(float64(2*i+1)/128, 1e9))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		half := (float64(r.Int64N(1e6)) + .5) / 1e6 // nearly
		list = append(list, r.Float64(), half, half+float64(r.IntN(1e6)), r.Float64()*math.Pow(10, float64(r.IntN(19)-8)), math.Float64frombits(r.Uint64()))
	}
	for _, f := range list {
		for _, f := range []float64{f, -f} {
			got, err := appendScore([]byte("x"), f)
			if math.IsNaN(f) || math.IsInf(f, 0) {
				require.Error(t, err)
				continue
			}
			require.NoError(t, err)
			if want := "x" + rounded(f); want != string(got) {
				require.Equal(t, want, string(got), "%b", f)
			}
		}
	}
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, err := appendScore(nil, f)
		require.Error(t, err)
	}
}

// A float32 has the digits that strconv gives it.
func TestAppendFloat32(t *testing.T) {
	t.Parallel()
	list := []float32{0, 1, .7, .8, 1e-4, math.Nextafter32(1e-4, 0), math.Nextafter32(1, 0), math.Nextafter32(1, 2), .1234567, 1e-6, 1e6, 1e21, math.MaxFloat32, math.SmallestNonzeroFloat32}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		list = append(list, r.Float32(), float32(r.IntN(1000))/1000, float32(r.IntN(1e6))/1e6, math.Float32frombits(r.Uint32()))
	}
	for _, f := range list {
		for _, f := range []float32{f, -f} {
			got, err := appendFloat32(nil, f)
			if math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) {
				require.Error(t, err)
				continue
			}
			require.NoError(t, err)
			if want := strconv.FormatFloat(float64(f), 'g', -1, 32); want != string(got) {
				require.Equal(t, want, string(got))
			}
		}
	}
}
