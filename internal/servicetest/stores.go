package servicetest

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/backend/sqlite"
)

// ErrDown is what a disk that does not answer returns.
var ErrDown = fmt.Errorf("disk: %w", backend.ErrUnavailable)

// PausableStore is a service whose store can be paused just before a write.
type PausableStore struct {
	T    *testing.T
	Plan *backendtest.Plan
	Tn   contextmem.Tenant
}

var RaceSchema = []contextmem.Field{{Name: "dept", Match: true}, {Name: "kind", Match: true}, {Name: "topic", Dense: true}}

func OpenPausable(t *testing.T, spec contextmem.TenantSpec) *PausableStore {
	t.Helper()
	plan := backendtest.NewPlan()
	svc, err := contextmem.New(t.Context(), backendtest.Faulty(inmem.New(), plan), nil)
	require.NoError(t, err)
	t.Cleanup(func() { plan.Release(); require.NoError(t, svc.Close()) })
	spec.ID = "acme"
	return &PausableStore{t, plan, Tenant(t, svc, spec)}
}

// PauseBefore runs write, pauses it at the next call of a method of the store before that takes effect, runs meanwhile,
// and lets the call continue. It returns when write has returned.
func (h *PausableStore) PauseBefore(method string, write, meanwhile func()) {
	h.T.Helper()
	call := h.Plan.Calls(method) + 1
	h.Plan.Add(backendtest.Fault{Method: method, Call: call, Block: true})
	var wg sync.WaitGroup
	wg.Go(write)
	ctx, cancel := context.WithTimeout(h.T.Context(), 30*time.Second)
	defer cancel()
	require.NoError(h.T, h.Plan.Await(ctx, method, call))
	meanwhile()
	h.Plan.Release()
	wg.Wait()
}

// WrappedStores opens stores that pass through Wrap.
type WrappedStores struct {
	*sqlite.DB
	Wrap func(backend.Store) backend.Store
}

func (b WrappedStores) OpenStore(ctx context.Context, uid string) (backend.Store, error) {
	s, err := b.DB.OpenStore(ctx, uid)
	if err != nil {
		return nil, err
	}
	return b.Wrap(s), nil
}

// UsedByOthers is a backend that other processes use too.
type UsedByOthers struct{ backend.Backend }

func (UsedByOthers) Shares() bool { return true }

func (UsedByOthers) Watch(ctx context.Context, _ func(uid string)) { <-ctx.Done() }

// ClosedDeployment returns a closed deployment with two tenants that have a memory each, and the uid of the first.
func ClosedDeployment(t *testing.T) (dir, uid string) {
	t.Helper()
	dir = t.TempDir()
	svc, err := contextmem.Open(t.Context(), dir, nil)
	require.NoError(t, err)
	for _, id := range []string{"acme", "other"} {
		tn := Tenant(t, svc, contextmem.TenantSpec{ID: id})
		_, err := tn.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "m", Text: "The kettle is on the shelf."}}})
		require.NoError(t, err)
	}
	require.NoError(t, svc.Drain(t.Context()))
	info, err := svc.Tenant("acme").Info(t.Context())
	require.NoError(t, err)
	require.NoError(t, svc.Close())
	return dir, info.UID
}

// StoreFiles returns the files of a tenant's store.
func StoreFiles(t *testing.T, dir, uid string) (out []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.Contains(path, uid) && strings.HasPrefix(d.Name(), "store.db") {
			out = append(out, path)
		}
		return err
	}))
	require.NotEmpty(t, out)
	return out
}
