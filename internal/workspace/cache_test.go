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

// workspaces counts open workspaces, and fails the test if one is opened or closed twice.
type workspaces struct {
	t      *testing.T
	mu     sync.Mutex
	opened map[string]bool
	most   int
	fail   func(name string) error
}

type openWorkspace struct {
	name   string
	closed atomic.Bool
}

func (h *workspaces) open(_ context.Context, name string) (*openWorkspace, error) {
	if h.fail != nil {
		if err := h.fail(name); err != nil {
			return nil, err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.opened[name] {
		h.t.Errorf("%s is opened twice", name)
	}
	h.opened[name] = true
	h.most = max(h.most, len(h.opened))
	return &openWorkspace{name: name}, nil
}

func (h *workspaces) close(r *openWorkspace) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.opened[r.name] || r.closed.Swap(true) {
		h.t.Errorf("%s is closed twice", r.name)
	}
	delete(h.opened, r.name)
	return nil
}

func newWorkspaces(t *testing.T, most int) (*workspaces, *Cache[*openWorkspace]) {
	h := &workspaces{t: t, opened: map[string]bool{}}
	return h, NewCache(most, h.open, h.close)
}

func TestNeverOpenTwice(t *testing.T) {
	t.Parallel()
	h, c := newWorkspaces(t, 3)
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
	require.LessOrEqual(t, len(h.opened), 3, "idle ones are bounded")
	h.mu.Unlock()
	require.NoError(t, c.Close())
	require.Empty(t, h.opened)
	_, err := c.Acquire(t.Context(), "1")
	require.ErrorIs(t, err, errCacheClosed)
}

func TestLeastRecentlyUsedGoes(t *testing.T) {
	t.Parallel()
	h, c := newWorkspaces(t, 2)
	for _, name := range []string{"a", "b", "a", "c"} {
		_, err := c.Acquire(t.Context(), name)
		require.NoError(t, err)
		c.Release(name)
	}
	require.Equal(t, map[string]bool{"a": true, "c": true}, h.opened)
	n := 0
	c.Each(func(name string, r *openWorkspace) {
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
	h, c := newWorkspaces(t, 1)
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
	require.Equal(t, map[string]bool{"a": true, "c": true}, h.opened, "one in use and one idle")
	c.Release("a")
	require.Equal(t, map[string]bool{"a": true}, h.opened)
	use("a")
	use("a")
	c.Release("a")
	use("b")
	c.Release("b")
	require.Equal(t, map[string]bool{"a": true, "b": true}, h.opened, "a has a user left")
	c.Release("a")
	require.Equal(t, map[string]bool{"a": true}, h.opened)
	require.NoError(t, c.Close())
	require.Empty(t, h.opened)
}

func TestFailedOpeningIsSharedAndForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, c := newWorkspaces(t, 2)
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

// TestOpenerIsCancelled checks that an opener whose context ends does not make waiting callers fail.
func TestOpenerIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &workspaces{t: t, opened: map[string]bool{}}
		c := NewCache(2, func(ctx context.Context, name string) (*openWorkspace, error) {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(time.Second):
				return h.open(ctx, name)
			}
		}, h.close)
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
		require.Empty(t, h.opened)
	})
}

// TestAwaitClosing checks that the call returns when a closing workspace is closed, or when its context ends, and does
// not wait for open ones.
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
