package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// hold keeps the writer busy until the returned function is called.
func hold(t *testing.T, s *store) (release func() error) {
	t.Helper()
	busy, free := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- s.change(context.Background(), func(*tx) error {
			close(busy)
			<-free
			return nil
		})
	}()
	<-busy
	return func() error {
		close(free)
		return <-done
	}
}

func item(id string) []backend.Incoming {
	return []backend.Incoming{{
		Source: backend.Source{Part: testPart, ID: id, UpdatedAt: testTime},
		Blobs:  []backend.Blob{{Kind: backend.Original, Data: []byte(id)}},
	}}
}

func TestGroupCommit(t *testing.T) {
	t.Parallel()
	_, s := openTest(t)
	release := hold(t, s)
	before := s.w.groups.Load()
	const calls = 40
	var wg sync.WaitGroup
	for i := range calls {
		wg.Go(func() {
			out, err := s.Accept(context.Background(), item(fmt.Sprint("item-", i)))
			assert.NoError(t, err)
			assert.Len(t, out, 1)
		})
	}
	waitFor(t, s, calls)
	require.NoError(t, release())
	wg.Wait()
	assert.LessOrEqual(t, s.w.groups.Load()-before, int64(calls/4), "calls share commits")
	_, total, err := s.List(t.Context(), backend.ListQuery{Part: testPart})
	require.NoError(t, err)
	assert.Equal(t, calls, total)
}

// waitFor waits until the given number of calls are in the writer's queue.
func waitFor(t *testing.T, s *store, n int) {
	t.Helper()
	for s.w.waiting.Load() < int64(n) {
		require.NoError(t, t.Context().Err())
		_, err := s.Get(t.Context(), "") // something to do meanwhile
		require.NoError(t, err)
	}
}

func TestFailuresInAGroup(t *testing.T) {
	t.Parallel()
	_, s := openTest(t)
	boom := errors.New("boom")
	for round := range 20 {
		r := rand.New(rand.NewPCG(uint64(round), 7))
		release := hold(t, s)
		var wg sync.WaitGroup
		for i := range 12 {
			fail := r.IntN(2) == 0
			name := fmt.Sprintf("r%d-%d-%v", round, i, fail)
			wg.Go(func() {
				err := s.change(context.Background(), func(tx *tx) error {
					if _, err := tx.Accept(item(name)); err != nil {
						return err
					}
					if fail {
						return boom
					}
					return nil
				})
				if fail {
					assert.ErrorIs(t, err, boom)
				} else {
					assert.NoError(t, err)
				}
			})
		}
		waitFor(t, s, 12)
		require.NoError(t, release())
		wg.Wait()
	}
	page, total, err := s.List(t.Context(), backend.ListQuery{Part: testPart, Limit: 1000})
	require.NoError(t, err)
	require.Len(t, page, total)
	for _, src := range page {
		assert.Regexp(t, "false$", src.ID, "a failed call left something")
	}
	counts, _, err := s.Backlog(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[backend.State]int{backend.Queued: total}, counts)
	check(t, s)
}

func TestCtxWhileQueued(t *testing.T) {
	t.Parallel()
	_, s := openTest(t)
	release := hold(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan error, 1)
	go func() {
		_, err := s.Accept(ctx, item("never"))
		got <- err
	}()
	waitFor(t, s, 1)
	cancel()
	require.Equal(t, context.Canceled, <-got, "while the writer is still busy")
	require.NoError(t, release())
	srcs, err := s.Sources(t.Context(), testPart, []string{"never"})
	require.NoError(t, err)
	assert.Nil(t, srcs[0])
	_, err = s.Accept(ctx, item("never"))
	require.Equal(t, context.Canceled, err)
	for name, call := range map[string]func() error{
		"read":  func() error { _, err := s.Sources(ctx, testPart, []string{"x"}); return err },
		"query": func() error { _, err := s.Get(ctx, "x"); return err },
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, context.Canceled, call(), name)
		})
	}
}

func TestPanicInATransaction(t *testing.T) {
	t.Parallel()
	_, s := openTest(t)
	assert.PanicsWithValue(t, "boom", func() {
		_ = s.change(t.Context(), func(tx *tx) error {
			if _, err := tx.Accept(item("never")); err != nil {
				return err
			}
			panic("boom")
		})
	})
	_, err := s.Accept(t.Context(), item("next"))
	require.NoError(t, err)
	check(t, s)
	_, total, err := s.List(t.Context(), backend.ListQuery{Part: testPart})
	require.NoError(t, err)
	assert.Equal(t, 1, total)
}

func TestDiskFull(t *testing.T) {
	t.Parallel()
	_, s := openTest(t)
	_, err := s.Accept(t.Context(), item("before"))
	require.NoError(t, err)
	limit := func(sql string) {
		t.Helper()
		require.NoError(t, s.change(t.Context(), func(tx *tx) error {
			_, err := tx.c.one(bg, sql, func(*row) error { return nil })
			return err
		}))
	}
	limit("PRAGMA max_page_count = 60")
	big := item("big")
	big[0].Blobs[0].Data = make([]byte, 4<<20)
	_, err = s.Accept(t.Context(), big)
	require.ErrorIs(t, err, backend.ErrUnavailable)
	// Calls that share a group with one that fills the disk must not be told that they are durable.
	release := hold(t, s)
	var wg sync.WaitGroup
	acked := make([]bool, 9)
	for i := range acked {
		wg.Go(func() {
			in := item(fmt.Sprint("small-", i))
			if i%3 == 1 {
				in[0].Blobs[0].Data = make([]byte, 4<<20)
			}
			_, err := s.Accept(context.Background(), in)
			if err != nil {
				assert.ErrorIs(t, err, backend.ErrUnavailable)
			}
			acked[i] = err == nil
		})
	}
	waitFor(t, s, len(acked))
	if err := release(); err != nil { // it was in the group that filled the disk
		require.ErrorIs(t, err, backend.ErrUnavailable)
	}
	wg.Wait()
	limit("PRAGMA max_page_count = 1000000")
	for i, ok := range acked {
		srcs, err := s.Sources(t.Context(), testPart, []string{fmt.Sprint("small-", i)})
		require.NoError(t, err)
		assert.Equal(t, ok, srcs[0] != nil, "item %d", i)
	}
	_, err = s.Accept(t.Context(), big)
	require.NoError(t, err, "there is room again")
	check(t, s)
}

// TestConflictInARow checks that a call whose collected rows hold one that is there already leaves none of them, alone and behind another call.
func TestConflictInARow(t *testing.T) {
	t.Parallel()
	_, s := openTest(t)
	add := func(sources ...int64) error {
		return s.change(context.Background(), func(x *tx) error {
			for _, source := range sources {
				if err := x.edgeRows.add(x.c, int64(1), source, shortWord("person"), int64(1)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	stored := func() (sources []int64) {
		require.NoError(t, s.read(t.Context(), func(c *conn) error {
			return c.each(bg, "SELECT source FROM entity_sources ORDER BY source", func(r *row) error {
				sources = append(sources, r.int(0))
				return nil
			})
		}))
		return sources
	}
	require.NoError(t, add(5))
	require.ErrorIs(t, add(2, 3, 4, 5, 6), errConstraint)
	assert.Equal(t, []int64{5}, stored(), "alone")
	release := hold(t, s)
	errs := make([]error, 3)
	var wg sync.WaitGroup
	for i, sources := range [][]int64{{1}, {2, 3, 4, 5, 6}, {7, 8}} {
		wg.Go(func() { errs[i] = add(sources...) })
	}
	waitFor(t, s, 3)
	require.NoError(t, release())
	wg.Wait()
	assert.NoError(t, errs[0])
	assert.ErrorIs(t, errs[1], errConstraint)
	assert.NoError(t, errs[2])
	assert.Equal(t, []int64{1, 5, 7, 8}, stored(), "behind others")
}
