package workspace_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// filesUnder returns the number of descriptors of the process that lead into a directory, or 0 if the system does not
// report them.
func filesUnder(dir string) (n int) {
	es, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	for _, e := range es {
		if to, err := os.Readlink(filepath.Join("/proc/self/fd", e.Name())); err == nil && strings.HasPrefix(to, dir) {
			n++
		}
	}
	return n
}

// TestFewOpenTenants uses many tenants from several goroutines while few may stay open. A tenant in use is never
// closed, and idle ones have no open files.
func TestFewOpenTenants(t *testing.T) {
	t.Parallel()
	const tenants, users, open = 24, 4, 2
	dir := t.TempDir()
	svc, err := contextmem.Open(t.Context(), dir, &contextmem.Options{MaxOpenTenants: open, Workers: 2, CacheBytes: 1 << 16})
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	for i := range tenants {
		servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: fmt.Sprint("t", i), Embeddings: i%3 == 0, Dimension: 4 * (1 - min(i%3, 1))})
	}
	use := func(ctx context.Context, user, i int) error {
		s := svc.Tenant(fmt.Sprint("t", i)).Sub("s")
		id := fmt.Sprint("u", user)
		if i%3 == 0 {
			_, err := s.InsertVectors(ctx, contextmem.InsertVectorsRequest{Upsert: true, Sources: []contextmem.VectorSource{{SourceID: id,
				Vectors: []contextmem.Vector{{ChunkID: id, Vector: []float32{1, float32(user), 0, float32(i)}}}}}})
			if err != nil {
				return err
			}
			hits, err := s.SearchVectors(ctx, contextmem.SearchVectorsRequest{Vector: []float32{1, float32(user), 0, float32(i)}, Limit: users})
			if err == nil && (len(hits) == 0 || hits[0].SourceID != id) {
				err = fmt.Errorf("tenant %d: what user %d stored is not found", i, user)
			}
			return err
		}
		_, err := s.AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: id, Text: fmt.Sprintf("User %d of tenant %d likes tea.", user, i)}}})
		if err != nil {
			return err
		}
		_, err = s.Recall(ctx, contextmem.Recall{Class: contextmem.ClassMemory, Query: "who likes tea?"})
		return err
	}
	strides := [users]int{1, 5, 7, 11} // each user comes to every tenant, in an order of its own
	var wg sync.WaitGroup
	for user := range users {
		wg.Go(func() {
			for i := range tenants {
				if err := use(t.Context(), user, (i*strides[user]+user)%tenants); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, svc.Drain(t.Context()))
	for i := range tenants {
		if i%3 == 0 {
			continue
		}
		s := svc.Tenant(fmt.Sprint("t", i)).Sub("s")
		for user := range users {
			id := fmt.Sprint("u", user)
			servicetest.Done(t, s, id)
			res, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "who likes tea?", IDs: []string{id}})
			require.NoError(t, err)
			require.Len(t, res.Chunks, 1, "tenant %d, item %s", i, id)
		}
	}
	const ofDeployment, ofTenant = 8, 8
	require.EventuallyWithT(t, func(c *assert.CollectT) { assert.LessOrEqual(c, filesUnder(dir), ofDeployment+open*ofTenant) }, time.Minute, 10*time.Millisecond,
		"once background work is done with the tenants")
}

// countingBackend is a backend that ignores Close and counts the workspaces that services open.
type countingBackend struct {
	backend.Backend
	mu     sync.Mutex
	opened map[string]int
}

func (c *countingBackend) OpenWorkspace(ctx context.Context, uid string) (backend.Workspace, error) {
	c.mu.Lock()
	c.opened[uid]++
	c.mu.Unlock()
	return c.Backend.OpenWorkspace(ctx, uid)
}

func (c *countingBackend) Close() error { return nil }

// TestStartOpensTenantsWithWork checks that a start after a crash finds waiting items without opening tenants that have
// none.
func TestStartOpensTenantsWithWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		be := &countingBackend{Backend: inmem.New(), opened: map[string]int{}}
		plan := backendtest.NewPlan()
		svc, err := contextmem.New(t.Context(), backendtest.Faulty(be, plan), nil)
		require.NoError(t, err)
		const n = 30
		for i := range n {
			s := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: fmt.Sprint("t", i)}).Sub("s")
			servicetest.Remember(t, s, contextmem.Memory{ID: "m", Text: "The kettle is green."})
		}
		time.Sleep(time.Minute) // drained tenants are noted as such
		plan.Add(backendtest.Fault{Method: "Store.Index", Err: backend.ErrUnavailable})
		_, err = svc.Tenant("t7").Sub("s").AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "waits", Text: "The kettle is blue."}}})
		require.NoError(t, err)
		require.NoError(t, svc.Close())

		clear(be.opened)
		svc, err = contextmem.New(t.Context(), be, nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, svc.Close()) }()
		require.NoError(t, svc.Drain(t.Context()))
		require.Len(t, be.opened, 1)
		servicetest.Done(t, svc.Tenant("t7").Sub("s"), "waits")
	})
}
