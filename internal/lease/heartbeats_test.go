package lease

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/inmem"
)

type records = backend.Records

// outage is a set of records that cannot be read or written while on is set.
type outage struct {
	records
	on atomic.Bool
}

var errOutage = errors.New("the database is away")

func (o *outage) WriteRecords(ctx context.Context, w []backend.RecordWrite) error {
	if o.on.Load() {
		return errOutage
	}
	return o.records.WriteRecords(ctx, w)
}

func (o *outage) Record(ctx context.Context, kind, org, id string) (backend.Record, error) {
	if o.on.Load() {
		return backend.Record{}, errOutage
	}
	return o.records.Record(ctx, kind, org, id)
}

func (o *outage) Records(ctx context.Context, kind, org, after string, limit int) ([]backend.Record, error) {
	if o.on.Load() {
		return nil, errOutage
	}
	return o.records.Records(ctx, kind, org, after, limit)
}

// running is a keeper of a process that runs until end is called.
type running struct {
	*Keeper
	end  context.CancelFunc
	lost atomic.Int64
}

func run(t *testing.T, reg backend.Records) *running {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	r := &running{Keeper: New(reg), end: end}
	go r.Run(ctx, func() { r.lost.Add(1) })
	synctest.Wait()
	return r
}

func (r *running) takes(t *testing.T, name string) bool {
	t.Helper()
	mine, _, err := r.Take(t.Context(), name)
	require.NoError(t, err)
	return mine
}

// TestDeadProcessLosesItsLeases checks that leases of a process that no longer writes heartbeats are lost within
// three seconds, and leases it holds during a call when their time is over.
func TestDeadProcessLosesItsLeases(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reg := inmem.New().Registry()
		a, b := run(t, reg), run(t, reg)
		defer b.end()
		require.True(t, a.takes(t, "x"))
		held := make(chan struct{})
		ended := make(chan error, 1)
		inCall, stop := context.WithCancel(t.Context())
		go func() {
			_, _, err := a.Hold(inCall, "y", func(ctx context.Context) error {
				close(held)
				<-ctx.Done()
				return nil
			})
			ended <- err
		}()
		<-held
		for range 20 {
			time.Sleep(time.Second)
			require.False(t, b.takes(t, "x"), "it lives")
			require.True(t, a.takes(t, "x"))
		}
		assert.Zero(t, b.lost.Load())
		assert.Equal(t, uint64(1), a.Term("x"), "nobody else had it")
		for who, want := range map[*running]bool{a: true, b: false} {
			free, err := who.Free(t.Context(), "x")
			require.NoError(t, err)
			assert.Equal(t, want, free, "of others")
		}
		free, err := b.Free(t.Context(), "z")
		require.NoError(t, err)
		assert.True(t, free)
		died := time.Now()
		a.end()
		for free := false; !free; {
			free, err = b.Free(t.Context(), "x")
			require.NoError(t, err)
			time.Sleep(10 * time.Millisecond)
		}
		for !b.takes(t, "x") {
			time.Sleep(10 * time.Millisecond)
		}
		assert.Less(t, time.Since(died), 3*time.Second)
		assert.Equal(t, int64(1), b.lost.Load())
		require.NotZero(t, b.Term("x"))
		require.True(t, b.Sure("x"))
		require.False(t, a.Sure("x"), "nor does it rely on what it had")
		require.False(t, a.takes(t, "x"), "it was paused for long, and asks")
		require.Zero(t, a.Term("x"))
		require.False(t, b.takes(t, "y"), "it may still be at it")
		stop()
		require.NoError(t, <-ended)
		require.True(t, b.takes(t, "y"))
		time.Sleep(2 * clearAfter)
		left, err := reg.Records(t.Context(), kind, "", alivePrefix, 10)
		require.NoError(t, err)
		require.Len(t, left, 1, "of who lives")
		require.NoError(t, b.ReleaseAll(t.Context()))
		left, err = reg.Records(t.Context(), kind, "", alivePrefix, 10)
		require.NoError(t, err)
		require.Empty(t, left)
	})
}

// TestNoProcessIsDeadDuringAnOutage checks that no process is taken for dead while the database is unavailable, since
// none can write a heartbeat.
func TestNoProcessIsDeadDuringAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reg := &outage{records: inmem.New().Registry()}
		a, b := run(t, reg), run(t, reg)
		defer a.end()
		defer b.end()
		require.True(t, a.takes(t, "x"))
		time.Sleep(2 * time.Second)
		reg.on.Store(true)
		time.Sleep(TTL / 2)
		_, _, err := a.Take(t.Context(), "x")
		require.ErrorIs(t, err, errOutage, "others may have it by now, as far as it knows")
		reg.on.Store(false)
		time.Sleep(heartbeatInterval)
		synctest.Wait()
		require.False(t, b.takes(t, "x"))
		require.True(t, a.takes(t, "x"))
		assert.Zero(t, b.lost.Load())
	})
}

// slow is records of a database under load.
type slow struct{ records }

const slowness = 600 * time.Millisecond

func (s slow) WriteRecords(ctx context.Context, w []backend.RecordWrite) error {
	time.Sleep(slowness)
	return s.records.WriteRecords(ctx, w)
}

func (s slow) Records(ctx context.Context, kind, org, after string, limit int) ([]backend.Record, error) {
	time.Sleep(slowness)
	return s.records.Records(ctx, kind, org, after, limit)
}

// TestSlowDatabase checks that a process over a slow database keeps its leases while it lives, and loses them before their time is over if it dies.
func TestSlowDatabase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reg := slow{inmem.New().Registry()}
		a, b := run(t, reg), run(t, reg)
		defer func() {
			b.end()
			time.Sleep(2 * slowness) // until its last calls have ended
		}()
		require.True(t, a.takes(t, "x"))
		for range 200 {
			time.Sleep(100 * time.Millisecond)
			require.True(t, a.takes(t, "x"))
			require.True(t, a.Sure("x"))
			require.False(t, b.takes(t, "x"))
		}
		assert.Zero(t, b.lost.Load())
		a.end()
		died := time.Now()
		for !b.takes(t, "x") {
			time.Sleep(10 * time.Millisecond)
		}
		assert.Less(t, time.Since(died), TTL/2)
		synctest.Wait()
		assert.Equal(t, int64(1), b.lost.Load())
	})
}

// TestKeepingProcessLives checks that a process that keeps a lease counts as alive until it stops keeping it, even after it has lost that lease, and that
// nothing is known before the first reading.
func TestKeepingProcessLives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reg := inmem.New().Registry()
		b := run(t, reg)
		defer b.end()
		a := run(t, reg)
		defer a.end()
		lives := func() bool {
			t.Helper()
			lives, known := b.Lives(a.Process())
			require.True(t, known)
			return lives
		}
		_, known := b.Lives(a.Process())
		require.False(t, known)
		require.True(t, a.takes(t, "x"))
		ctx, end := context.WithCancel(t.Context())
		kept := make(chan struct{})
		go func() {
			a.Keep(ctx, "x")
			close(kept)
		}()
		time.Sleep(time.Minute)
		require.True(t, lives())
		require.NoError(t, reg.WriteRecords(t.Context(), foreignLease))
		for range 60 {
			time.Sleep(time.Second)
			require.True(t, lives(), "its work goes on")
		}
		require.False(t, a.Holds("x"))
		end()
		<-kept
		time.Sleep(3 * time.Second)
		require.False(t, lives())
		lives2, known := b.Lives("unknown")
		require.True(t, known)
		require.False(t, lives2)
		none, known := (*Keeper)(nil).Lives("x")
		require.True(t, known)
		require.False(t, none)
	})
}
