package lease

import (
	"context"
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
			require.NoError(t, reg.WriteRecords(ctx, lost))
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

// lost is the lease of another process.
var lost = []backend.RecordWrite{{Record: backend.Record{Kind: kind, ID: "x", Data: []byte(`{"Token":"c","Until":"2100-01-01T00:00:00Z"}`)}, IfRev: -1}}
