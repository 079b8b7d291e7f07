package pipeline

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// consumingIndex is an index that clears the rows passed to Consume.
type consumingIndex struct {
	backend.Index
	taken int
}

func (x *consumingIndex) Consume(ctx context.Context, changes []backend.Change) error {
	err := x.Apply(ctx, changes)
	for i := range changes {
		x.taken += len(changes[i].Rows)
		clear(changes[i].Rows)
	}
	return err
}

// TestLastIndexMayClearRows checks that each of several indexes gets all placed rows, and that only the last one may clear them.
func TestLastIndexMayClearRows(t *testing.T) {
	t.Parallel()
	ws := openFollowed(t)
	first := &consumingIndex{Index: ws.Workspace.Indexes()[0]}
	last := &consumingIndex{Index: ws.second.Index}
	f := newFollower(ws.Store(), []backend.Index{first, last})
	part := backend.Partition{Class: backend.Raw, Sub: "s"}
	p, err := ws.Store().Place(t.Context(), []backend.Placed{{
		Incoming: backend.Incoming{Source: backend.Source{Part: part, ID: "a"}},
		Chunks:   []backend.Chunk{{Key: "a", Vector: []float32{1, 0}}},
	}})
	require.NoError(t, err)
	require.NoError(t, f.Advance(t.Context(), p))
	require.Zero(t, first.taken)
	require.Equal(t, 1, last.taken)
	for _, x := range []*consumingIndex{first, last} {
		require.Equal(t, ws.Store().LastSeq(), x.Applied())
		hits, err := x.Index.(backend.Vectors).SearchVectors(t.Context(), backend.VectorQuery{Part: part, Vector: []float32{1, 0}, K: 2})
		require.NoError(t, err)
		require.Len(t, hits, 1)
	}
}
