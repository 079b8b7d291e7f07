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

// countingIndex is an index that counts how often it is rebuilt.
type countingIndex struct {
	backend.Graph
	resets atomic.Int64
	epoch  uint64
}

func (x *countingIndex) Reset(ctx context.Context) error {
	x.resets.Add(1)
	return x.Graph.Reset(ctx)
}
func (x *countingIndex) Epoch() (uint64, bool) { return x.epoch, true }
func (x *countingIndex) SetEpoch(epoch uint64) { x.epoch = epoch }

// sharedSpace is a workspace whose index another process keeps up to date as well.
type sharedSpace struct {
	backend.IndexSet
	st backend.Store
	x  *countingIndex
}

func (s *sharedSpace) Store() backend.Store     { return s.st }
func (s *sharedSpace) Graph() backend.Graph     { return s.x }
func (s *sharedSpace) Indexes() []backend.Index { return []backend.Index{s.x} }

// TestIndexIsAheadOfTheStoreAsOpened lets another process write to a workspace and apply that to the shared index after
// this process opened the store and before it reads the index. The index must not be taken for one of another history.
func TestIndexIsAheadOfTheStoreAsOpened(t *testing.T) {
	t.Parallel()
	ctx, uid := t.Context(), backendtest.UID("ahead")
	a, b := openTest(t, t.Name(), nil), openTest(t, t.Name(), nil)
	defer func() { require.NoError(t, a.Close()); require.NoError(t, b.Close()) }()
	first, err := a.OpenStore(ctx, uid)
	require.NoError(t, err)
	set, err := inmem.New().OpenIndexes(ctx, uid)
	require.NoError(t, err)
	x := &countingIndex{Graph: set.Graph()}
	place := func(id string) {
		_, err := first.Place(ctx, []backend.Placed{placedMemory(id)})
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
