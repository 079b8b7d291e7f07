package pdf

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lzwEncode writes codes of 9 bits, clearing the table before the codes would grow.
func lzwEncode(s string) string {
	var out []byte
	acc, bits := 0, 0
	put := func(code int) {
		acc, bits = acc<<9|code, bits+9
		for bits >= 8 {
			bits -= 8
			out = append(out, byte(acc>>bits))
			acc &= 1<<bits - 1
		}
	}
	for i := range len(s) {
		if i%200 == 0 {
			put(lzwClear)
		}
		put(int(s[i]))
	}
	put(lzwEnd)
	return string(append(out, byte(acc<<(8-bits))))
}

func ascii85(s string) string {
	var out strings.Builder
	for len(s) > 0 {
		n := min(4, len(s))
		var v uint32
		for i := range 4 {
			v <<= 8
			if i < n {
				v |= uint32(s[i])
			}
		}
		var d [5]byte
		for i := 4; i >= 0; i-- {
			d[i] = byte('!' + v%85)
			v /= 85
		}
		out.Write(d[:n+1])
		s = s[n:]
	}
	return out.String() + "~>"
}

func TestFilters(t *testing.T) {
	t.Parallel()
	content := textAt(72, 700, "Five rows of carrots, and the first rhubarb.")
	long := content + strings.Repeat("% filler that makes the data longer\n", 30)
	runs := string([]byte{byte(len(content) - 1)}) + content + "\xfe\n\x80"
	tests := []struct{ name, filter, data string }{
		{"none", "", content},
		{"flate", "/Filter /FlateDecode", deflate(content)},
		{"abbreviated", "/Filter /Fl", deflate(content)},
		{"flate behind a line end", "/Filter /FlateDecode", "\r\n" + deflate(content)},
		{"raw deflate", "/Filter /FlateDecode", deflate(content)[2:]},
		{"lzw", "/Filter /LZWDecode", lzwEncode(content)},
		{"lzw, late change", "/Filter /LZWDecode /DecodeParms << /EarlyChange 0 >>", lzwEncode(long)},
		{"ascii85", "/Filter /ASCII85Decode", "<~" + ascii85(content)},
		{"asciihex", "/Filter /ASCIIHexDecode", hex.EncodeToString([]byte(content)) + ">"},
		{"run length", "/Filter /RunLengthDecode", runs},
		{"chain", "/Filter [/ASCII85Decode /FlateDecode]", ascii85(deflate(content))},
		{"chain with parameters", "/Filter [/ASCIIHexDecode /LZWDecode] /DecodeParms [null << /EarlyChange 1 >>]", hex.EncodeToString([]byte(lzwEncode(content)))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBuilder()
			b.page(helvetica, "")
			b.objs[2] = fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", tt.filter, len(tt.data), tt.data)
			res := mustParse(t, b.bytes())
			assert.Equal(t, "Five rows of carrots, and the first rhubarb.", res.Text)
			assert.Empty(t, res.Partial)
		})
	}
}

// The example of ISO 32000-1, 7.4.4.2.
func TestLZWSpecification(t *testing.T) {
	t.Parallel()
	out, ok := lzwDecode([]byte{0x80, 0x0B, 0x60, 0x50, 0x22, 0x0C, 0x0C, 0x85, 0x01}, 100, true)
	require.True(t, ok)
	assert.Equal(t, []byte{45, 45, 45, 45, 45, 65, 45, 45, 45, 66}, out)
	out, ok = lzwDecode([]byte{0xff, 0xff}, 100, true)
	assert.False(t, ok)
	assert.Empty(t, out)
}

func TestPredictors(t *testing.T) {
	t.Parallel()
	d := &document{}
	parms := func(predictor, columns, colors, bits int) dict {
		return dict{"Predictor": predictor, "Columns": columns, "Colors": colors, "BitsPerComponent": bits}
	}
	tests := []struct {
		name     string
		parms    dict
		in, want []byte
	}{
		{"none", parms(1, 3, 1, 8), []byte{1, 2, 3}, []byte{1, 2, 3}},
		{"tiff", parms(2, 3, 1, 8), []byte{1, 2, 3, 10, 1, 1}, []byte{1, 3, 6, 10, 11, 12}},
		{"tiff of 16 bits", parms(2, 2, 1, 16), []byte{0, 255, 0, 2}, []byte{0, 255, 1, 1}},
		{"png none and sub", parms(15, 3, 1, 8), []byte{0, 1, 2, 3, 1, 1, 1, 1}, []byte{1, 2, 3, 1, 2, 3}},
		{"png up", parms(12, 2, 1, 8), []byte{2, 5, 6, 2, 1, 1}, []byte{5, 6, 6, 7}},
		{"png average", parms(13, 2, 1, 8), []byte{0, 10, 20, 3, 1, 1}, []byte{10, 20, 6, 14}},
		{"png paeth", parms(14, 2, 1, 8), []byte{0, 10, 20, 4, 1, 1}, []byte{10, 20, 11, 21}},
		{"short last row", parms(12, 4, 1, 8), []byte{2, 1, 2, 3, 4, 2, 1}, []byte{1, 2, 3, 4, 2}},
		{"parameters out of range", parms(12, 1<<30, 1, 8), []byte{2, 1}, []byte{2, 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, d.unpredict(tt.in, tt.parms))
		})
	}
}

// TestDamagedData checks that truncated or changed data yields the part that was decoded, and that the result says so.
func TestDamagedData(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	for i := range 300 {
		lines.WriteString(sizedAt(72, 760-float64(i)*2.4, 2, fmt.Sprintf("Line %d of the record.", i)))
	}
	data := deflate(lines.String())
	cut := newBuilder()
	cut.page(helvetica, "")
	cut.objs[2] = fmt.Sprintf("<< /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream", len(data)/2, data[:len(data)/2])
	res := mustParse(t, cut.bytes())
	assert.Contains(t, res.Text, "Line 0 of the record.")
	assert.NotContains(t, res.Text, "Line 299 of the record.")
	assert.NotEmpty(t, res.Partial)

	sum := newBuilder()
	sum.page(helvetica, "")
	data = data[:len(data)-1] + "?"
	sum.objs[2] = fmt.Sprintf("<< /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream", len(data), data)
	res = mustParse(t, sum.bytes())
	assert.Contains(t, res.Text, "Line 299 of the record.")
	assert.NotEmpty(t, res.Partial)
}
