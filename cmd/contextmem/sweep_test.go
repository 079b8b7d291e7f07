package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/backend/local"
)

// TestIndexesOfDeletedTenantsGo checks that the index files of a tenant that another process has removed are deleted,
// and that those of other tenants, and of one that is being removed, stay.
func TestIndexesOfDeletedTenantsGo(t *testing.T) {
	dir, reg := t.TempDir(), inmem.New().Registry()
	x, err := local.Open(dir, nil)
	require.NoError(t, err)
	defer x.Close()
	there, gone := strings.Repeat("a", 32), strings.Repeat("b", 32)
	require.NoError(t, reg.CreateTenant(t.Context(), backend.Tenant{UID: there, ID: "x", State: backend.TenantReady}, 0))
	file := func(uid string) string { return filepath.Join(dir, "tenants", uid[:2], uid, "index", "MANIFEST") }
	for _, uid := range []string{there, gone} {
		require.NoError(t, os.MkdirAll(filepath.Dir(file(uid)), 0o700))
		require.NoError(t, os.WriteFile(file(uid), []byte("x"), 0o600))
	}
	ctx, end := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { sweepIndexes(ctx, dir, reg, x, nil) })
	defer wg.Wait()
	defer end()
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Dir(filepath.Dir(file(gone))))
		return os.IsNotExist(err)
	}, time.Minute, time.Millisecond)
	_, err = os.Stat(file(there))
	require.NoError(t, err)
}
