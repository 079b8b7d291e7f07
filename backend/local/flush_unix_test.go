//go:build unix

package local

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// Checks that changes apply and searches answer while a flush blocks in writing its file: a pipe without a reader.
func TestApplyWhileFlushing(t *testing.T) {
	t.Parallel()
	want, ix, _ := both(t)
	changes := benchChanges(3000)
	require.NoError(t, ix.Apply(t.Context(), changes[:2500]))
	require.NoError(t, want.Apply(t.Context(), changes[:2500]))
	require.NoError(t, os.MkdirAll(ix.dir(), 0o700))
	name := filepath.Join(ix.dir(), fileName(0)+tempSuffix)
	require.NoError(t, syscall.Mkfifo(name, 0o600))
	done := make(chan error, 1)
	go func() { done <- ix.Flush(t.Context()) }()
	pipe, err := os.Open(name) // returns once the flush has opened it to write
	require.NoError(t, err)
	_, err = pipe.Read(make([]byte, 1)) // and this once it writes
	require.NoError(t, err)
	drop := backend.Change{Seq: changes[2999].Seq + 1, Kind: backend.Drop, Part: benchPart, Source: changes[7].Source}
	for _, batch := range [][]backend.Change{changes[2500:], {drop}} {
		require.NoError(t, ix.Apply(t.Context(), batch))
		require.NoError(t, want.Apply(t.Context(), batch))
	}
	find := func() {
		t.Helper()
		q := backend.KeywordQuery{Part: benchPart, Text: changes[7].Rows[0].Text, K: 20}
		w, err := want.SearchKeywords(t.Context(), q)
		require.NoError(t, err)
		g, err := ix.SearchKeywords(t.Context(), q)
		require.NoError(t, err)
		sameHits(t, w, g, "keywords")
	}
	find()
	select {
	case err := <-done:
		t.Fatalf("the flush was not stuck: %v", err)
	default:
	}
	_, err = io.Copy(io.Discard, pipe)
	require.NoError(t, err)
	require.ErrorIs(t, <-done, backend.ErrUnavailable, "a pipe is no file")
	require.NoError(t, pipe.Close())
	find()
	require.NoError(t, ix.Flush(t.Context()))
	find()
	require.Equal(t, drop.Seq, ix.flushed)
}
