package local

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/atrest"
)

var testKey = bytes.Repeat([]byte{42}, 32)

// Checks that encrypted data reads back at any offset, and that reading fails after a flipped bit or at another position.
func TestDisk(t *testing.T) {
	t.Parallel()
	c, err := atrest.NewCipher(testKey, "test")
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{headerSize, 100, sealedBlock - 1, sealedBlock, sealedBlock + 1, 3 * sealedBlock, 40*sealedBlock + 77} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x")
			f, err := os.Create(path)
			require.NoError(t, err)
			want := make([]byte, size)
			for i := range want {
				want[i] = byte(r.IntN(7))
			}
			w := newDiskWriter(f, 5, c)
			for at := 0; at < size; {
				n := min(1+r.IntN(6000), size-at)
				_, err := w.Write(want[at : at+n])
				require.NoError(t, err)
				at += n
			}
			header := bytes.Repeat([]byte{9}, headerSize)
			copy(want, header)
			require.NoError(t, w.finish(header))

			d, err := openDisk(path, 5, c)
			require.NoError(t, err)
			require.EqualValues(t, size, d.size)
			for range 200 {
				at := r.IntN(size)
				p := make([]byte, 1+r.IntN(size-at))
				_, err := d.ReadAt(p, int64(at))
				require.NoError(t, err)
				require.True(t, bytes.Equal(want[at:at+len(p)], p))
			}
			n, err := d.ReadAt(make([]byte, size), 1)
			require.ErrorIs(t, err, io.EOF)
			require.Equal(t, size-1, n)
			require.NoError(t, d.Close())

			other, err := openDisk(path, 6, c)
			require.NoError(t, err)
			_, err = other.ReadAt(make([]byte, 1), 0)
			require.ErrorIs(t, err, errFormat, "another file")
			require.NoError(t, other.Close())
			stored, err := os.ReadFile(path)
			require.NoError(t, err)
			stored[r.IntN(len(stored))] ^= 8
			require.NoError(t, os.WriteFile(path, stored, 0o600))
			d, err = openDisk(path, 5, c)
			require.NoError(t, err)
			_, err = d.ReadAt(make([]byte, size), 0)
			require.ErrorIs(t, err, errFormat)
			require.NoError(t, d.Close())
		})
	}
}

// Checks that encrypted index files contain no plain text, and that files of another key are rebuilt.
func TestEncryptedIndexes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fill := func(key []byte) {
		x, err := Open(dir, &Options{EncryptionKey: key})
		require.NoError(t, err)
		ix := openTest(t, x)
		require.Zero(t, ix.Applied(), "files of another key do not count")
		var changes []backend.Change
		for i := range int64(300) {
			changes = append(changes, backend.Change{Seq: uint64(i + 1), Kind: backend.PutChunks, Part: backend.Partition{Class: backend.Memory, Sub: "xylophone"},
				Source: i + 1, Rows: []backend.Row{{Chunk: i + 1, Text: "quartz vibraphone", Vector: bytes32(8)}}})
		}
		require.NoError(t, ix.Apply(context.Background(), changes))
		require.NoError(t, ix.Flush(context.Background()))
		require.NoError(t, x.Close())
	}
	count := func(word string) (files, with int) {
		require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			files++
			if bytes.Contains(data, []byte(word)) {
				with++
			}
			return err
		}))
		return files, with
	}
	fill(nil)
	for _, word := range []string{"xylophone", "vibraphon", fileMagic} {
		t.Run(word, func(t *testing.T) {
			_, with := count(word)
			require.Positive(t, with, "the test looks for %s where it is", word)
		})
	}
	fill(testKey)
	for _, word := range []string{"xylophone", "vibraphon", fileMagic} {
		t.Run(word, func(t *testing.T) {
			files, with := count(word)
			require.Positive(t, files)
			require.Zero(t, with, word)
		})
	}
	fill(bytes.Repeat([]byte{1}, 32))
	_, err := Open(dir, &Options{EncryptionKey: []byte("short")})
	require.ErrorContains(t, err, "5 bytes, want 32")
}

func bytes32(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(i)
	}
	return v
}
