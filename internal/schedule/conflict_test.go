package schedule

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/inmem"
)

// conflicting is an outbox that returns a conflict for a number of calls.
type conflicting struct {
	noEvents
	left, calls atomic.Int64
}

func (o *conflicting) HandOver(context.Context, backend.Tenant, backend.Store) error {
	o.calls.Add(1)
	if o.left.Add(-1) >= 0 {
		return backend.ErrConflict
	}
	return nil
}

// TestConflictsArePaused checks that a worker tries a workspace again at once after one conflict, and with growing pauses after more of them.
func TestConflictsArePaused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		be := inmem.New()
		defer func() { require.NoError(t, be.Close()) }()
		p := newProcess(t, be, "a")
		defer p.end()
		out := &conflicting{}
		p.Outbox, p.Workers = out, 1
		out.left.Store(1)
		<-p.removal // from provisioning: Start asks again
		p.Start()
		p.Tidy(p.uid)
		synctest.Wait()
		require.EqualValues(t, 2, out.calls.Load(), "a second try is at once")

		out.calls.Store(0)
		out.left.Store(500) // more than it may be asked
		p.Tidy(p.uid)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		assert.LessOrEqual(t, out.calls.Load(), int64(10), "it does not pause")
		assert.GreaterOrEqual(t, out.calls.Load(), int64(5), "it does not try again")
		out.left.Store(0)
		time.Sleep(time.Minute)
		synctest.Wait()
		p.mu.Lock()
		defer p.mu.Unlock()
		assert.Zero(t, p.attention(p.uid).tries)
	})
}
