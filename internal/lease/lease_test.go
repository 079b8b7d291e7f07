package lease

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/inmem"
)

func TestLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		reg := inmem.New().Registry()
		a, b := New(reg), New(reg)
		take := func(k *Keeper) bool {
			t.Helper()
			mine, until, err := k.Take(ctx, "x")
			require.NoError(t, err)
			assert.True(t, until.After(time.Now()))
			return mine
		}
		assert.True(t, take(a))
		assert.False(t, take(b))
		for range 5 { // renewed for as long as it is asked for
			time.Sleep(TTL / 2)
			assert.True(t, take(a))
			assert.False(t, take(b))
		}
		time.Sleep(TTL + time.Millisecond)
		assert.True(t, take(b), "the holder was silent")
		assert.False(t, take(a))
		require.NoError(t, a.Release(ctx, "x"), "somebody else's")
		assert.False(t, take(a))
		require.NoError(t, b.ReleaseAll(ctx))
		assert.True(t, take(a))
	})
}

func TestHold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		reg := inmem.New().Registry()
		a, b := New(reg), New(reg)
		mine, _, err := a.Hold(ctx, "x", func(held context.Context) error {
			time.Sleep(5 * TTL)
			require.NoError(t, held.Err())
			mine, until, err := b.Hold(ctx, "x", func(context.Context) error { t.Error("two at once"); return nil })
			require.NoError(t, err)
			assert.False(t, mine)
			assert.Positive(t, time.Until(until))
			return nil
		})
		require.NoError(t, err)
		assert.True(t, mine)
		mine, _, err = b.Hold(ctx, "x", func(held context.Context) error {
			// Another takes it, as after a long pause of this process.
			require.NoError(t, reg.WriteRecords(ctx, foreignLease))
			<-held.Done()
			return held.Err()
		})
		assert.True(t, mine)
		require.ErrorIs(t, err, context.Canceled)
		ran := false
		mine, _, err = (*Keeper)(nil).Hold(ctx, "x", func(context.Context) error { ran = true; return nil })
		require.NoError(t, err)
		assert.True(t, mine && ran, "alone")
	})
}

// TestHoldSoon checks that a working process hands the lease over on request, and does not get it back before the other
// is done.
func TestHoldSoon(t *testing.T) {
	t.Parallel()
	for _, silent := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			reg := inmem.New().Registry()
			a, b, c := New(reg), New(reg), New(reg)
			mine, _, err := b.Take(t.Context(), "x")
			require.NoError(t, err)
			require.True(t, mine)
			stop := make(chan struct{})
			var wg sync.WaitGroup
			if !silent {
				wg.Go(func() { // as who always has something to do
					for {
						select {
						case <-stop:
							return
						case <-time.After(100 * time.Millisecond):
							_, _, err := b.Take(t.Context(), "x")
							assert.NoError(t, err)
						}
					}
				})
			}
			began, holders := time.Now(), 0
			hold := func(context.Context) error {
				holders++
				assert.Equal(t, 1, holders)
				time.Sleep(3 * TTL)
				mine, _, err := b.Take(t.Context(), "x")
				assert.NoError(t, err)
				assert.False(t, mine)
				holders--
				return nil
			}
			wg.Go(func() { assert.NoError(t, c.HoldSoon(t.Context(), "x", hold)) })
			require.NoError(t, a.HoldSoon(t.Context(), "x", func(ctx context.Context) error {
				assert.NoError(t, ctx.Err())
				return hold(ctx)
			}))
			time.Sleep(5 * TTL) // the other call
			close(stop)
			wg.Wait()
			took := time.Since(began) - 6*TTL - 5*TTL
			assert.Less(t, took, 2*TTL+time.Second)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, _, err = b.Take(t.Context(), "y")
			require.NoError(t, err)
			require.ErrorIs(t, a.HoldSoon(ctx, "y", hold), context.DeadlineExceeded)
		})
	}
	ran := false
	require.NoError(t, (*Keeper)(nil).HoldSoon(t.Context(), "x", func(context.Context) error { ran = true; return nil }))
	assert.True(t, ran)
}

// foreignLease is the lease of another process.
var foreignLease = []backend.RecordWrite{{Record: backend.Record{Kind: kind, ID: "x", Data: []byte(`{"Token":"c","Until":"2100-01-01T00:00:00Z"}`)}, IfRev: -1}}
