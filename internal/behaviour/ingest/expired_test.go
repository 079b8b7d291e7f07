package ingest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// TestFailIfExistsAfterExpiry checks that an id counts as existing as long as Status knows it, and that an expired
// item's id is free whether or not the item has been removed yet.
func TestFailIfExistsAfterExpiry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		svc, err := contextmem.New(t.Context(), inmem.New(), nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, svc.Close()) }()
		sub := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("a")
		add := func() error {
			res, err := sub.AddMemories(t.Context(), contextmem.MemoryBatch{FailIfExists: true, Memories: []contextmem.Memory{{ID: "m", Text: "The kettle is on the shelf.", TTL: time.Hour}}})
			require.NoError(t, err)
			return res.Items[0].Err
		}
		require.NoError(t, add())
		servicetest.Done(t, sub, "m")
		require.ErrorIs(t, add(), contextmem.ErrExists)
		time.Sleep(time.Hour) // the moment itself: nobody has removed it yet
		st, err := sub.Status(t.Context(), "m")
		require.NoError(t, err)
		require.True(t, st[0].Unknown)
		require.NoError(t, add())
		servicetest.Done(t, sub, "m")
		require.ErrorIs(t, add(), contextmem.ErrExists)
	})
}
