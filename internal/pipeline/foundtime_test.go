package pipeline

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/document"
)

// noting is a Store that keeps what Index was called with.
type noting struct {
	backend.Store
	got []backend.Indexed
}

func (n *noting) Index(ctx context.Context, items []backend.Indexed) ([]bool, error) {
	n.got = append(n.got, items...)
	return n.Store.Index(ctx, items)
}

// dated is a parser whose documents have a time.
type dated struct{ at time.Time }

func (d dated) Parse(_ context.Context, in document.Input, _ document.Limits) (*document.Document, error) {
	return &document.Document{Text: string(in.Data), Modified: d.at}, nil
}

// TestOnlyFoundTimesAreStored checks that the Store gets a time with the chunks only if the content has given the item another one than it
// was accepted with, and that both are read back.
func TestOnlyFoundTimesAreStored(t *testing.T) {
	t.Parallel()
	given, found := time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC), time.Date(2019, 2, 3, 4, 5, 6, 0, time.UTC)
	c, s := pipe(), space(t, inmem.New())
	c.Parsers.Register("application/x-dated", []string{".dated"}, dated{found})
	store := &noting{Store: s.Store}
	s.Store = store
	memory, file := backend.Partition{Class: backend.Memory, Sub: "s"}, backend.Partition{Class: backend.Knowledge, Sub: "s"}
	_, err := s.Store.Accept(t.Context(), []backend.Incoming{
		{Source: backend.Source{ID: "told", Part: memory, Time: given, CreatedAt: given, UpdatedAt: given}, Blobs: []backend.Blob{{Kind: backend.Original, Data: []byte("I moved to Porto.")}}},
		{Source: backend.Source{ID: "file", Part: file, MediaType: "application/x-dated", Filename: "f.dated", CreatedAt: given, UpdatedAt: given},
			Blobs: []backend.Blob{{Kind: backend.Original, Data: []byte("A report.")}}},
	})
	require.NoError(t, err)
	n, err := c.Step(t.Context(), s, "t")
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Len(t, store.got, 2)
	require.Zero(t, store.got[0].Time)
	require.Equal(t, found, store.got[1].Time)
	for part, want := range map[backend.Partition]map[string]time.Time{memory: {"told": given}, file: {"file": found}} {
		for id, at := range want {
			srcs, err := s.Store.Sources(t.Context(), part, []string{id})
			require.NoError(t, err)
			require.Equal(t, backend.Completed, srcs[0].State)
			require.True(t, srcs[0].Time.Equal(at), "%s: %s", id, srcs[0].Time)
		}
	}
}
