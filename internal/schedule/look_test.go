package schedule

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/internal/pipeline"
	"github.com/contextmem/contextmem/internal/workspace"
)

// oldView is a store whose first Backlog returns late and still reports an item as being processed.
type oldView struct {
	backend.Store
	late atomic.Bool
	read chan struct{} // closed when Backlog has read its counts
	say  chan struct{} // closed when Backlog may return
}

func (o *oldView) Backlog(ctx context.Context) (counts map[backend.State]int, next time.Time, err error) {
	counts, next, err = o.Store.Backlog(ctx)
	if o.late.CompareAndSwap(false, true) {
		counts, next = map[backend.State]int{backend.Processing: 1}, time.Now().Add(2*time.Minute)
		close(o.read)
		<-o.say
	}
	return counts, next, err
}

// none is an embedder that must not be called.
type none struct{}

func (none) Dim() int { return 1 }

func (none) EmbedDocuments(context.Context, []string) ([][]float32, error) { return nil, nil }

// openedSpace returns a scheduler that was not started, and an open workspace that it does not know yet.
func openedSpace(t *testing.T) (*Scheduler, *workspace.Ref) {
	t.Helper()
	gate := workspace.NewGate()
	set := workspace.NewSet(workspace.Config{Backend: inmem.New(), Gate: gate, Models: []workspace.Model{{Identity: workspace.Identity{Model: "m", Dim: 1}, Embedder: none{}}}, MaxIdle: 1, Patience: time.Second,
		Words: func(_, _ string) []uint64 { return nil }, Logger: slog.New(slog.DiscardHandler)})
	sched := New(Config{Set: set, Gate: gate, Pipeline: &pipeline.Config{}, Logger: slog.New(slog.DiscardHandler)})
	set.SetAttention(sched)
	t.Cleanup(func() { require.NoError(t, gate.Shut(time.Second, set.Close)) })
	rec, err := set.Create(t.Context(), "org", "acme", workspace.Data{})
	require.NoError(t, err)
	made, err := set.Registry().TenantByUID(t.Context(), rec.UID)
	require.NoError(t, err)
	require.NoError(t, set.Provision(t.Context(), made))
	h, err := set.Open(t.Context(), "test", "org", "acme")
	require.NoError(t, err)
	t.Cleanup(h.Release)
	sched.forget(h.UID) // drop what creating the workspace planned
	return sched, h
}

// TestLaterLookCounts checks that a worker with an outdated backlog does not overwrite the state that another worker has recorded since.
func TestLaterLookCounts(t *testing.T) {
	t.Parallel()
	sched, h := openedSpace(t)
	view := &oldView{Store: h.Store, read: make(chan struct{}), say: make(chan struct{})}
	h.Store = view
	first := make(chan error, 1)
	go func() {
		_, err := sched.rest(t.Context(), h.Space)
		first <- err
	}()
	<-view.read
	again, err := sched.rest(t.Context(), h.Space)
	require.NoError(t, err)
	require.False(t, again)
	close(view.say)
	require.NoError(t, <-first)
	sched.mu.Lock()
	defer sched.mu.Unlock()
	require.False(t, sched.attention(h.UID).pending)
	require.NotContains(t, sched.dueAt, h.UID)
}

// stuck is a store that cannot remove what has expired.
type stuck struct{ backend.Store }

func (stuck) Expire(_ context.Context, now time.Time, _ int) (int, time.Time, error) {
	return 0, now.Add(-time.Hour), nil
}

// TestExpiryThatRemovesNothingWaits checks that a worker does not ask at once again for what a store could not remove.
func TestExpiryThatRemovesNothingWaits(t *testing.T) {
	t.Parallel()
	sched, h := openedSpace(t)
	h.Store = stuck{h.Store}
	start := time.Now()
	again, err := sched.rest(t.Context(), h.Space)
	require.NoError(t, err)
	require.False(t, again)
	sched.mu.Lock()
	defer sched.mu.Unlock()
	require.False(t, sched.dueAt[h.UID].Before(start.Add(expireRetry)))
}

// TestLookKeepsThePlanAfterAFailure checks that a worker that has read the backlog while the step of another one ran does not wait for the leases of that
// step's claims if the step has failed since.
func TestLookKeepsThePlanAfterAFailure(t *testing.T) {
	t.Parallel()
	sched, h := openedSpace(t)
	view := &oldView{Store: h.Store, read: make(chan struct{}), say: make(chan struct{})}
	h.Store = view
	token := sched.begin(h.UID)
	looked := make(chan error, 1)
	go func() {
		_, err := sched.rest(t.Context(), h.Space)
		looked <- err
	}()
	<-view.read
	soon := time.Now().Add(time.Second)
	sched.ended(h.UID, token, errors.New("down"))
	sched.mu.Lock()
	sched.setDue(h.UID, soon)
	sched.mu.Unlock()
	close(view.say)
	require.NoError(t, <-looked)
	sched.mu.Lock()
	defer sched.mu.Unlock()
	require.True(t, sched.attention(h.UID).pending)
	require.Equal(t, soon, sched.dueAt[h.UID])
}
