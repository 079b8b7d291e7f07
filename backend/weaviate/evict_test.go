package weaviate

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/backend/local"
	"github.com/contextmem/contextmem/embed/static"
	rules "github.com/contextmem/contextmem/judge"
)

// TestEvictedTenantsAreInactive checks that tenants which the service evicts become inactive in the cluster, and answer
// the next query.
func TestEvictedTenantsAreInactive(t *testing.T) {
	t.Parallel()
	urls, prefix := sharedServer(t).URLs(), prefixOf(t.Name())
	rest, err := local.Open(t.TempDir(), nil)
	require.NoError(t, err)
	far, err := Open(t.Context(), urls, rest, &Options{Prefix: prefix})
	require.NoError(t, err)
	svc, err := contextmem.New(t.Context(), backend.Compose(inmem.New(), far), &contextmem.Options{Embedder: static.New(), Judge: rules.None, Reranker: contextmem.NoReranker, MaxOpenTenants: 1})
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	ctx := t.Context()
	const tenants = 4
	for i := range tenants {
		id := fmt.Sprint("t", i)
		_, err := svc.CreateTenant(ctx, contextmem.TenantSpec{ID: id})
		require.NoError(t, err)
		require.NoError(t, svc.Tenant(id).WaitReady(ctx))
		_, err = svc.Tenant(id).Sub("a").AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "m", Text: fmt.Sprintf("The kettle of tenant %d is on the shelf.", i)}}})
		require.NoError(t, err)
		require.NoError(t, svc.Drain(ctx))
	}
	active := func() (n int) {
		found, err := far.cluster.nodes[0].Schema().TenantsGetter().WithClassName(far.schema.chunks()).Do(ctx)
		require.NoError(t, err)
		require.Len(t, found, tenants)
		for _, tenant := range found {
			if tenant.ActivityStatus == "HOT" {
				n++
			}
		}
		return n
	}
	require.Eventually(t, func() bool { return active() <= 1 }, slowly, 20*time.Millisecond)
	for i := range tenants {
		r, err := svc.Tenant(fmt.Sprint("t", i)).Sub("a").Recall(ctx, contextmem.Recall{Class: contextmem.ClassMemory, Query: "where is the kettle?"})
		require.NoError(t, err)
		require.Len(t, r.Chunks, 1)
		assert.Contains(t, r.Chunks[0].Text, fmt.Sprint("tenant ", i))
	}
	require.Eventually(t, func() bool { return active() <= 1 }, slowly, 20*time.Millisecond)
}
