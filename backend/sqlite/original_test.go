package sqlite

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/move"
)

// Checks that the original of a version is stored once: in its chunk if the chunk is the whole original, else in its own row.
func TestOriginalIsStoredOnce(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	_, s := openTest(t)
	const text = "Zoë drinks tea."
	a, claim := acceptedWith(t, s, []byte(text))
	sound := func(rows int64) {
		t.Helper()
		got, err := s.Content(ctx, a.Num, backend.Original)
		require.NoError(t, err)
		require.Equal(t, text, string(got))
		require.NoError(t, s.read(ctx, func(c *conn) error {
			blobs, err := readBlobs(ctx, c, a.Num)
			require.NoError(t, err)
			require.Equal(t, claim.Blobs, blobs[:2])
			return nil
		}))
		require.Equal(t, rows, countOf(t, s, "blobs"))
		check(t, s)
	}
	index := func(blobs []backend.Blob, texts ...string) {
		t.Helper()
		in := backend.Indexed{Num: a.Num, Token: "w", Blobs: blobs}
		for i, x := range texts {
			in.Chunks = append(in.Chunks, backend.Chunk{Ordinal: i, Key: string(rune('a' + i)), Text: x})
		}
		ok, err := s.Index(ctx, []backend.Indexed{in})
		require.NoError(t, err)
		require.Equal(t, []bool{true}, ok)
	}
	sound(2)
	index(nil, text)
	sound(1)
	index(nil, text) // again, as after a worker was lost
	sound(1)
	index(nil, "Zoë drinks", "tea.")
	sound(2)
	index(nil, text)
	sound(1)
	index(nil, text+" ")
	sound(2)
	index(nil, text)
	sound(1)

	// An item that is claimed for its graph has all its content.
	claims, err := s.Claim(ctx, "v", testTime.Add(time.Hour), testTime.Add(2*time.Hour), 1, 0)
	require.NoError(t, err)
	require.Len(t, claims, 1)
	require.Equal(t, claim.Blobs, claims[0].Blobs)

	// Content that comes with the end takes its place.
	done, err := s.Finish(ctx, []backend.Finished{{Num: a.Num, Token: "v", State: backend.Completed, Blobs: []backend.Blob{{Kind: backend.Original, Data: []byte("other")}}}})
	require.NoError(t, err)
	require.Equal(t, []bool{true}, done)
	got, err := s.Content(ctx, a.Num, backend.Original)
	require.NoError(t, err)
	require.Equal(t, "other", string(got))
	check(t, s)
	_, err = s.Delete(ctx, testPart, []string{claim.ID}, backend.DeleteOptions{})
	require.NoError(t, err)
	require.Zero(t, countOf(t, s, "blobs"))
}

// Checks that damage to an original in its own row affects only the original, and that it is not returned.
func TestDamagedOriginal(t *testing.T) {
	t.Parallel()
	_, s := openTest(t)
	a, claim := acceptedWith(t, s, []byte("text"))
	damage(t, s, "UPDATE blobs SET data = cast(x'00' || substr(data, 2) AS BLOB)")
	_, err := s.Content(t.Context(), a.Num, backend.Original)
	require.ErrorIs(t, err, backend.ErrCorrupt)
	res, err := s.Delete(t.Context(), testPart, []string{claim.ID}, backend.DeleteOptions{})
	require.NoError(t, err)
	require.True(t, res[0].Found)
}

// Checks that a move exports an original where the target expects it, and that the target stores it once.
func TestMoveOfOriginalInChunk(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	_, s := openTest(t)
	a, _ := acceptedWith(t, s, []byte("text"))
	_, err := s.Index(ctx, []backend.Indexed{{Num: a.Num, Token: "w", Chunks: []backend.Chunk{{Key: "k", Text: "text"}}}})
	require.NoError(t, err)
	require.NoError(t, s.change(ctx, func(x *tx) error {
		v := view{c: x.c, live: true}
		var op *move.Op
		for r, err := range v.Each(ctx, move.Sources) {
			require.NoError(t, err)
			owned, err := v.Owned(ctx, []move.Row{r})
			require.NoError(t, err)
			op = &move.Op{Table: move.Sources, Old: r, New: r, Owned: owned[a.Num], Class: int64(testPart.Class)}
		}
		require.Equal(t, move.Blobs, op.Owned[0].Table)
		require.Equal(t, "text", string(op.Owned[0].Row[3].([]byte)))
		return (&spot{v}).apply(op)
	}))
	require.EqualValues(t, 1, countOf(t, s, "blobs"), "the supplied graph alone")
	got, err := s.Content(ctx, a.Num, backend.Original)
	require.NoError(t, err)
	require.Equal(t, "text", string(got))
	check(t, s)
}
