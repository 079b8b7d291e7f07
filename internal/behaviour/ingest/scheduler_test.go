package ingest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// TestWakeTimeHeldDuringCommit checks that the wake time of a drained workspace is not cleared while a commit is
// running, however long it takes. A start after a crash must find what the commit stores.
func TestWakeTimeHeldDuringCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		be, plan := inmem.New(), backendtest.NewPlan()
		svc, err := contextmem.New(t.Context(), backendtest.Faulty(be, plan), nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, svc.Close()) }()
		acme := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
		awake := func() int {
			ts, err := be.Registry().Awake(t.Context(), time.Now(), 10)
			require.NoError(t, err)
			return len(ts)
		}
		add := func(id string) {
			_, err := acme.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: id, Text: "Alice takes her coffee black."}}})
			require.NoError(t, err)
		}
		time.Sleep(5 * time.Second) // between two settlings
		add("m1")
		servicetest.Done(t, acme.Sub(""), "m1")
		time.Sleep(10 * time.Second) // one settling has passed, too early to clear
		require.Equal(t, 1, awake())

		plan.Add(backendtest.Fault{Method: "Store.Accept", Call: 2, After: true, Block: true})
		committed := make(chan struct{})
		go func() {
			defer close(committed)
			add("m2")
		}()
		time.Sleep(time.Minute)
		require.Equal(t, 1, awake(), "an item is committed and the registry does not know")
		plan.Release()
		<-committed
		servicetest.Done(t, acme.Sub(""), "m2")
		time.Sleep(time.Minute)
		require.Zero(t, awake(), "a drained workspace is left alone")
	})
}
