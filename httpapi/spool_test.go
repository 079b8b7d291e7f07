package httpapi

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSpoolFile(t *testing.T) {
	t.Parallel()
	f, err := os.Create(filepath.Join(t.TempDir(), "x"))
	require.NoError(t, err)
	s, err := newSpoolFile(f)
	require.NoError(t, err)
	want := bytes.Repeat([]byte("xylophone quartz "), 9000)
	for at := 0; at < len(want); {
		n := min(1+rand.IntN(50000), len(want)-at)
		k, err := s.Write(want[at : at+n])
		require.NoError(t, err)
		require.Equal(t, n, k)
		at += n
	}
	raw, err := os.ReadFile(f.Name())
	require.NoError(t, err)
	require.Len(t, raw, len(want))
	require.False(t, bytes.Contains(raw, []byte("quartz")))
	got, err := io.ReadAll(io.NewSectionReader(s, 0, int64(len(want))))
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got))
	for range 100 {
		at := rand.IntN(len(want))
		p := make([]byte, 1+rand.IntN(100))
		n, err := s.ReadAt(p, int64(at))
		require.True(t, err == nil || err == io.EOF)
		require.Equal(t, want[at:at+n], p[:n])
	}
	require.NoError(t, s.Close())
}
