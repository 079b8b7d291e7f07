package httpapi

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAppendValue checks that metadata is written as encoding/json writes it.
func TestAppendValue(t *testing.T) {
	t.Parallel()
	for _, v := range []any{
		nil, true, 0, -7, int64(math.MinInt64), 0.1, 1e300, -5e-324, 1e21, "", "a\"\\\n\r\t\x00\x1f\x7f", "grüße\u2028\u2029\ufffd", []any{nil, 1, "x"}, []any(nil), []string{"a", "b"}, []string(nil), []string{},
		map[string]any(nil), map[string]any{"b": 1, "a": map[string]any{}}, json.Number("12.50"), json.Number(""), []float32{1, 0.5}, map[string]float64{"z": 1},
	} {
		want, err := json.Marshal(v)
		require.NoError(t, err)
		got, err := appendValue(nil, v)
		require.NoError(t, err)
		require.JSONEq(t, string(want), string(got))
	}
	for _, v := range []any{math.NaN(), math.Inf(1), []any{math.NaN()}, map[string]any{"a": math.NaN()}, func() {}} {
		_, err := appendValue(nil, v)
		require.Error(t, err)
	}
}

// score rounds f to six decimals. Numbers of 1e9 and more keep all digits.
func score(f float64) float64 {
	if math.Abs(f) >= 1e9 {
		return f
	}
	return math.Round(f*1e6) / 1e6
}

// TestScore checks that scores are written with at most six decimals, as strconv writes the nearest such number.
func TestScore(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	numbers := []float64{0, 1, -1, .5, .1, 1e-6, 4e-7, 5e-7, -4e-7, .999999, .9999995, .9999994, 1e9, 999999999.9999999, 123456.000001, 1e300, -1e300, 100, 1e8}
	for range 20_000 {
		f := r.Float64() * math.Pow(10, float64(r.IntN(12)-4))
		numbers = append(numbers, f, -f)
	}
	for _, f := range numbers {
		got, err := appendScore(nil, f)
		require.NoError(t, err)
		want := score(f)
		if math.Abs(f) < 1e9 {
			require.InDelta(t, f, want, .5000001e-6)
			require.Equal(t, strconv.FormatFloat(want+0, 'f', -1, 64), string(got), f) // +0: no zero has a sign
			continue
		}
		require.Equal(t, strconv.FormatFloat(want, 'g', -1, 64), string(got))
	}
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		t.Run(fmt.Sprint(f), func(t *testing.T) {
			_, err := appendScore(nil, f)
			require.Error(t, err)
		})
	}
}

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "a\x80b", "\xe2\x80\xa8", "\xed\xa0\x80", "\"\\\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b, err := json.Marshal(s)
		require.NoError(t, err)
		var want, got string
		require.NoError(t, json.Unmarshal(b, &want))
		require.NoError(t, json.Unmarshal(appendString(nil, s), &got))
		require.Equal(t, want, got)
	})
}
