package httpapi

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Metadata is written as encoding/json writes it.
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

// Scores have at most six decimals and are the nearest number with so many.
func TestScore(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		f := r.Float64() * math.Pow(10, float64(r.IntN(12)-4))
		got := score(f)
		require.InDelta(t, f, got, .5000001e-6)
		require.LessOrEqual(t, len(strconv.FormatFloat(got, 'f', -1, 64)), len(strconv.FormatFloat(f, 'f', 6, 64)))
	}
	require.Equal(t, 1e300, score(1e300))
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, err := appendFloat(nil, score(f), 64)
		require.Error(t, err)
	}
}

// TestPlain tries every byte at every place of texts of several lengths.
func TestPlain(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 20; n++ {
		for c := range 256 {
			for at := range n {
				s := []byte(strings.Repeat("~", n))
				s[at] = byte(c)
				want := at
				if c >= ' ' && c < 0x80 && c != '"' && c != '\\' {
					want = n
				}
				if got := plain(string(s)); got != want {
					require.Equal(t, want, got, "%#x at %d of %d", c, at, n)
				}
			}
		}
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
