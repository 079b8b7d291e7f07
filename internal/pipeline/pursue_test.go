package pipeline

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/inmem"
)

// farIndex is an index on another machine.
type farIndex struct {
	gatedIndex
	slow, lacks atomic.Bool
	broken      atomic.Int64 // number of calls of Apply that their context interrupted
}

func (x *farIndex) Trouble() (slow, lacks bool) { return x.slow.Load(), x.lacks.Load() }

func (x *farIndex) Apply(ctx context.Context, changes []backend.Change) error {
	err := x.gatedIndex.Apply(ctx, changes)
	if ctx.Err() != nil {
		x.broken.Add(1)
	}
	return err
}

// openFar returns a follower of a far index that lacks n changes and applies nothing until its gate is open.
func openFar(t *testing.T, n int) (*Follower, *farIndex) {
	t.Helper()
	ws, err := inmem.New().OpenWorkspace(t.Context(), "0123456789abcdef0123456789abcdef")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, ws.Close()) })
	var items []backend.Placed
	for i := range n {
		items = append(items, backend.Placed{Incoming: backend.Incoming{Source: backend.Source{Part: backend.Partition{Class: backend.Raw}, ID: fmt.Sprint(i)}},
			Chunks: []backend.Chunk{{Key: fmt.Sprint(i), Vector: []float32{1, 0}}}})
	}
	_, err = ws.Store().Place(t.Context(), items)
	require.NoError(t, err)
	x := &farIndex{gatedIndex: gatedIndex{Index: ws.Indexes()[0], gate: make(chan struct{})}}
	return newFollower(ws.Store(), []backend.Index{x}), x
}

// TestSearchDoesNotWaitForTrouble checks that a search waits for a healthy far index without limit, and for one in trouble only for patience.
func TestSearchDoesNotWaitForTrouble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, x := openFar(t, 5)
		defer f.Close()
		type answer struct {
			late uint64
			err  error
		}
		ask := func() chan answer {
			out := make(chan answer, 1)
			go func() {
				late, err := f.FreshOrLate(t.Context())
				out <- answer{late, err}
			}()
			return out
		}
		well := ask()
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Empty(t, well, "it knows all or waits")
		x.slow.Store(true)
		time.Sleep(troubleAgain)
		synctest.Wait()
		require.Len(t, well, 1)
		require.Equal(t, answer{5, nil}, <-well)
		began := time.Now()
		require.Equal(t, answer{5, nil}, <-ask())
		assert.Equal(t, troubleAgain, time.Since(began), "another search has given up waiting")
		f.gaveUpAt.Store(0)
		began = time.Now()
		require.Equal(t, answer{5, nil}, <-ask())
		assert.Equal(t, patience, time.Since(began))
		gone, cancel := context.WithTimeout(t.Context(), troubleAgain/2)
		defer cancel()
		_, err := f.FreshOrLate(gone)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, f.Sync(gone), context.DeadlineExceeded)
		assert.Zero(t, x.broken.Load(), "what is being applied goes on")
		ready := ask()
		close(x.gate)
		require.Equal(t, answer{0, nil}, <-ready)
		x.lacks.Store(true)
		require.Equal(t, answer{1, nil}, <-ask(), "what was applied may not be found")
	})
}

// TestPursuitsEnd checks that a waiting caller gets the error if changes cannot be applied, and that Close ends pursuits.
func TestPursuitsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, x := openFar(t, 5)
		x.fail = backend.ErrUnavailable
		close(x.gate)
		require.ErrorIs(t, f.Sync(t.Context()), backend.ErrUnavailable)
		_, err := f.FreshOrLate(t.Context())
		require.ErrorIs(t, err, backend.ErrUnavailable)
		x.slow.Store(true)
		late, err := f.FreshOrLate(t.Context())
		require.NoError(t, err)
		assert.Equal(t, uint64(5), late)
		x.gate, x.fail = make(chan struct{}), nil
		ended := make(chan error, 1)
		go func() { ended <- f.Sync(t.Context()) }()
		synctest.Wait()
		require.Empty(t, ended)
		f.Close()
		require.ErrorIs(t, <-ended, context.Canceled)
		require.ErrorIs(t, f.Sync(t.Context()), backend.ErrClosed)
	})
}

// awayStore is a Store that does not answer while it is away.
type awayStore struct {
	backend.Store
	away chan struct{} // closed when it is back
}

func (s *awayStore) Changes(ctx context.Context, after uint64, limit int) ([]backend.Change, error) {
	select {
	case <-s.away:
		return s.Store.Changes(ctx, after, limit)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *awayStore) ChangesAfter(after uint64) uint64 {
	return s.Store.(backend.FeedCounter).ChangesAfter(after)
}

// TestSearchDoesNotWaitForTheFeed checks that a search does not wait longer than patience for a Store that is slow to
// return the feed, nor for indexes right after.
func TestSearchDoesNotWaitForTheFeed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, x := openFar(t, 5)
		store := &awayStore{f.store, make(chan struct{})}
		f.store = store
		defer f.Close()
		began := time.Now()
		late, err := f.FreshOrLate(t.Context())
		require.NoError(t, err)
		assert.Equal(t, uint64(5), late)
		assert.Equal(t, patience, time.Since(began))
		close(store.away) // the gate is still closed
		synctest.Wait()
		late, err = f.FreshOrLate(t.Context())
		require.NoError(t, err)
		assert.Equal(t, uint64(5), late)
		time.Sleep(stalledFor)
		waits := make(chan uint64, 1)
		go func() {
			late, err := f.FreshOrLate(t.Context())
			assert.NoError(t, err)
			waits <- late
		}()
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Empty(t, waits, "all is well, and it takes long")
		close(x.gate)
		require.Zero(t, <-waits)
	})
}
