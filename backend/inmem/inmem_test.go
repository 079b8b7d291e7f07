package inmem

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

func TestReopenKeepsData(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	b := New()
	const uid = "0123456789abcdef0123456789abcdef"
	w, err := b.OpenWorkspace(ctx, uid)
	require.NoError(t, err)
	require.Len(t, w.Indexes(), 1, "one value serves as all indexes")
	require.NoError(t, w.Store().Set(ctx, "name", nil, []byte("value")))
	part := backend.Partition{Class: backend.Memory, Sub: "s"}
	acc, err := w.Store().Accept(ctx, []backend.Incoming{{Source: backend.Source{Part: part, ID: "a", Time: time.Unix(60, 0)}}})
	require.NoError(t, err)
	now := time.Unix(100, 0)
	_, err = w.Store().Claim(ctx, "t", now, now.Add(time.Minute), 1, 0)
	require.NoError(t, err)
	ok, err := w.Store().Index(ctx, []backend.Indexed{{Num: acc[0].Num, Token: "t", Chunks: []backend.Chunk{{Key: "k", Text: "hello world"}}}})
	require.NoError(t, err)
	require.Equal(t, []bool{true}, ok)
	changes, err := w.Store().Changes(ctx, 0, 100)
	require.NoError(t, err)
	require.NoError(t, w.Keywords().Apply(ctx, changes))

	_, err = b.Reopen()
	require.ErrorIs(t, err, backend.ErrLocked, "still in use")
	require.NoError(t, b.Close())
	_, err = w.Store().Get(ctx, "name")
	require.ErrorIs(t, err, backend.ErrClosed)

	again, err := b.Reopen()
	require.NoError(t, err)
	w, err = again.OpenWorkspace(ctx, uid)
	require.NoError(t, err)
	_, err = again.OpenWorkspace(ctx, uid)
	require.ErrorIs(t, err, backend.ErrConflict, "open twice")
	value, err := w.Store().Get(ctx, "name")
	require.NoError(t, err)
	require.Equal(t, "value", string(value))
	hits, err := w.Keywords().SearchKeywords(ctx, backend.KeywordQuery{Part: part, Text: "hello", K: 3})
	require.NoError(t, err)
	require.Len(t, hits, 1)
	require.Error(t, again.RemoveWorkspace(ctx, uid), "still open")
	require.NoError(t, w.Close())
	require.NoError(t, again.RemoveWorkspace(ctx, uid))
}
