package httpapi

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAppendJSON(t *testing.T) {
	t.Parallel()
	for _, v := range []any{
		nil, true, 0, -7, int64(math.MinInt64), 0.1, 1e300, -5e-324, 1e21, "", "a\"\\\n\r\t\x00\x1f\x7f", "grüße\u2028\u2029\ufffd", []any{nil, 1, "x"}, []any(nil), []string{"a", "b"}, []string(nil), []string{},
		map[string]any(nil), map[string]any{"b": 1, "a": map[string]any{}}, []map[string]any{{"x": nil}, nil}, []map[string]any{}, json.Number("12.50"), []float32{1, 0.5}, struct{ A int }{1}, map[string]float64{"z": 1},
	} {
		want, err := json.Marshal(v)
		require.NoError(t, err)
		got, err := appendJSON(nil, v)
		require.NoError(t, err)
		require.JSONEq(t, string(want), string(got))
	}
	for _, v := range []any{math.NaN(), math.Inf(1), []any{math.NaN()}, map[string]any{"a": math.NaN()}, func() {}, []map[string]any{{"a": func() {}}}} {
		_, err := appendJSON(nil, v)
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
