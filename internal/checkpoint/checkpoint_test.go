package checkpoint_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/checkpoint"
	"github.com/contextmem/contextmem/internal/checkpoint/tiny"
	"github.com/contextmem/contextmem/internal/tokenize"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := tiny.Files(1, 0)
	require.NoError(t, tiny.Write(dir, f))
	c, err := checkpoint.Open(dir)
	require.NoError(t, err)
	assert.Equal(t, tiny.Hidden, c.Config.Hidden)
	assert.Equal(t, tiny.MaxTokens, c.Config.MaxTokens())
	memory, err := checkpoint.New(f)
	require.NoError(t, err)
	assert.Equal(t, memory.Hash(), c.Hash())
	_, err = c.Load()
	require.NoError(t, err)
	over := f
	over.Over = tiny.Files(2, 0).Weights
	learnt, err := checkpoint.New(over)
	require.NoError(t, err)
	assert.NotEqual(t, c.Hash(), learnt.Hash())
	_, err = learnt.Load()
	require.NoError(t, err)
	require.NoError(t, c.Close())
	require.NoError(t, c.Close(), "once is enough")
	require.NoError(t, memory.Close())

	// The compact form of the tokeniser is taken before tokenizer.json.
	tok, err := tokenize.FromJSON(bytes.Replace(f.Tokenizer, []byte(`"cat"`), []byte(`"cow"`), 1))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, checkpoint.CompactTokenizer), tok.Compact(), 0o600))
	c, err = checkpoint.Open(dir)
	require.NoError(t, err)
	assert.Len(t, c.Tokenizer.Append(nil, "cow"), 1)
	assert.Len(t, c.Tokenizer.Append(nil, "cat"), 3)
	require.NoError(t, c.Close())
}

func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x"), []byte("12345"), 0o600))
	data, err := checkpoint.Read(dir, "x", 5)
	require.NoError(t, err)
	assert.Equal(t, "12345", string(data))
	_, err = checkpoint.Read(dir, "x", 4)
	assert.ErrorContains(t, err, "x: 5 bytes, want at most 4")
	_, err = checkpoint.Read(dir, "y", 4)
	assert.ErrorIs(t, err, os.ErrNotExist)
	assert.NotContains(t, err.Error(), dir)
	_, err = checkpoint.Read(dir, ".", 1<<20)
	assert.Error(t, err, "a directory")
	assert.NotContains(t, err.Error(), dir)
}
