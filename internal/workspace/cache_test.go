package workspace

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// house counts open workspaces, and fails the test if one is opened or closed twice.
type house struct {
	t    *testing.T
	mu   sync.Mutex
	open map[string]bool
	most int
	fail func(name string) error
}

type room struct {
	name   string
	closed atomic.Bool
}

func (h *house) enter(_ context.Context, name string) (*room, error) {
	if h.fail != nil {
		if err := h.fail(name); err != nil {
			return nil, err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open[name] {
		h.t.Errorf("%s is opened twice", name)
	}
	h.open[name] = true
	h.most = max(h.most, len(h.open))
	return &room{name: name}, nil
}

func (h *house) leave(r *room) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.open[r.name] || r.closed.Swap(true) {
		h.t.Errorf("%s is closed twice", r.name)
	}
	delete(h.open, r.name)
	return nil
}

func newHouse(t *testing.T, most int) (*house, *Cache[*room]) {
	h := &house{t: t, open: map[string]bool{}}
	return h, NewCache(most, h.enter, h.leave)
}

func TestNeverOpenTwice(t *testing.T) {
	t.Parallel()
	h, c := newHouse(t, 3)
	var flips atomic.Int64
	h.fail = func(string) error {
		if flips.Add(1)%7 == 0 {
			return errors.New("no")
		}
		return nil
	}
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(w)))
			for range 2000 {
				name := fmt.Sprint(rng.IntN(8))
				if rng.IntN(10) == 0 {
					c.Evict(name)
					continue
				}
				ctx, cancel := context.WithCancel(t.Context())
				if rng.IntN(5) == 0 {
					cancel()
				}
				r, err := c.Acquire(ctx, name)
				cancel()
				if err != nil {
					continue
				}
				if r.closed.Load() || r.name != name {
					t.Errorf("%s was closed under its user", name)
				}
				c.Release(name)
			}
		})
	}
	wg.Wait()
	h.mu.Lock()
	require.LessOrEqual(t, len(h.open), 3, "idle ones are bounded")
	h.mu.Unlock()
	require.NoError(t, c.Close())
	require.Empty(t, h.open)
	_, err := c.Acquire(t.Context(), "1")
	require.ErrorIs(t, err, errCacheClosed)
}

func TestLeastRecentlyUsedGoes(t *testing.T) {
	t.Parallel()
	h, c := newHouse(t, 2)
	for _, name := range []string{"a", "b", "a", "c"} {
		_, err := c.Acquire(t.Context(), name)
		require.NoError(t, err)
		c.Release(name)
	}
	require.Equal(t, map[string]bool{"a": true, "c": true}, h.open)
	n := 0
	c.Each(func(name string, r *room) {
		require.Equal(t, name, r.name)
		n++
	})
	require.Equal(t, 2, n)
	_, err := c.Acquire(t.Context(), "a")
	require.NoError(t, err)
	require.False(t, c.Evict("a"), "in use")
	require.True(t, c.Evict("c"))
	require.True(t, c.Evict("nothing"))
	c.Release("a")
	require.True(t, c.Evict("a"))
	require.NoError(t, c.Close())
}

// TestUsedAgain checks that a workspace that is used again stays open, and that its age counts from
// its last release.
func TestUsedAgain(t *testing.T) {
	t.Parallel()
	h, c := newHouse(t, 1)
	use := func(name string) {
		_, err := c.Acquire(t.Context(), name)
		require.NoError(t, err)
	}
	use("a")
	c.Release("a")
	use("a")
	for _, name := range []string{"b", "c"} {
		use(name)
		c.Release(name)
	}
	require.Equal(t, map[string]bool{"a": true, "c": true}, h.open, "one in use and one idle")
	c.Release("a")
	require.Equal(t, map[string]bool{"a": true}, h.open)
	use("a")
	use("a")
	c.Release("a")
	use("b")
	c.Release("b")
	require.Equal(t, map[string]bool{"a": true, "b": true}, h.open, "a has a user left")
	c.Release("a")
	require.Equal(t, map[string]bool{"a": true}, h.open)
	require.NoError(t, c.Close())
	require.Empty(t, h.open)
}

func TestFailedOpeningIsSharedAndForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, c := newHouse(t, 2)
		fault := errors.New("disk")
		h.fail = func(string) error { time.Sleep(time.Second); return fault }
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				_, err := c.Acquire(t.Context(), "a")
				if !errors.Is(err, fault) {
					t.Errorf("got %v", err)
				}
			})
		}
		wg.Wait()
		h.fail = nil
		_, err := c.Acquire(t.Context(), "a")
		require.NoError(t, err)
		c.Release("a")
		require.NoError(t, c.Close())
	})
}

// TestOpenerWhoLeaves checks that an opener whose context ends does not make waiting callers fail.
func TestOpenerWhoLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &house{t: t, open: map[string]bool{}}
		c := NewCache(2, func(ctx context.Context, name string) (*room, error) {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(time.Second):
				return h.enter(ctx, name)
			}
		}, h.leave)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := c.Acquire(ctx, "a"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the first got %v", err)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			if _, err := c.Acquire(t.Context(), "a"); err != nil {
				t.Errorf("the second got %v", err)
			}
			c.Release("a")
		})
		wg.Wait()
		require.NoError(t, c.Close())
		require.Empty(t, h.open)
	})
}

// TestAwaitClosing: it returns when what was closing is closed, or with its context, and does not wait for what is open.
func TestAwaitClosing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const took = time.Second
		c := NewCache(1, func(_ context.Context, name string) (string, error) { return name, nil }, func(string) error {
			time.Sleep(took)
			return nil
		})
		for _, name := range []string{"a", "b"} {
			_, err := c.Acquire(t.Context(), name)
			require.NoError(t, err)
		}
		require.NoError(t, c.AwaitClosing(t.Context()))
		go func() {
			c.Release("a")
			c.Release("b") // a is closed
		}()
		synctest.Wait()
		_, open := c.AcquireOpen("a")
		require.False(t, open)
		once, cancel := context.WithTimeout(t.Context(), took/2)
		defer cancel()
		began := time.Now()
		require.ErrorIs(t, c.AwaitClosing(once), context.DeadlineExceeded)
		require.NoError(t, c.AwaitClosing(t.Context()))
		require.Equal(t, took, time.Since(began))
		require.True(t, c.Evict("b"))
	})
}
