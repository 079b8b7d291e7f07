//go:build cgo

package durability_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// TestDeletedSpaceIsReclaimed checks that background maintenance reclaims the space of deleted items, without a
// restart.
func TestDeletedSpaceIsReclaimed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "d")
		svc, err := contextmem.Open(t.Context(), dir, nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, svc.Close()) }() // of the last one
		acme := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
		info, err := acme.Info(t.Context())
		require.NoError(t, err)
		var ms []contextmem.Memory
		for n := range 60 {
			ms = append(ms, contextmem.Memory{ID: fmt.Sprint(n), Text: strings.Repeat(fmt.Sprintf("Box %d is in the cellar. ", n), 600)})
		}
		servicetest.Remember(t, acme.Sub("a"), ms...)
		servicetest.Remember(t, acme.Sub("b"), contextmem.Memory{ID: "m", Text: "The kettle is on the shelf."})
		size := func() int64 {
			info, err := os.Stat(filepath.Join(dir, "tenants", info.UID[:2], info.UID, "store.db"))
			require.NoError(t, err)
			return info.Size()
		}
		require.NoError(t, svc.Close()) // which moves the log into the file
		before := size()
		svc, err = contextmem.Open(t.Context(), dir, nil)
		require.NoError(t, err)
		acme = svc.Tenant("acme")
		require.NoError(t, acme.Sub("a").Delete(t.Context()))
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Less(t, size(), before/2)
		require.True(t, servicetest.RecallReturns(t, acme.Sub("b"), "where is the kettle?", "The kettle is on the shelf."))
	})
}

// TestSpaceBetweenItemsIsReclaimed checks that it also reclaims the space of deleted items that lie between others,
// where no page of the file becomes free.
func TestSpaceBetweenItemsIsReclaimed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "d")
		svc, err := contextmem.Open(t.Context(), dir, nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, svc.Close()) }() // of the last one
		acme := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
		info, err := acme.Info(t.Context())
		require.NoError(t, err)
		var ms []contextmem.Memory
		var gone []string
		for n := range 1500 {
			ms = append(ms, contextmem.Memory{ID: fmt.Sprint(n), Text: fmt.Sprintf("Box %d is in the cellar, and key %d in the drawer.", n, n)})
			if n%2 == 0 {
				gone = append(gone, fmt.Sprint(n))
			}
		}
		sub := acme.Sub("a")
		servicetest.Remember(t, sub, ms...)
		size := func() int64 {
			info, err := os.Stat(filepath.Join(dir, "tenants", info.UID[:2], info.UID, "store.db"))
			require.NoError(t, err)
			return info.Size()
		}
		require.NoError(t, svc.Close()) // which moves the log into the file
		before := size()
		svc, err = contextmem.Open(t.Context(), dir, nil)
		require.NoError(t, err)
		sub = svc.Tenant("acme").Sub("a")
		for len(gone) > 0 {
			n := min(100, len(gone))
			_, err = sub.DeleteItems(t.Context(), contextmem.DeleteItemsRequest{Class: contextmem.ClassMemory, IDs: gone[:n]})
			require.NoError(t, err)
			gone = gone[n:]
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Less(t, 20*size(), 13*before)
		require.True(t, servicetest.RecallReturns(t, sub, "where is box 501?", "Box 501 is in the cellar, and key 501 in the drawer."))
	})
}
