package ingest_test

import (
	"context"
	"fmt"
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
	"github.com/contextmem/contextmem/embed/static"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// openTogether is stores in memory that several processes have open at once.
type openTogether struct {
	*inmem.Backend
	mu     sync.Mutex
	stores map[string]backend.Store
}

func (o *openTogether) OpenStore(ctx context.Context, uid string) (backend.Store, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s := o.stores[uid]; s != nil {
		return s, nil
	}
	s, err := o.Backend.OpenStore(ctx, uid)
	if err != nil {
		return nil, err
	}
	o.stores[uid] = staysOpen{s, s.(backend.ClaimEnder)}
	return o.stores[uid], nil
}

// Close does nothing: the others go on.
func (o *openTogether) Close() error { return nil }

// process returns the backend as one process has it, with indexes of its own.
func (o *openTogether) process() backend.Backend {
	return servicetest.UsedByOthers{Backend: backend.Compose(o, inmem.New())}
}

type staysOpen struct {
	backend.Store
	backend.ClaimEnder
}

func (staysOpen) Close() error { return nil }

// kettles returns n memories.
func kettles(n int) (ms []contextmem.Memory) {
	for i := range n {
		ms = append(ms, contextmem.Memory{ID: fmt.Sprint("m", i), Text: fmt.Sprintf("Kettle %d is on the shelf.", i)})
	}
	return ms
}

// attempts returns how often each memory was claimed.
func attempts(t *testing.T, be backend.Stores, uid string, ms []contextmem.Memory) (out []int) {
	t.Helper()
	st, err := be.OpenStore(t.Context(), uid)
	require.NoError(t, err)
	for i := range ms {
		src, err := st.Sources(t.Context(), backend.Partition{Class: backend.Memory, Sub: "a"}, []string{ms[i].ID})
		require.NoError(t, err)
		require.Len(t, src, 1)
		out = append(out, src[0].Attempts)
	}
	return out
}

// completedIn waits until memories are completed and returns how long that took.
func completedIn(t *testing.T, sub contextmem.Sub, ms []contextmem.Memory) time.Duration {
	t.Helper()
	began := time.Now()
	for i := range ms {
		for {
			st, err := sub.Status(t.Context(), ms[i].ID)
			require.NoError(t, err)
			require.NotEqual(t, contextmem.StatusErrored, st[0].Status)
			if st[0].Status == contextmem.StatusCompleted {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	return time.Since(began)
}

// TestItemsOfAProcessThatIsGone checks that another process completes what one was working on within seconds after it went silent, not after the leases of
// its claims, and leaves the work of one that lives alone. When the silent one goes on, nothing is done twice.
func TestItemsOfAProcessThatIsGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		be, plan := &openTogether{Backend: inmem.New(), stores: map[string]backend.Store{}}, backendtest.NewPlan()
		slow, hold := servicetest.NewGate(), make(chan struct{})
		slow.Set(hold, nil)
		first, err := contextmem.New(ctx, backendtest.Faulty(be.process(), plan), &contextmem.Options{Embedder: slow})
		require.NoError(t, err)
		defer func() { require.NoError(t, first.Close()) }()
		other, err := contextmem.New(ctx, be.process(), &contextmem.Options{Embedder: static.New()})
		require.NoError(t, err)
		defer func() { require.NoError(t, other.Close()) }()
		third, err := contextmem.New(ctx, be.process(), &contextmem.Options{Embedder: static.New()})
		require.NoError(t, err)
		servicetest.Remember(t, servicetest.Tenant(t, third, contextmem.TenantSpec{ID: "another"}).Sub("a"), kettles(1)...)
		acme := servicetest.Tenant(t, first, contextmem.TenantSpec{ID: "acme"})
		info, err := acme.Info(ctx)
		require.NoError(t, err)
		ms := kettles(3)
		_, err = acme.Sub("a").AddMemories(ctx, contextmem.MemoryBatch{Memories: ms})
		require.NoError(t, err)
		time.Sleep(time.Minute)
		require.NoError(t, third.Close())
		time.Sleep(4 * time.Minute)
		require.Equal(t, []int{1, 1, 1}, attempts(t, be, info.UID, ms), "the first works on them")

		for _, m := range []string{"Registry.Record", "Registry.Records", "Registry.WriteRecords", "Registry.TenantByUID", "Store.Renew"} {
			plan.Add(backendtest.Fault{Method: m, Block: true})
		}
		sub := other.Tenant("acme").Sub("a")
		assert.Less(t, completedIn(t, sub, ms), 20*time.Second)
		require.Equal(t, []int{2, 2, 2}, attempts(t, be, info.UID, ms))

		plan.Clear()
		plan.Release()
		close(hold) // the first goes on with its step
		time.Sleep(5 * time.Minute)
		require.Equal(t, []int{2, 2, 2}, attempts(t, be, info.UID, ms))
		require.Less(t, completedIn(t, sub, ms), time.Second)
		for _, s := range []contextmem.Sub{sub, first.Tenant("acme").Sub("a")} {
			require.ElementsMatch(t, []string{"m0", "m1", "m2"}, servicetest.RecallIDs(t, s, contextmem.Recall{Query: "where are the kettles?"}))
		}
	})
}

// TestItemsOfAStepWithoutStore checks that a process goes on with items whose step the store did not answer as soon as it answers again.
func TestItemsOfAStepWithoutStore(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"Store.Index", "Store.Finish", "Store.Claim"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				plan := backendtest.NewPlan()
				svc, err := contextmem.New(ctx, backendtest.Faulty(inmem.New(), plan), nil)
				require.NoError(t, err)
				defer func() { require.NoError(t, svc.Close()) }()
				sub := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("a")
				plan.Add(backendtest.Fault{Method: method, After: method == "Store.Claim", Err: servicetest.ErrDown}, backendtest.Fault{Method: "Store.Defer", Err: servicetest.ErrDown},
					backendtest.Fault{Method: "Store.Claimants", Err: servicetest.ErrDown})
				ms := kettles(3)
				_, err = sub.AddMemories(ctx, contextmem.MemoryBatch{Memories: ms})
				require.NoError(t, err)
				time.Sleep(5 * time.Second)
				plan.Clear()
				assert.Less(t, completedIn(t, sub, ms), 10*time.Second)
			})
		})
	}
}
