package mail

import (
	"encoding/base64"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestQuotedPrintableAsItIsSent(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Gem=C3=BCse=\r\n und mehr":  "Gemüse und mehr",
		"=c3=bc lower":               "ü lower",
		"50=% of =ZZ and =":          "50=% of =ZZ and ",
		"space at the end  \nnext":   "space at the end\nnext",
		"soft =  \nbreak":            "soft break",
		"a=3Db=0D=0Ac":               "a=b\r\nc",
		"no escapes at all, a=b = c": "no escapes at all, a=b = c",
	} {
		t.Run(in, func(t *testing.T) {
			h := mailHeader{{"content-transfer-encoding", "Quoted-Printable "}}
			assert.Equal(t, want, string(decodeTransfer(h, []byte(in))), in)
			small, err := io.ReadAll(iotest.OneByteReader(transferReader(h, []byte(in))))
			require.NoError(t, err)
			assert.Equal(t, want, string(small), in)
		})
	}
}

func TestBase64AsItIsSent(t *testing.T) {
	t.Parallel()
	h := mailHeader{{"content-transfer-encoding", "base64"}}
	long := strings.Repeat("words in a row ", 500)
	for in, want := range map[string]string{
		"d29y\r\nZHM=\r\n":         "words",
		"d29y*ZH M":                "words",
		"d29y\nZHM=\nIGFuZCBtb3Jl": "words and more",
		"YQ==YWI=YWJj":             "aababc",
		"":                         "",
		"=":                        "",
	} {
		t.Run(in, func(t *testing.T) {
			assert.Equal(t, want, string(decodeTransfer(h, []byte(in))), in)
		})
	}
	for _, r := range []io.Reader{transferReader(h, []byte("d29yZHM=\r\n-- \na list's footer\n")), iotest.OneByteReader(transferReader(h, []byte("d29yZHM=\r\n-- \na list's footer\n")))} {
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		assert.Equal(t, "words\n-- \na list's footer\n", string(text))
	}
	var b strings.Builder
	for i, c := range []byte(base64.StdEncoding.EncodeToString([]byte(long))) {
		b.WriteByte(c)
		if i%76 == 75 {
			b.WriteString("\r\n")
		}
	}
	assert.Equal(t, long, string(decodeTransfer(h, []byte(b.String()))))
}
