package archive

import (
	"archive/zip"
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/document"
)

// TestPeekThenOpen checks that a file reads the same whether it was peeked at or not, to its end or not, and that only Open counts.
func TestPeekThenOpen(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	noise := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte('a' + rnd.IntN(16))
		}
		return b
	}
	contents := map[string][]byte{"small": noise(100_000), "large": noise(maxKept + 1), "empty": nil}
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for name, data := range contents {
		f, err := w.Create(name)
		require.NoError(t, err)
		_, err = f.Write(data)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	const limit = 100 << 20
	for name, data := range contents {
		for _, part := range []int64{0, 10, 1 << 30} {
			z, err := Open(t.Context(), buf.Bytes(), document.Limits{MaxExpanded: limit, MaxRatio: 100, MaxEntries: 10})
			require.NoError(t, err)
			in := z.Peek(name)
			require.NotNil(t, in)
			seen, err := io.ReadAll(io.LimitReader(in, part))
			require.NoError(t, err)
			require.Equal(t, string(data[:min(int64(len(data)), part)]), string(seen))
			require.EqualValues(t, limit, z.left)
			require.Equal(t, part > int64(len(data)) && len(data) <= maxKept, z.keptOf != nil, "%s after %d bytes", name, part)
			for range 2 {
				got, err := io.ReadAll(z.Open(name))
				require.NoError(t, err)
				require.True(t, bytes.Equal(data, got), name)
			}
			require.EqualValues(t, limit-2*len(data), z.left)
			require.Nil(t, z.keptOf)
			require.Empty(t, z.Damage)
		}
	}
}

// TestPeekAtDamage checks that a damaged file is kept neither, and that Open tells of the damage.
func TestPeekAtDamage(t *testing.T) {
	t.Parallel()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	f, err := w.Create("a")
	require.NoError(t, err)
	_, err = f.Write(bytes.Repeat([]byte("The ferry leaves at nine. "), 1000))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	data := buf.Bytes()
	data[60] ^= 0xff
	z, err := Open(t.Context(), data, document.Limits{MaxExpanded: 1 << 20, MaxRatio: 1000, MaxEntries: 10})
	require.NoError(t, err)
	_, _ = io.ReadAll(z.Peek("a"))
	require.Empty(t, z.Damage)
	_, err = io.ReadAll(z.Open("a"))
	require.NoError(t, err)
	require.NotEmpty(t, z.Damage)
}
