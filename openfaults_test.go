package contextmem_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/facts"
)

// TestOpenSaysWhatIsWrong: one sentence, which names the option or the path of the caller, and nothing is made on disk.
func TestOpenSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	embed := func(_ context.Context, texts []string, _ bool) ([][]float32, error) {
		return make([][]float32, len(texts)), nil
	}
	var nilEmbedder *contextmem.EmbedderFunc
	for name, c := range map[string]struct {
		o    contextmem.Options
		want string
	}{
		"one option":             {contextmem.Options{Workers: 100}, `contextmem: open: option Workers: 100 is outside 1 to 64`},
		"several":                {contextmem.Options{Workers: 100, Lease: time.Minute, SecretKey: []byte("x")}, `contextmem: open: option Workers: 100 is outside 1 to 64; option SecretKey: 1 bytes, want 32`},
		"encryption key":         {contextmem.Options{EncryptionKey: []byte("x")}, `contextmem: open: option EncryptionKey: 1 bytes, want 32`},
		"slot":                   {contextmem.Options{Slots: []facts.Slot{{Name: "A"}}}, `contextmem: open: option Slots[0].Name: needs lower-case letters, digits and _`},
		"provider":               {contextmem.Options{Providers: []contextmem.Provider{nil}}, `contextmem: open: option Providers: holds nil`},
		"function without body":  {contextmem.Options{Embedder: contextmem.EmbedderFunc{Name: "mine", Length: 3}}, `contextmem: open: option Embedder.Embed: is nil, want a function`},
		"pointer to it":          {contextmem.Options{FastEmbedder: &contextmem.EmbedderFunc{Name: "mine", Length: 3}}, `contextmem: open: option FastEmbedder.Embed: is nil, want a function`},
		"earlier one":            {contextmem.Options{PreviousEmbedders: []contextmem.Embedder{contextmem.EmbedderFunc{Name: "mine", Length: 3}}}, `contextmem: open: option PreviousEmbedders[0].Embed: is nil, want a function`},
		"function without names": {contextmem.Options{Embedder: contextmem.EmbedderFunc{Embed: embed}}, `contextmem: open: option Embedder.Length: 0 is outside 1 to 4096; option Embedder.Name: is empty`},
		"nil pointer":            {contextmem.Options{Embedder: nilEmbedder}, `contextmem: open: option Embedder: holds a nil *embed.Func`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "new")
			_, err := contextmem.Open(t.Context(), dir, &c.o)
			require.EqualError(t, err, c.want)
			require.ErrorIs(t, err, contextmem.ErrInvalid)
			require.NoFileExists(t, dir)
			require.NoDirExists(t, dir)
		})
	}
}

func TestOpenSaysWhatIsWrongWithTheDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, []byte("x"), 0o600))
	for name, c := range map[string][2]string{
		"no name":      {"", `contextmem: open: the directory has no name`},
		"a file":       {file, `contextmem: open "` + file + `": it is a file, want a directory`},
		"below a file": {filepath.Join(file, "data"), `contextmem: open "` + filepath.Join(file, "data") + `": it is below a file, want a directory`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := contextmem.Open(t.Context(), c[0], nil)
			require.EqualError(t, err, c[1])
			require.ErrorIs(t, err, contextmem.ErrInvalid)
		})
	}
	t.Run("open already", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		svc, err := contextmem.Open(t.Context(), dir, nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, svc.Close()) }()
		_, err = contextmem.Open(t.Context(), dir, nil)
		require.EqualError(t, err, `contextmem: open "`+dir+`": this process has it open already: use that Service, or close it first`)
	})
}
