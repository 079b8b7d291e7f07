package ole

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func sample(tb testing.TB) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("..", "testdata", "made", "old.doc"))
	require.NoError(tb, err)
	return data
}

func TestStreams(t *testing.T) {
	t.Parallel()
	f, err := Open(sample(t))
	require.NoError(t, err)
	assert.True(t, f.Has("WordDocument"))
	assert.False(t, f.Has("Workbook"))
	assert.Equal(t, byte(0xEC), f.Stream("WordDocument")[0])
	assert.NotEmpty(t, f.Stream("\x05SummaryInformation"), "a small stream")
	assert.Nil(t, f.Stream("elsewhere"))
	assert.False(t, f.Cut)
}

func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	data := sample(t)
	_, err := Open(data[:400])
	require.ErrorIs(t, err, ErrFormat)
	_, err = Open(append([]byte("PK"), data[2:]...))
	require.ErrorIs(t, err, ErrFormat)

	loop := append([]byte(nil), data...)
	f, err := Open(loop)
	require.NoError(t, err)
	e := f.entries[f.paths["WordDocument"]]
	at := (int(le32(data[76:]))+1)*f.sector + 4*int(e.start)
	loop[at], loop[at+1], loop[at+2], loop[at+3] = byte(e.start), byte(e.start>>8), 0, 0 // a sector that follows itself
	f, err = Open(loop)
	require.NoError(t, err)
	assert.LessOrEqual(t, len(f.Stream("WordDocument")), len(loop))
}

func le32(b []byte) uint32 { return u32(b, 0) }

func FuzzOpen(f *testing.F) {
	f.Add(sample(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := Open(data)
		if err != nil {
			return
		}
		for path := range o.paths {
			if n := len(o.Stream(path)); n > len(data) {
				t.Fatalf("stream of %d bytes in a file of %d", n, len(data))
			}
		}
	})
}
