package sqlite

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// damage runs SQL that changes stored bytes behind the back of the store.
func damage(t *testing.T, s *store, sql string) {
	t.Helper()
	require.NoError(t, s.change(t.Context(), func(tx *tx) error {
		n, err := tx.c.exec(sql)
		assert.Positive(t, n)
		return err
	}))
}

func TestDamagedRows(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for name, test := range map[string]struct {
		sql  string
		read func(s *store, num int64) error
	}{
		"blob": {"UPDATE blobs SET data = cast(x'00' || substr(data, 2) AS BLOB)", func(s *store, num int64) error {
			_, err := s.Content(ctx, num, backend.Original)
			return err
		}},
		"vector": {"UPDATE vectors SET data = cast(substr(data, 1, 511) || x'ff' AS BLOB)", func(s *store, num int64) error {
			_, err := s.SourceChunks(ctx, num, 0, 1, true)
			return err
		}},
		"chunk": {"UPDATE chunks SET text = text || '.'", func(s *store, num int64) error {
			_, err := s.Chunks(ctx, []int64{1}, testTime)
			return err
		}},
		"mentions": {"UPDATE mentions SET data = cast(x'ff' || substr(data, 2) AS BLOB)", func(s *store, num int64) error {
			_, err := s.Changes(ctx, 0, 100)
			return err
		}},
		"missing chunk": {"DELETE FROM chunks", func(s *store, num int64) error {
			_, err := s.SourceChunks(ctx, num, 0, 1, false)
			return err
		}},
		"type": {"UPDATE sources SET title = x'00'", func(s *store, num int64) error {
			_, err := s.SourcesByNum(ctx, []int64{num})
			return err
		}},
		"tags": {"UPDATE sources SET tags = x'0011'", func(s *store, num int64) error {
			_, err := s.SourcesByNum(ctx, []int64{num})
			return err
		}},
		"value": {"UPDATE vals SET data = x'00'", func(s *store, num int64) error {
			_, err := s.Get(ctx, "name")
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			_, s := openTest(t)
			require.NoError(t, s.Set(ctx, "name", nil, []byte("value")))
			out := pipe(t, s, rand.New(rand.NewPCG(1, 1)), 0, 1)
			require.NoError(t, test.read(s, out[0].Num))
			damage(t, s, test.sql)
			require.ErrorIs(t, test.read(s, out[0].Num), backend.ErrCorrupt)
			in, _, _ := memory(rand.New(rand.NewPCG(1, 1)), 0)
			res, err := s.Delete(ctx, testPart, []string{in.ID}, backend.DeleteOptions{})
			require.NoError(t, err, "what is damaged can be deleted")
			require.True(t, res[0].Found)
		})
	}
}

// A vector that stands in the row of its chunk, which has no text.
func TestDamagedVectorInRow(t *testing.T) {
	t.Parallel()
	_, s := openTest(t)
	p, err := s.Place(t.Context(), []backend.Placed{{
		Incoming: backend.Incoming{Source: backend.Source{Part: testPart, ID: "a"}},
		Chunks:   []backend.Chunk{{Key: "a0", Vector: []float32{1, 2}}},
	}})
	require.NoError(t, err)
	read := func() error {
		_, err := s.SourceChunks(t.Context(), p.Nums[0], 0, 1, true)
		return err
	}
	require.NoError(t, read())
	damage(t, s, "UPDATE chunks SET vector = cast(substr(vector, 1, 7) || x'ff' AS BLOB)")
	require.ErrorIs(t, read(), backend.ErrCorrupt)
	_, err = s.Changes(t.Context(), 0, 10)
	require.ErrorIs(t, err, backend.ErrCorrupt)
	_, err = s.Chunks(t.Context(), []int64{1}, testTime)
	require.NoError(t, err, "what is read without it is sound")
}

// A flipped bit in the file, where SQLite itself sees nothing.
func TestFlippedBit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d, s := openOnce(t, dir)
	in := item("x")
	in[0].Blobs[0].Data = []byte("a needle that is easy to find in a file of a database")
	out, err := s.Accept(t.Context(), in)
	require.NoError(t, err)
	require.NoError(t, d.Close())
	path := filepath.Join(d.path(testUID), "store.db")
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	at := indexOf(file, in[0].Blobs[0].Data)
	require.Positive(t, at)
	file[at+5] ^= 1
	require.NoError(t, os.WriteFile(path, file, 0o600))
	_, again := reopenTest(t, dir)
	_, err = again.Content(t.Context(), out[0].Num, backend.Original)
	require.ErrorIs(t, err, backend.ErrCorrupt)
	// One damaged item does not keep the others from being worked on, and can be deleted.
	_, err = again.Accept(t.Context(), item("y"))
	require.NoError(t, err)
	claims, err := again.Claim(t.Context(), "token", testTime, testTime, 10, 0)
	require.NoError(t, err)
	require.Len(t, claims, 1)
	assert.Equal(t, "y", claims[0].ID)
	srcs, err := again.Sources(t.Context(), testPart, []string{"x"})
	require.NoError(t, err)
	assert.Equal(t, backend.Errored, srcs[0].State)
	assert.Equal(t, damagedCode, srcs[0].ErrorCode)
	events, err := again.Events(t.Context(), 10)
	require.NoError(t, err)
	assert.Len(t, events, 1)
	_, err = again.Delete(t.Context(), testPart, []string{"x"}, backend.DeleteOptions{})
	require.NoError(t, err)
	check(t, again)
}

func indexOf(b, part []byte) int {
	for i := range b {
		if len(b)-i >= len(part) && string(b[i:i+len(part)]) == string(part) {
			return i
		}
	}
	return -1
}

func TestNotADatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "deployment.db"), make([]byte, 8192), 0o600))
	junk := []byte("this is no database, and it is longer than the header of one would be; " +
		"so SQLite has to look at it and say so instead of taking it for an empty file")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "deployment.db"), junk, 0o600))
	_, err := Open(t.Context(), dir, nil)
	require.ErrorIs(t, err, backend.ErrCorrupt)
	require.NoError(t, os.Remove(filepath.Join(dir, "deployment.db")))
	d, err := Open(t.Context(), dir, nil)
	require.NoError(t, err, "the lock was given back")
	require.NoError(t, d.Close())
}
