package ingest_test

import (
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

// TestItemsAreCompletedSoonAfterAnOutage checks that items which were added while the store or an index did not answer are completed within seconds after it answers
// again, however long that took.
func TestItemsAreCompletedSoonAfterAnOutage(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"Keywords.Apply", "Store.Index", "Store.Finish", "Store.Claim"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, plan := t.Context(), backendtest.NewPlan()
				svc, err := contextmem.New(ctx, backendtest.Faulty(inmem.New(), plan), &contextmem.Options{Embedder: static.New()})
				require.NoError(t, err)
				defer func() { require.NoError(t, svc.Close()) }()
				sub := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("a")
				for _, outage := range []time.Duration{10 * time.Second, 45 * time.Second, 5 * time.Minute} {
					plan.Add(backendtest.Fault{Method: method, Err: backend.ErrUnavailable})
					ms := kettles(3)
					for i := range ms {
						ms[i].ID += outage.String()
					}
					_, err = sub.AddMemories(ctx, contextmem.MemoryBatch{Memories: ms})
					require.NoError(t, err)
					time.Sleep(outage)
					plan.Clear()
					assert.Less(t, completedIn(t, sub, ms), 8*time.Second, outage)
				}
			})
		})
	}
}
