package output

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The result must not depend on where the pieces of a text are cut.
func TestTextOutPieces(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain\ttext\n":             "plain\ttext\n",
		"a\r\nb\rc\n\rd\r\r\ne":     "a\nb\nc\n\nd\n\ne",
		"\fpage\vline\x00\x1bend\r": "\npage\nlineend\n",
		"ж€𝄞":                       "ж€𝄞",
		"bad \xff\xfe\xe2\x82 end":  "bad \uFFFD end",
		"cut \xf0\x9d":              "cut \uFFFD",
		"\xe2\x82\r\n\xac":          "\uFFFD\n\uFFFD",
	} {
		t.Run(in, func(t *testing.T) {
			for name, r := range map[string]io.Reader{
				"whole": strings.NewReader(in), "bytes": iotest.OneByteReader(strings.NewReader(in)), "halves": iotest.HalfReader(strings.NewReader(in)),
			} {
				out := Collector{Max: 1 << 20}
				require.NoError(t, out.ReadAll(r))
				assert.Equal(t, want, string(out.Finish()), "%q in %s", in, name)
			}
		})
	}
	out := Collector{Max: 10}
	require.NoError(t, out.ReadAll(iotest.OneByteReader(strings.NewReader(strings.Repeat("x", 100)))))
	assert.Len(t, out.Finish(), 10)
}
