package postgres

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/internal/pipeline"
	"github.com/contextmem/contextmem/internal/storerules"
)

// followed is an index that counts how often it is built anew.
type followed struct {
	backend.Graph
	resets atomic.Int64
	epoch  uint64
}

func (x *followed) Reset(ctx context.Context) error {
	x.resets.Add(1)
	return x.Graph.Reset(ctx)
}
func (x *followed) Epoch() (uint64, bool) { return x.epoch, true }
func (x *followed) SetEpoch(epoch uint64) { x.epoch = epoch }

// sharedSpace is a workspace whose index another process follows the feed with too.
type sharedSpace struct {
	backend.IndexSet
	st backend.Store
	x  *followed
}

func (s *sharedSpace) Store() backend.Store     { return s.st }
func (s *sharedSpace) Graph() backend.Graph     { return s.x }
func (s *sharedSpace) Indexes() []backend.Index { return []backend.Index{s.x} }

// A process opens a workspace; before it looks at the index, which is in a cluster, another process has written to the workspace and applied
// that to the index. The index is not taken for one of another history.
func TestIndexIsAheadOfTheStoreAsOpened(t *testing.T) {
	t.Parallel()
	ctx, uid := t.Context(), backendtest.UID("ahead")
	a, b := openTest(t, t.Name(), nil), openTest(t, t.Name(), nil)
	defer func() { require.NoError(t, a.Close()); require.NoError(t, b.Close()) }()
	first, err := a.OpenStore(ctx, uid)
	require.NoError(t, err)
	set, err := inmem.New().OpenIndexes(ctx, uid)
	require.NoError(t, err)
	x := &followed{Graph: set.Graph()}
	place := func(id string) {
		_, err := first.Place(ctx, []backend.Placed{note(id)})
		require.NoError(t, err)
		f := pipeline.NewFollower(&sharedSpace{set, first, x})
		require.NoError(t, f.Sync(ctx))
		f.Close()
	}
	second, err := b.OpenStore(ctx, uid)
	require.NoError(t, err)
	st := second.(*store)
	for _, id := range []string{"x", "y"} { // the first begins an epoch
		seq, known := st.lastSeq.Load(), st.epochs.known
		place(id)
		st.lastSeq.Store(seq) // it has not heard
		st.epochs.mu.Lock()
		st.epochs.known = known
		st.epochs.mu.Unlock()
		f := pipeline.NewFollower(&sharedSpace{set, second, x})
		require.NoError(t, f.Open(ctx))
		f.Close()
		assert.Zero(t, x.resets.Load())
		assert.Equal(t, x.Applied(), second.LastSeq())
	}
	// An index that has applied what the database never had is.
	require.NoError(t, x.Apply(ctx, []backend.Change{{Seq: x.Applied() + 1<<storerules.SeqShift, Kind: backend.Mark}}))
	f := pipeline.NewFollower(&sharedSpace{set, second, x})
	require.NoError(t, f.Open(ctx))
	f.Close()
	assert.EqualValues(t, 1, x.resets.Load())
}
