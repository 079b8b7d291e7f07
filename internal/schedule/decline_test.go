package schedule

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/backend/local"
	"github.com/contextmem/contextmem/internal/lease"
	"github.com/contextmem/contextmem/internal/pipeline"
	"github.com/contextmem/contextmem/internal/workspace"
)

// sharedBackend is a backend whose workspaces several processes share, as one process sees it.
type sharedBackend struct {
	backend.Backend
	lag atomic.Uint64 // number of changes that the indexes of the process lack
}

// Close does nothing: other processes use the backend too.
func (b *sharedBackend) Close() error { return nil }

func (b *sharedBackend) OpenWorkspace(ctx context.Context, uid string) (backend.Workspace, error) {
	ws, err := b.Backend.OpenWorkspace(ctx, uid)
	if err != nil {
		return nil, err
	}
	return &sharedWorkspace{ws, &sharedStore{ws.Store(), &b.lag}}, nil
}

type sharedWorkspace struct {
	backend.Workspace
	store *sharedStore
}

func (w *sharedWorkspace) Store() backend.Store { return w.store }

type sharedStore struct {
	backend.Store
	lag *atomic.Uint64
}

func (s *sharedStore) Guard(string, []byte) backend.Store { return s }
func (s *sharedStore) ChangesAfter(seq uint64) uint64 {
	return s.Store.(backend.FeedCounter).ChangesAfter(seq) + s.lag.Load()
}

// noEvents is an outbox without events.
type noEvents struct{}

func (noEvents) HandOver(context.Context, backend.Tenant, backend.Store) error { return nil }
func (noEvents) Wanted(string) bool                                            { return false }

// process is a scheduler with its leases, as one of several processes has them.
type process struct {
	*Scheduler
	at  *sharedBackend
	uid string
	end func()
}

// newProcess starts a process over a backend, with a tenant of its own.
func newProcess(t *testing.T, be backend.Backend, tenant string) *process {
	t.Helper()
	at := &sharedBackend{Backend: be}
	gate, leases, log := workspace.NewGate(), lease.New(be.Registry()), slog.New(slog.DiscardHandler)
	set := workspace.NewSet(workspace.Config{Backend: at, Gate: gate, Models: []workspace.Model{{Identity: workspace.Identity{Model: "m", Dim: 1}, Embedder: none{}}}, MaxIdle: 9, Patience: time.Second,
		Words: func(_, _ string) []uint64 { return nil }, Leases: leases, Logger: log})
	p := &process{Scheduler: New(Config{Set: set, Gate: gate, Outbox: noEvents{}, Leases: leases, Pipeline: &pipeline.Config{BatchItems: 10}, Logger: log}), at: at}
	set.SetAttention(p.Scheduler)
	gate.Go(func() { leases.Run(gate.Life(), func() {}) })
	p.end = func() { require.NoError(t, gate.Shut(time.Second, set.Close)) }
	rec, err := set.Create(t.Context(), "org", tenant, workspace.Data{})
	require.NoError(t, err)
	made, err := set.Registry().TenantByUID(t.Context(), rec.UID)
	require.NoError(t, err)
	require.NoError(t, set.Provision(t.Context(), made))
	p.uid = rec.UID
	return p
}

// works lets a process serve a workspace and reports whether it then holds the lease.
func (p *process) works(t *testing.T, uid string) bool {
	t.Helper()
	_, err := p.serve(uid)
	require.NoError(t, err)
	return p.Leases.Holds(lease.OfWorkspace(uid))
}

// TestLaggingProcessDeclines checks that a process whose indexes lag leaves a workspace to another one that lives, takes it after
// declineFor in any case, and declines no more once it has caught up.
func TestLaggingProcessDeclines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		be := inmem.New()
		defer func() { require.NoError(t, be.Close()) }()
		late, other := newProcess(t, be, "a"), newProcess(t, be, "b")
		defer late.end()
		defer func() { other.end() }()
		synctest.Wait() // both write heartbeats
		late.at.lag.Store(1000)
		require.True(t, late.works(t, late.uid), "no other process is known")
		release := func() { require.NoError(t, late.Leases.Release(t.Context(), lease.OfWorkspace(late.uid))) }
		release()
		require.True(t, other.works(t, other.uid))
		time.Sleep(2 * time.Second) // it has been heard of

		began := time.Now()
		for range 5 {
			require.False(t, late.works(t, late.uid), "it lags")
			late.mu.Lock()
			due := late.dueAt[late.uid]
			late.mu.Unlock()
			require.Equal(t, declinePause, time.Until(due))
			time.Sleep(declinePause)
		}
		for !late.works(t, late.uid) {
			time.Sleep(declinePause)
		}
		assert.Equal(t, declineFor, time.Since(began), "no other takes it")
		release()

		time.Sleep(declineAnew)
		require.True(t, other.works(t, other.uid))
		time.Sleep(2 * time.Second)
		require.False(t, late.works(t, late.uid), "it lags and may decline anew")
		mine, _, err := other.Leases.Take(t.Context(), lease.OfWorkspace(late.uid))
		require.NoError(t, err)
		require.True(t, mine, "it is left to the other")
		require.False(t, late.works(t, late.uid))
		require.NoError(t, other.Leases.Release(t.Context(), lease.OfWorkspace(late.uid)))
		late.at.lag.Store(0)
		require.True(t, late.works(t, late.uid), "it has caught up")
		late.at.lag.Store(1000)
		require.True(t, late.works(t, late.uid), "it keeps what it has")
		release()
		time.Sleep(declineAnew)
		require.True(t, other.works(t, other.uid))
		time.Sleep(2 * time.Second)
		require.True(t, late.works(t, late.uid), "it lacks changes again after it had caught up: so do all after an outage")
		release()
		require.NoError(t, late.seek(t.Context(), time.Now()))
		assert.False(t, late.Leases.Holds(lease.OfWorkspace(late.uid)), "who looks for work takes no lease before it is known whether it lags")
	})
}

// filesOf describes the files below a directory.
func filesOf(t *testing.T, dir string) (out []string) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil { // it was removed meanwhile
			return nil
		}
		if info, err := d.Info(); err == nil {
			out = append(out, fmt.Sprint(path, info.Size(), info.ModTime()))
		}
		return nil
	})
	return out
}

// TestFollowerFlushes checks that a process that only follows the changes of others flushes its indexes, so that after a kill
// it applies a bounded number of changes again.
func TestFollowerFlushes(t *testing.T) {
	t.Parallel()
	dir, stores := t.TempDir(), inmem.New()
	x, err := local.Open(dir, nil)
	require.NoError(t, err)
	be := backend.Compose(stores, x)
	defer func() { require.NoError(t, be.Close()) }()
	p := newProcess(t, be, "a")
	defer p.end()
	sp, err := p.set.Acquire(t.Context(), p.uid)
	require.NoError(t, err)
	defer p.set.ReleaseUID(p.uid)
	const batch = 100
	n, most := 0, uint64(0)
	for range 20 {
		var items []backend.Placed
		for range batch {
			n++
			items = append(items, backend.Placed{Incoming: backend.Incoming{Source: backend.Source{Part: backend.Partition{Class: backend.Raw}, ID: fmt.Sprint(n)}},
				Chunks: []backend.Chunk{{Key: fmt.Sprint(n), Vector: []float32{1}}}})
		}
		_, err := sp.Store.Place(t.Context(), items) // by another process
		require.NoError(t, err)
		require.NoError(t, sp.Follower.Sync(t.Context()))
		p.mu.Lock()
		due := p.upkeep[p.uid]
		p.upkeep = map[string]bool{}
		p.mu.Unlock()
		if due {
			require.NoError(t, p.maintain(p.uid))
		}
		killed := ""
		require.Eventually(t, func() bool { // as a kill leaves the files, if none changes while they are copied
			before := filesOf(t, dir)
			killed = filepath.Join(t.TempDir(), "killed")
			return os.CopyFS(killed, os.DirFS(dir)) == nil && slices.Equal(before, filesOf(t, dir))
		}, time.Minute, time.Millisecond)
		again, err := local.Open(killed, nil)
		require.NoError(t, err)
		indexes, err := again.OpenIndexes(t.Context(), p.uid)
		require.NoError(t, err)
		for _, s := range indexes.Indexes() {
			most = max(most, sp.Store.(backend.FeedCounter).ChangesAfter(s.Applied()))
		}
		require.NoError(t, again.Close())
	}
	assert.Positive(t, most)
	assert.Less(t, most, uint64(700), "changes that are applied again after a kill")
}
