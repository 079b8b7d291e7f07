package pipeline

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/inmem"
)

// slowIndex is an index that can be made to fail.
type slowIndex struct {
	backend.Index
	fail bool
}

func (x *slowIndex) Flush(ctx context.Context) error {
	if x.fail {
		return errors.New("disk full")
	}
	return x.Index.Flush(ctx)
}

// followed is a workspace with its index and one more.
type followed struct {
	backend.Workspace
	second slowIndex
}

func (w *followed) Indexes() []backend.Index { return append(w.Workspace.Indexes(), &w.second) }

func openFollowed(t *testing.T) *followed {
	t.Helper()
	const uid = "0123456789abcdef0123456789abcdef"
	ws, err := inmem.New().OpenWorkspace(t.Context(), uid)
	require.NoError(t, err)
	other, err := inmem.New().OpenIndexes(t.Context(), uid)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, errors.Join(ws.Close(), other.Close())) })
	return &followed{Workspace: ws, second: slowIndex{Index: other.Vectors()}}
}

// tombstones counts the tombstones of the feed.
func tombstones(t *testing.T, s backend.Store) (n int) {
	t.Helper()
	changes, err := s.Changes(t.Context(), 0, 1<<20)
	require.NoError(t, err)
	for _, c := range changes {
		if c.Kind == backend.Drop || c.Kind == backend.DropSub {
			n++
		}
	}
	return n
}

func TestFlushCompactsFeed(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	part := backend.Partition{Class: backend.Raw, Sub: "s"}
	place := func(ws backend.Workspace, n int) (ids []string) {
		var items []backend.Placed
		for i := range n {
			id := fmt.Sprint("i", i)
			ids = append(ids, id)
			items = append(items, backend.Placed{
				Incoming: backend.Incoming{Source: backend.Source{Part: part, ID: id}},
				Chunks:   []backend.Chunk{{Key: id, Vector: []float32{1, 0}}},
			})
		}
		_, err := ws.Store().Place(ctx, items)
		require.NoError(t, err)
		return ids
	}
	remove := func(ws backend.Workspace, ids []string) {
		_, err := ws.Store().Delete(ctx, part, ids, backend.DeleteOptions{})
		require.NoError(t, err)
	}
	t.Run("once every index has persisted them", func(t *testing.T) {
		t.Parallel()
		ws := openFollowed(t)
		f := NewFollower(ws)
		ids := place(ws, 3)
		require.NoError(t, f.Sync(ctx))
		remove(ws, ids[:2])
		require.NoError(t, f.Flush(ctx))
		assert.Equal(t, 2, tombstones(t, ws.Store()), "not yet applied")
		require.NoError(t, f.Sync(ctx))
		ws.second.fail = true
		require.Error(t, f.Flush(ctx))
		assert.Equal(t, 2, tombstones(t, ws.Store()), "not yet persisted by both")
		ws.second.fail = false
		require.NoError(t, f.Flush(ctx))
		assert.Zero(t, tombstones(t, ws.Store()))
		remove(ws, ids[2:])
		require.NoError(t, f.Sync(ctx))
		hits, err := ws.Vectors().SearchVectors(ctx, backend.VectorQuery{Part: part, Vector: []float32{1, 0}, K: 5})
		require.NoError(t, err)
		assert.Empty(t, hits)
	})
	t.Run("a bounded number in one call", func(t *testing.T) {
		t.Parallel()
		ws := openFollowed(t)
		f := NewFollower(ws)
		remove(ws, place(ws, compactRows*compactSteps+7))
		require.NoError(t, f.Sync(ctx))
		require.NoError(t, f.Flush(ctx))
		assert.Equal(t, 7, tombstones(t, ws.Store()))
		require.NoError(t, f.Flush(ctx))
		assert.Zero(t, tombstones(t, ws.Store()))
	})
	t.Run("an index that comes later starts again", func(t *testing.T) {
		t.Parallel()
		ws := openFollowed(t)
		f := NewFollower(ws)
		ids := place(ws, 3)
		require.NoError(t, f.Sync(ctx))
		late, err := inmem.New().OpenIndexes(ctx, "00000000000000000000000000000000")
		require.NoError(t, err)
		defer func() { require.NoError(t, late.Close()) }()
		g := newFollower(ws.Store(), late.Indexes())
		require.NoError(t, g.Sync(ctx))
		remove(ws, ids[:1])
		require.NoError(t, f.Sync(ctx))
		require.NoError(t, f.Flush(ctx))
		require.NoError(t, g.Sync(ctx))
		hits, err := late.Vectors().SearchVectors(ctx, backend.VectorQuery{Part: part, Vector: []float32{1, 0}, K: 5})
		require.NoError(t, err)
		assert.Len(t, hits, 2)
	})
}

// TestOpenAfterRestore opens a store that was replaced by an older copy, with indexes that have later changes.
func TestOpenAfterRestore(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	part := backend.Partition{Class: backend.Raw, Sub: "s"}
	place := func(s backend.Store, id string, v ...float32) {
		t.Helper()
		_, err := s.Place(ctx, []backend.Placed{{
			Incoming: backend.Incoming{Source: backend.Source{Part: part, ID: id}}, Chunks: []backend.Chunk{{Key: id, Vector: v}},
		}})
		require.NoError(t, err)
	}
	newer, older := openFollowed(t), openFollowed(t)
	place(older.Store(), "kept", 1, 0)
	for _, id := range []string{"kept", "lost", "lost too"} {
		place(newer.Store(), id, 1, 0)
	}
	require.NoError(t, NewFollower(newer).Open(ctx))
	restored := newFollower(older.Store(), newer.Indexes())
	require.NoError(t, restored.Open(ctx))
	find := func() (chunks []int64) {
		hits, err := newer.Vectors().SearchVectors(ctx, backend.VectorQuery{Part: part, Vector: []float32{1, 0}, K: 9})
		require.NoError(t, err)
		for _, h := range hits {
			chunks = append(chunks, h.Chunk)
		}
		return chunks
	}
	assert.Equal(t, []int64{1}, find(), "what the store does not have is not found")
	place(older.Store(), "later", 1, 0)
	require.NoError(t, restored.Sync(ctx))
	assert.Equal(t, []int64{1, 2}, find(), "what comes later is found")
	assert.Equal(t, older.Store().LastSeq(), newer.Indexes()[0].Applied())
}

// historyIndex is an index that reports whether it has what a history lacks.
type historyIndex struct {
	backend.Index
	foreign bool
	last    uint64
	resets  int
}

func (x *historyIndex) SameHistory(last uint64, of backend.Epochs) bool {
	x.last = last
	return !x.foreign && of != nil
}

func (x *historyIndex) Reset(ctx context.Context) error {
	x.resets++
	return x.Index.Reset(ctx)
}

// epochStore is a store whose changes are all of one epoch.
type epochStore struct{ backend.Store }

func (epochStore) EpochOf(uint64) uint64 { return 7 }

// TestOpenChecksTheIndex checks that an index that may have changes of another history than the store's is rebuilt,
// even if its applied position is in both.
func TestOpenChecksTheIndex(t *testing.T) {
	t.Parallel()
	for _, foreign := range []bool{false, true} {
		ws := openFollowed(t)
		_, err := ws.Store().Place(t.Context(), []backend.Placed{{
			Incoming: backend.Incoming{Source: backend.Source{Part: backend.Partition{Class: backend.Raw, Sub: "s"}, ID: "a"}}, Chunks: []backend.Chunk{{Key: "a", Vector: []float32{1, 0}}},
		}})
		require.NoError(t, err)
		x := &historyIndex{Index: ws.second.Index, foreign: foreign}
		require.NoError(t, newFollower(epochStore{ws.Store()}, []backend.Index{x}).Open(t.Context()))
		assert.Equal(t, foreign, x.resets == 1)
		assert.Equal(t, ws.Store().LastSeq(), x.last)
		assert.Equal(t, ws.Store().LastSeq(), x.Applied())
		plain := &historyIndex{Index: ws.Indexes()[0], foreign: foreign}
		require.NoError(t, newFollower(&struct{ backend.Store }{ws.Store()}, []backend.Index{plain}).Open(t.Context()))
		assert.Zero(t, plain.resets, "a store that does not tell epochs")
	}
}

// gatedIndex is an index that applies a number of changes and then waits at the gate.
type gatedIndex struct {
	fail error
	backend.Index
	left int
	gate chan struct{}
}

func (x *gatedIndex) Apply(ctx context.Context, changes []backend.Change) error {
	if x.left -= len(changes); x.left < 0 {
		select {
		case <-x.gate:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if x.fail != nil {
		return x.fail
	}
	return x.Index.Apply(ctx, changes)
}

// TestSyncWaitsForNothingLater checks that a caller who waits for a change continues as soon as it is applied, although
// later ones are not.
func TestSyncWaitsForNothingLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		ws, err := inmem.New().OpenWorkspace(ctx, "0123456789abcdef0123456789abcdef")
		require.NoError(t, err)
		defer func() { require.NoError(t, ws.Close()) }()
		place := func(from, n int) {
			var items []backend.Placed
			for i := range n {
				items = append(items, backend.Placed{Incoming: backend.Incoming{Source: backend.Source{Part: backend.Partition{Class: backend.Raw}, ID: fmt.Sprint(from + i)}},
					Chunks: []backend.Chunk{{Key: fmt.Sprint(from + i), Vector: []float32{1, 0}}}})
			}
			_, err := ws.Store().Place(ctx, items)
			require.NoError(t, err)
		}
		x := &gatedIndex{Index: ws.Indexes()[0], left: 2 * applyChanges, gate: make(chan struct{})}
		f := newFollower(ws.Store(), []backend.Index{x})
		mine, err := f.acquire(ctx, never)
		require.NoError(t, err)
		require.True(t, mine)
		place(0, applyChanges)
		early := make(chan error, 1)
		go func() { early <- f.Sync(ctx) }()
		synctest.Wait()
		place(1000, 4*applyChanges)
		late := make(chan error, 1)
		go func() { late <- f.Sync(ctx) }()
		synctest.Wait()
		applied := make(chan error, 1)
		go func() {
			err := f.catchUp(ctx, x, ws.Store().LastSeq(), false)
			f.release()
			applied <- err
		}()
		synctest.Wait()
		require.Len(t, early, 1, "it has what it waited for")
		require.NoError(t, <-early)
		require.Empty(t, late)
		gone, cancel := context.WithCancel(ctx)
		cancel()
		require.ErrorIs(t, f.Sync(gone), context.Canceled)
		close(x.gate)
		require.NoError(t, <-applied)
		require.NoError(t, <-late)
		require.False(t, f.Behind())
		require.Empty(t, f.waiters)
	})
}

// TestFreshOrLate checks that a search waits for few changes, and reports many that the indexes have lacked since they
// were opened.
func TestFreshOrLate(t *testing.T) {
	t.Parallel()
	open := func(t *testing.T, n int) (*Follower, *gatedIndex) {
		ws, err := inmem.New().OpenWorkspace(t.Context(), "0123456789abcdef0123456789abcdef")
		require.NoError(t, err)
		var items []backend.Placed
		for i := range n {
			items = append(items, backend.Placed{Incoming: backend.Incoming{Source: backend.Source{Part: backend.Partition{Class: backend.Raw}, ID: fmt.Sprint(i)}},
				Chunks: []backend.Chunk{{Key: fmt.Sprint(i), Vector: []float32{1, 0}}}})
		}
		_, err = ws.Store().Place(t.Context(), items)
		require.NoError(t, err)
		x := &gatedIndex{Index: ws.Indexes()[0], left: applyChanges, gate: make(chan struct{})}
		return newFollower(ws.Store(), []backend.Index{x}), x
	}
	t.Run("many", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			f, x := open(t, 2*lateChanges)
			require.NoError(t, f.Open(t.Context()))
			synctest.Wait()
			late, err := f.FreshOrLate(t.Context())
			require.NoError(t, err)
			assert.Equal(t, uint64(2*lateChanges-applyChanges), late)
			waits := make(chan error, 1)
			go func() { waits <- f.Fresh(t.Context()) }()
			synctest.Wait()
			require.Empty(t, waits, "who has to know all waits")
			close(x.gate)
			require.NoError(t, <-waits)
			late, err = f.FreshOrLate(t.Context())
			require.NoError(t, err)
			assert.Zero(t, late)
			f.Close()
		})
	})
	t.Run("few", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			f, x := open(t, lateChanges-1)
			opened := make(chan error, 1)
			go func() { opened <- f.Open(t.Context()) }()
			synctest.Wait()
			require.Empty(t, opened)
			close(x.gate)
			require.NoError(t, <-opened)
			assert.Zero(t, f.lack())
			f.Close()
		})
	})
	t.Run("an index that fails", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			f, x := open(t, 2*lateChanges)
			x.fail = errors.New("no room")
			close(x.gate)
			require.NoError(t, f.Open(t.Context()))
			synctest.Wait()
			_, err := f.FreshOrLate(t.Context())
			require.ErrorIs(t, err, x.fail, "it is told")
			x.fail = nil
			late, err := f.FreshOrLate(t.Context())
			require.NoError(t, err)
			assert.Positive(t, late)
			synctest.Wait()
			late, err = f.FreshOrLate(t.Context())
			require.NoError(t, err)
			assert.Zero(t, late)
			f.Close()
		})
	})
	t.Run("damage", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			f, x := open(t, 2*lateChanges) // nothing was applied, as of an index that was emptied
			late, err := f.FreshOrLate(t.Context())
			require.NoError(t, err)
			assert.Less(t, late, uint64(2*lateChanges), "searches find what there is")
			assert.Positive(t, late)
			close(x.gate)
			f.Close()
		})
	})
}

// TestSlicesOfChanges checks that callers are woken after slices that take about equally long, whatever their changes.
func TestSlicesOfChanges(t *testing.T) {
	t.Parallel()
	rows := make([]backend.Row, 100)
	for _, c := range []struct {
		name    string
		changes []backend.Change
		want    []int
	}{
		{"none", nil, nil},
		{"few", make([]backend.Change, 3), []int{3}},
		{"deletions", make([]backend.Change, 600), []int{256, 256, 88}},
		{"long items", []backend.Change{{Rows: rows}, {}, {Rows: rows[:20]}, {Rows: rows[:20]}}, []int{1, 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []int
			for some := range slicesOf(c.changes) {
				got = append(got, len(some))
			}
			require.Equal(t, c.want, got)
		})
	}
}

// plainIndex is an index that does not implement [backend.Folder].
type plainIndex struct {
	backend.Index
	applied []backend.ChangeKind
}

func (x *plainIndex) Apply(ctx context.Context, changes []backend.Change) error {
	for _, c := range changes {
		x.applied = append(x.applied, c.Kind)
	}
	return x.Index.Apply(ctx, changes)
}

// foldingIndex is a plainIndex that says whether it folds entities.
type foldingIndex struct {
	plainIndex
	folds bool
}

func (x *foldingIndex) FoldsEntities() bool { return x.folds }

// TestAdvanceFolds checks that only an index that folds entities gets such changes of a call. Others read the feed.
func TestAdvanceFolds(t *testing.T) {
	t.Parallel()
	for _, folds := range []bool{false, true} {
		ws := openFollowed(t)
		placed, err := ws.Store().Place(t.Context(), []backend.Placed{{
			Incoming: backend.Incoming{Source: backend.Source{Part: backend.Partition{Class: backend.Raw, Sub: "s"}, ID: "a"}}, Chunks: []backend.Chunk{{Key: "a", Vector: []float32{1, 0}}},
		}})
		require.NoError(t, err)
		last := placed.Changes[0].Seq
		placed.Changes = []backend.Change{{Seq: last, Kind: backend.FoldEntity, Part: backend.Partition{Class: backend.Raw, Sub: "s"}, From: 1, Into: 2}}
		plain, folding := &plainIndex{Index: ws.Workspace.Indexes()[0]}, &foldingIndex{plainIndex{Index: ws.second.Index}, folds}
		require.NoError(t, newFollower(ws.Store(), []backend.Index{plain, folding}).Advance(t.Context(), placed))
		assert.Equal(t, []backend.ChangeKind{backend.PutChunks}, plain.applied)
		assert.Equal(t, []backend.ChangeKind{map[bool]backend.ChangeKind{false: backend.PutChunks, true: backend.FoldEntity}[folds]}, folding.applied)
	}
}
