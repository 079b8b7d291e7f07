package intake

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type sizedText struct {
	io.Reader
	size int64
}

func (s sizedText) Size() int64 { return s.size }

func TestReadUpTo(t *testing.T) {
	text := strings.Repeat("abcdefghi ", 1000)
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	file := func() io.Reader {
		f, err := os.Open(path)
		require.NoError(t, err)
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	for name, open := range map[string]func() io.Reader{
		"no size":   func() io.Reader { return io.MultiReader(strings.NewReader(text)) },
		"right":     func() io.Reader { return sizedText{strings.NewReader(text), int64(len(text))} },
		"too small": func() io.Reader { return sizedText{strings.NewReader(text), 7} },
		"too large": func() io.Reader { return sizedText{strings.NewReader(text), 1 << 40} },
		"negative":  func() io.Reader { return sizedText{strings.NewReader(text), -1} },
		"file":      file,
	} {
		t.Run(name, func(t *testing.T) {
			for _, limit := range []int64{1, 100, int64(len(text)), int64(len(text)) + 1} {
				data, err := readUpTo(open(), limit)
				require.NoError(t, err)
				assert.Equal(t, text[:min(limit, int64(len(text)))], string(data), "limit %d", limit)
			}
		})
	}
	r := sizedText{strings.NewReader(text), int64(len(text))}
	data, err := readUpTo(r, int64(len(text))+1)
	require.NoError(t, err)
	assert.Less(t, cap(data), len(text)+4096, "it is not doubled")
}
