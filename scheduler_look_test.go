package contextmem

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/inmem"
)

// oldView is a store whose first Backlog tells of an item in work, and comes late.
type oldView struct {
	backend.Store
	late atomic.Bool
	read chan struct{} // closed when Backlog has looked
	tell chan struct{} // closed when it may say so
}

func (o *oldView) Backlog(ctx context.Context) (counts map[backend.State]int, next time.Time, err error) {
	counts, next, err = o.Store.Backlog(ctx)
	if o.late.CompareAndSwap(false, true) {
		counts, next = map[backend.State]int{backend.Processing: 1}, time.Now().Add(2*time.Minute)
		close(o.read)
		<-o.tell
	}
	return counts, next, err
}

// TestLaterLookCounts: a worker that was held up does not undo what another has seen since.
func TestLaterLookCounts(t *testing.T) {
	t.Parallel()
	svc, err := New(t.Context(), inmem.New(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	_, err = svc.CreateTenant(t.Context(), TenantSpec{ID: "acme"})
	require.NoError(t, err)
	require.NoError(t, svc.Tenant("acme").WaitReady(t.Context()))
	require.NoError(t, svc.Drain(t.Context()))
	h, err := svc.open(t.Context(), "test", DefaultOrg, "acme")
	require.NoError(t, err)
	defer h.release()
	view := &oldView{Store: h.store, read: make(chan struct{}), tell: make(chan struct{})}
	sp := &space{uid: h.uid, ws: h.ws, store: view, follower: h.follower, changed: make(chan struct{})}
	first := make(chan error, 1)
	go func() {
		_, err := svc.sched.rest(t.Context(), sp)
		first <- err
	}()
	<-view.read
	again, err := svc.sched.rest(t.Context(), sp)
	require.NoError(t, err)
	require.False(t, again)
	close(view.tell)
	require.NoError(t, <-first)
	svc.sched.mu.Lock()
	defer svc.sched.mu.Unlock()
	require.False(t, svc.sched.attention(h.uid).pending)
	require.NotContains(t, svc.sched.dueAt, h.uid)
}
