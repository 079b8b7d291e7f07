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

// sharedIndex is an index shared by several processes, as one of them sees it.
type sharedIndex struct {
	backend.Index
	all      *atomic.Uint64 // how far the one that leads has come
	seen     atomic.Uint64
	writes   atomic.Int64
	roles    []bool
	fail     atomic.Bool
	by       *elected
	troubled atomic.Bool
	unkept   atomic.Bool // whether changes were applied by a process that did not keep its lead meanwhile
}

func (x *sharedIndex) Applied() uint64             { return x.seen.Load() }
func (x *sharedIndex) Trouble() (slow, lacks bool) { return x.troubled.Load(), false }
func (x *sharedIndex) Refresh(context.Context) error {
	x.seen.Store(max(x.seen.Load(), x.all.Load()))
	return nil
}
func (x *sharedIndex) Lead(_ context.Context, still func() bool) error {
	x.roles = append(x.roles, still != nil)
	x.seen.Store(x.all.Load())
	return nil
}

func (x *sharedIndex) Apply(_ context.Context, changes []backend.Change) error {
	if x.fail.Load() {
		return backend.ErrUnavailable
	}
	time.Sleep(time.Millisecond)
	if !x.by.keeping.Load() {
		x.unkept.Store(true)
	}
	x.writes.Add(1)
	last := changes[len(changes)-1].Seq
	x.seen.Store(last)
	x.all.Store(last)
	return nil
}

// elected is one of several processes, of which one leads.
type elected struct {
	leader *atomic.Int64
	self   int64
	term   *atomic.Uint64

	keeping atomic.Bool
	told    atomic.Bool // whether it was last told to keep the lead
}

func (e *elected) Still(uint64) bool { return e.leader.Load() == e.self }
func (e *elected) Keep(ctx context.Context) {
	e.keeping.Store(true)
	<-ctx.Done()
	e.keeping.Store(false)
}

func (e *elected) Lead(_ context.Context, keep bool) (uint64, error) {
	e.told.Store(keep)
	if !e.Still(0) {
		return 0, nil
	}
	return e.term.Load(), nil
}

// TestOneLeads checks that one process applies the changes of all, with or without a notification, and another one as
// soon as the first no longer leads.
func TestOneLeads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ws, err := inmem.New().OpenWorkspace(t.Context(), "0123456789abcdef0123456789abcdef")
		require.NoError(t, err)
		defer func() { assert.NoError(t, ws.Close()) }()
		n := 0
		place := func() {
			n++
			_, err := ws.Store().Place(t.Context(), []backend.Placed{{Incoming: backend.Incoming{Source: backend.Source{Part: backend.Partition{Class: backend.Raw}, ID: fmt.Sprint(n)}},
				Chunks: []backend.Chunk{{Key: fmt.Sprint(n), Vector: []float32{1, 0}}}}})
			require.NoError(t, err)
		}
		var all atomic.Uint64
		var leader atomic.Int64
		var term atomic.Uint64
		term.Store(1)
		followers, indexes := [2]*Follower{}, [2]*sharedIndex{}
		for i := range followers {
			indexes[i] = &sharedIndex{Index: ws.Indexes()[0], all: &all}
			followers[i] = newFollower(ws.Store(), []backend.Index{indexes[i]})
			indexes[i].by = &elected{leader: &leader, self: int64(i), term: &term}
			followers[i].Leader = indexes[i].by
			defer followers[i].Close()
		}
		a, b := followers[0], followers[1]
		place()
		require.NoError(t, a.Open(t.Context()))
		require.NoError(t, a.Sync(t.Context()))
		require.NoError(t, b.Sync(t.Context()))
		assert.Equal(t, int64(1), indexes[0].writes.Load())
		assert.Zero(t, indexes[1].writes.Load(), "the other one does that")

		place()
		began := time.Now()
		require.NoError(t, b.Sync(t.Context()), "the one that leads was not told, and looks by itself")
		assert.Less(t, time.Since(began), 2*attendEvery)
		place()
		a.FeedChanged(false)
		began = time.Now()
		require.NoError(t, b.Sync(t.Context()))
		assert.Less(t, time.Since(began), 2*longestRefresh)

		indexes[0].fail.Store(true)
		place()
		a.FeedChanged(false)
		waits := make(chan error, 1)
		go func() { waits <- b.Sync(t.Context()) }()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		require.Empty(t, waits)
		began = time.Now()
		late, err := b.FreshOrLate(t.Context())
		require.NoError(t, err)
		assert.Equal(t, uint64(1), late, "a search does not wait for one that leads and gets no further")
		assert.Equal(t, patience, time.Since(began))
		indexes[0].fail.Store(false)
		time.Sleep(2 * attendEvery)
		synctest.Wait()
		require.Len(t, waits, 1, "it was tried again")
		require.NoError(t, <-waits)
		assert.Zero(t, indexes[1].writes.Load())

		require.False(t, indexes[0].by.told.Load())
		indexes[0].troubled.Store(true)
		place()
		require.NoError(t, a.Sync(t.Context()))
		assert.True(t, indexes[0].by.told.Load(), "another one would have to do again what replicas may lack")
		indexes[0].troubled.Store(false)

		leader.Store(1)
		place()
		b.FeedChanged(true) // in the process that works on the workspace
		require.NoError(t, a.Sync(t.Context()))
		assert.Equal(t, int64(1), indexes[1].writes.Load())
		assert.Equal(t, []bool{true, false}, indexes[0].roles)
		assert.Equal(t, []bool{false, true}, indexes[1].roles)
		term.Add(1) // another has led meanwhile, of whom nobody has heard
		place()
		require.NoError(t, b.Sync(t.Context()))
		assert.Equal(t, []bool{false, true, true}, indexes[1].roles)
		for _, x := range indexes {
			assert.False(t, x.unkept.Load() || x.by.keeping.Load(), "a lead is kept while changes are applied, and only then")
		}
	})
}
