package usage

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/inmem"
)

func storeOf(t *testing.T) backend.Store {
	t.Helper()
	be := inmem.New()
	ws, err := be.OpenWorkspace(t.Context(), "0123456789abcdef0123456789abcdef")
	require.NoError(t, err)
	return ws.Store()
}

func TestFactor(t *testing.T) {
	t.Parallel()
	now := time.Date(2024, 5, 3, 9, 0, 0, 0, time.UTC)
	day := 24 * time.Hour
	for _, c := range []struct {
		name string
		use  Use
		age  time.Duration
		want float64
	}{
		{"new", Use{}, 0, 1}, {"half a year", Use{}, 180 * day, .75}, {"old", Use{}, 100 * 365 * day, .5}, {"of the future", Use{}, -day, 1},
		{"new, used three times now", Use{3, now}, 0, 1.25}, {"used on and on", Use{1e6, now}, 0, 1.5},
		{"old, used a lot long ago", Use{1e6, now.Add(-50 * 365 * day)}, 100 * 365 * day, .5}, {"old, used now", Use{1, now}, 100 * 365 * day, 1.103},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			assert.InDelta(t, c.want, c.use.Factor(now.Add(-c.age), now), .001)
		})
	}
}

// What was noted is there at once, and after the process has gone; what is not used fades and is forgotten.
func TestTally(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st, ctx := storeOf(t), t.Context()
		a := New(st)
		nums := []int64{1, 2, 300, 1 << 40}
		count := func(x *Tally) (out []float64) {
			us, err := x.Uses(ctx, nums)
			require.NoError(t, err)
			for _, u := range us {
				out = append(out, u.at(time.Now()))
			}
			return out
		}
		require.Equal(t, []float64{0, 0, 0, 0}, count(a))
		a.Note(time.Now(), 1, 300, 1<<40)
		a.Note(time.Now(), 1)
		require.Equal(t, []float64{2, 0, 1, 1}, count(a))
		require.NoError(t, a.Flush(ctx))
		require.Empty(t, a.pending)
		require.Equal(t, []float64{2, 0, 1, 1}, count(a))
		b := New(st)
		require.Equal(t, []float64{2, 0, 1, 1}, count(b))
		a.Note(time.Now(), 2, 1)
		b.Note(time.Now(), 1)
		require.NoError(t, a.Flush(ctx))
		require.NoError(t, b.Flush(ctx), "another process has stored meanwhile")
		require.Equal(t, []float64{4, 1, 1, 1}, count(New(st)))
		time.Sleep(useHalfLife)
		require.InDeltaSlice(t, []float64{2, .5, .5, .5}, count(New(st)), .01)
		time.Sleep(4 * useHalfLife)
		c := New(st)
		c.Note(time.Now(), 1)
		require.NoError(t, c.Flush(ctx))
		data, err := st.Get(ctx, valueName(0))
		require.NoError(t, err)
		require.Len(t, data, entryBytes, "of 2 is nothing left")
	})
}

// failing is a store that cannot be written to.
type failing struct{ backend.Store }

var errDown = errors.New("down")

func (failing) Set(context.Context, string, []byte, []byte) error { return errDown }

func TestTallyIsBoundedAndLosesNothingWhenTheStoreFails(t *testing.T) {
	t.Parallel()
	st, ctx := storeOf(t), t.Context()
	a := New(failing{st})
	for n := range int64(2 * maxPending) {
		a.Note(time.Now(), n)
	}
	require.Len(t, a.pending, maxPending)
	require.ErrorIs(t, a.Flush(ctx), errDown)
	require.Len(t, a.pending, maxPending)
	a.st = st
	require.NoError(t, a.Flush(ctx))
	require.Empty(t, a.pending)
	for n := range int64(maxShards + 1) {
		_, err := a.Uses(ctx, []int64{n << shardBits})
		require.NoError(t, err)
		require.LessOrEqual(t, len(a.shards), maxShards)
	}
	require.NoError(t, st.Set(ctx, valueName(9<<20), nil, []byte("no")))
	_, err := a.Uses(ctx, []int64{9 << 20 << shardBits})
	require.ErrorIs(t, err, backend.ErrCorrupt)
	a.Note(time.Now(), 9<<20<<shardBits)
	require.NoError(t, a.Flush(ctx), "a damaged value is replaced")
}

func BenchmarkNote(b *testing.B) {
	a := New(nil)
	now := time.Now()
	for i := range b.N {
		n := int64(i % 1000)
		a.Note(now, n, n+1, n+2)
	}
}
