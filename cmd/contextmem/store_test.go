package main

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/client"
	"github.com/contextmem/contextmem/internal/testtool"
)

// TestServeStore checks that two servers over one database serve the same memories, and are notified of each other's
// changes through --store-listen.
func TestServeStore(t *testing.T) {
	t.Parallel()
	withCgo(t)
	for _, args := range [][]string{{"--store", "mysql://secret@x/y"}, {"--store-listen", "postgres://secret@x/y"}, {"--store", "postgres://u@127.0.0.1:1/x", "--store-listen", "nowhere"}} {
		c := inProcess(t, t.TempDir(), "", append([]string{"serve", "--api-keys", "k", "--addr", "127.0.0.1:0"}, args...)...)
		require.NotZero(t, c.code)
		require.NotContains(t, c.err, "secret@")
	}
	pg, err := testtool.StartPostgres(false)
	if errors.Is(err, testtool.ErrNoPostgres) {
		testtool.Missing(t, err.Error())
	}
	require.NoError(t, err)
	t.Cleanup(pg.Stop)
	require.NoError(t, pg.CreateDatabase("memory", ""))
	var subs []client.Sub
	for range 2 {
		address, _ := serving(t, t.TempDir(), "--api-keys", "secret", "--store", pg.URL("memory"), "--store-listen", pg.URL("memory"))
		c, err := client.New(address, "secret", nil)
		require.NoError(t, err)
		if len(subs) == 0 {
			require.NoError(t, c.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "acme"}))
		}
		require.NoError(t, c.Tenant("acme").WaitReady(t.Context()))
		subs = append(subs, c.Tenant("acme").Sub("alice"))
	}
	_, err = subs[0].AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "m", Text: "Alice takes her coffee black."}}})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		r, err := subs[1].Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "how does Alice drink coffee?"})
		return err == nil && len(r.Chunks) == 1
	}, time.Minute, 20*time.Millisecond)
}
