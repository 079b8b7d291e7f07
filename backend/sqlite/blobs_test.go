package sqlite

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// acceptedWith stores a memory with the given content and claims it.
func acceptedWith(t *testing.T, s *store, data []byte) (backend.Accepted, backend.Claim) {
	t.Helper()
	in, _, _ := memory(rand.New(rand.NewPCG(1, 1)), 0)
	in.Blobs = []backend.Blob{{Kind: backend.Original, Data: data}, {Kind: backend.Supplied, Data: []byte("{}")}}
	out, err := s.Accept(t.Context(), []backend.Incoming{in})
	require.NoError(t, err)
	claims, err := s.Claim(t.Context(), "w", testTime, testTime.Add(time.Minute), 1, 0)
	require.NoError(t, err)
	require.Len(t, claims, 1)
	return out[0], claims[0]
}

// countOf returns the number of rows of a table.
func countOf(t *testing.T, s *store, table string) (n int64) {
	t.Helper()
	require.NoError(t, s.read(t.Context(), func(c *conn) error {
		_, err := c.one(t.Context(), "SELECT count(*) FROM "+table, func(r *row) error {
			n = r.int(0)
			return nil
		})
		return err
	}))
	return n
}

func TestLargeContent(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for _, size := range []int{0, 1, pieceBytes - 1, pieceBytes, pieceBytes + 1, 3 * pieceBytes, 3*pieceBytes + 77} {
		_, s := openTest(t)
		data := make([]byte, size)
		rnd := rand.New(rand.NewPCG(1, uint64(size)))
		for i := range data {
			data[i] = byte(rnd.Uint32())
		}
		a, claim := acceptedWith(t, s, data)
		require.Len(t, claim.Blobs, 2)
		require.True(t, bytes.Equal(data, claim.Blobs[0].Data), "%d bytes, claimed", size)
		got, err := s.Content(ctx, a.Num, backend.Original)
		require.NoError(t, err)
		require.True(t, bytes.Equal(data, got), "%d bytes, read", size)
		if size > pieceBytes {
			require.EqualValues(t, (size+pieceBytes-1)/pieceBytes, countOf(t, s, "pieces"))
		} else {
			require.Zero(t, countOf(t, s, "pieces"))
		}

		// Text that a second try replaces, by more and by less.
		for _, n := range []int{2*pieceBytes + 5, 3*pieceBytes + 1, 10} {
			text := bytes.Repeat([]byte("text "), n/5+1)[:n]
			ok, err := s.Index(ctx, []backend.Indexed{{Num: a.Num, Token: "w", Chunks: []backend.Chunk{{Key: "k", Text: "text"}}, Blobs: []backend.Blob{{Kind: backend.Text, Data: text}}}})
			require.NoError(t, err)
			require.True(t, ok[0])
			got, err := s.Content(ctx, a.Num, backend.Text)
			require.NoError(t, err)
			require.True(t, bytes.Equal(text, got), "%d bytes of text", n)
			check(t, s)
		}
		_, err = s.Delete(ctx, testPart, []string{claim.ID}, backend.DeleteOptions{})
		require.NoError(t, err)
		require.Zero(t, countOf(t, s, "pieces"))
		require.Zero(t, countOf(t, s, "blobs"))
	}
}

func TestDamagedPieces(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for name, sql := range map[string]string{
		"changed":    "UPDATE pieces SET data = cast(x'00' || substr(data, 2) AS BLOB) WHERE id & 16383 = 1",
		"first gone": "DELETE FROM pieces WHERE id & 16383 = 0",
		"last gone":  "DELETE FROM pieces WHERE id & 16383 = 2",
		"size":       "UPDATE blobs SET data = x'0000000000000100' WHERE crc < 0",
		"no size":    "UPDATE blobs SET data = x'' WHERE crc < 0",
		"count":      "UPDATE blobs SET crc = -99999999 WHERE crc < 0",
	} {
		t.Run(name, func(t *testing.T) {
			_, s := openTest(t)
			a, claim := acceptedWith(t, s, bytes.Repeat([]byte("0123456789"), pieceBytes/4))
			damage(t, s, sql)
			_, err := s.Content(ctx, a.Num, backend.Original)
			require.ErrorIs(t, err, backend.ErrCorrupt)
			var found []backend.Finding
			_, err = s.Verify(ctx, func(f backend.Finding) { found = append(found, f) })
			require.NoError(t, err)
			require.NotEmpty(t, found, "a verification finds it")
			// A claim fails the item alone, as for other damage.
			_, err = s.Claim(ctx, "w2", testTime.Add(time.Hour), testTime.Add(2*time.Hour), 1, 0)
			require.True(t, err == nil || errors.Is(err, backend.ErrCorrupt))
			_, err = s.Delete(ctx, testPart, []string{claim.ID}, backend.DeleteOptions{})
			require.NoError(t, err, "what is damaged can be deleted")
			require.Zero(t, countOf(t, s, "pieces"))
		})
	}
}
