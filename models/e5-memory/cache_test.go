package e5memory

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/embed/neural"
	"github.com/contextmem/contextmem/internal/models"
	e5 "github.com/contextmem/contextmem/models/multilingual-e5-small"
)

// TestCache checks that cached matrix files do not change vectors, whether the files are new, existing, damaged or not writable.
func TestCache(t *testing.T) { // not parallel: the folder is the process's
	t.Cleanup(func() { require.NoError(t, neural.CacheIn("")) })
	vector := func() []float32 {
		files := e5.Files()
		files.Over = models.Bytes(weights)
		m, err := neural.New(files, &neural.Options{Model: "x", WeightsSHA256: weightsSHA256})
		require.NoError(t, err)
		v, err := m.EmbedQuery(t.Context(), "where did we put the old camera?")
		require.NoError(t, err)
		return v
	}
	require.NoError(t, neural.CacheIn(""))
	want := vector()
	dir := filepath.Join(t.TempDir(), "a", "b")
	require.NoError(t, neural.CacheIn(dir))
	names := func() []string {
		found, err := filepath.Glob(filepath.Join(dir, "*.panels"))
		require.NoError(t, err)
		return found
	}
	assert.Equal(t, want, vector())
	made := names()
	require.Len(t, made, 2, "the base and what is over it")
	var size int64
	for _, name := range made {
		info, err := os.Stat(name)
		require.NoError(t, err)
		size += info.Size()
	}
	assert.InDelta(t, 21.4e6+14.3e6, size, 1e6)
	assert.Equal(t, want, vector())
	assert.Equal(t, made, names())

	for what, damage := range map[string]func(data []byte) []byte{
		"a weight":  func(data []byte) []byte { data[len(data)/2]++; return data },
		"cut":       func(data []byte) []byte { return data[:len(data)/2] },
		"no head":   func([]byte) []byte { return []byte("CMPANEL2") },
		"empty":     func([]byte) []byte { return nil },
		"all zeros": func(data []byte) []byte { return make([]byte, len(data)) },
	} {
		whole, err := os.ReadFile(made[0])
		require.NoError(t, err)
		require.NoError(t, os.Remove(made[0])) // it is mapped: never written to
		require.NoError(t, os.WriteFile(made[0], damage(append([]byte(nil), whole...)), 0o600))
		assert.Equal(t, want, vector(), what)
		again, err := os.ReadFile(made[0])
		require.NoError(t, err)
		assert.Equal(t, whole, again, what)
	}

	require.NoError(t, os.RemoveAll(dir))
	require.NoError(t, os.WriteFile(dir, nil, 0o600)) // a file where the folder was
	assert.Equal(t, want, vector(), "a folder that is gone")
	require.Error(t, neural.CacheIn(dir))
}
