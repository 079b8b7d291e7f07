//go:build cgo

package durability_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// openRestored restores a backup and opens it.
func openRestored(t *testing.T, backup string, o *contextmem.Options) (*contextmem.Service, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "restored")
	require.NoError(t, contextmem.Restore(t.Context(), backup, dir))
	svc, err := contextmem.Open(t.Context(), dir, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, svc.Close()) })
	return svc, dir
}

// TestBackupBesideWriters checks a backup that is written while writers run. It has every item acknowledged before the
// call, none deleted before it, and for each writer a prefix of the items added meanwhile.
func TestBackupBesideWriters(t *testing.T) {
	t.Parallel()
	const tenants, before = 3, 20
	r := &servicetest.Receiver{Got: make(chan servicetest.Delivery, 10_000)}
	svc, err := contextmem.Open(t.Context(), filepath.Join(t.TempDir(), "d"), &contextmem.Options{WebhookTransport: r})
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	_, err = svc.SetWebhook(t.Context(), contextmem.WebhookSpec{URL: "https://hooks.example.com", GenerateSecret: true})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	add := func(ctx context.Context, sub contextmem.Sub, n int) error {
		res, err := sub.AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: fmt.Sprint("m", n), Text: fmt.Sprintf("Box %d holds the parcel %d.", n, n)}}})
		if err == nil && res.Failed > 0 {
			err = fmt.Errorf("%d failed", res.Failed)
		}
		return err
	}
	var writers sync.WaitGroup
	defer writers.Wait()
	defer stop()
	for i := range tenants {
		sub := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: fmt.Sprint("t", i)}).Sub("a")
		for n := range before {
			require.NoError(t, add(t.Context(), sub, n))
		}
		_, err := sub.DeleteItems(t.Context(), contextmem.DeleteItemsRequest{Class: contextmem.ClassMemory, IDs: []string{"m3"}})
		require.NoError(t, err)
	}
	doomed := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "doomed"})
	require.NoError(t, doomed.Delete(t.Context()))
	for i := range tenants {
		writers.Go(func() {
			sub := svc.Tenant(fmt.Sprint("t", i)).Sub("a")
			for n := before; ctx.Err() == nil; n++ {
				if err := add(ctx, sub, n); err != nil {
					assert.Error(t, ctx.Err())
					return
				}
			}
		})
	}
	backup := filepath.Join(t.TempDir(), "backup")
	for range 3 {
		report, err := svc.Backup(t.Context(), backup)
		require.NoError(t, err)
		require.Equal(t, tenants, report.Copied+report.Kept)
		require.Positive(t, report.Bytes)
	}
	stop()
	writers.Wait()

	back := &servicetest.Receiver{Got: make(chan servicetest.Delivery, 10_000)}
	again, dir := openRestored(t, backup, &contextmem.Options{WebhookTransport: back})
	w, err := again.Webhook(t.Context())
	require.NoError(t, err)
	require.True(t, w.SecretConfigured, "the key came along")
	require.NoError(t, again.Drain(t.Context()))
	_, err = again.Tenant("doomed").Info(t.Context())
	require.ErrorIs(t, err, contextmem.ErrNotFound)
	for i := range tenants {
		sub := again.Tenant(fmt.Sprint("t", i)).Sub("a")
		last := before - 1
		for n := range 100_000 {
			st, err := sub.Status(t.Context(), fmt.Sprint("m", n))
			require.NoError(t, err)
			there := st[0].Status == contextmem.StatusCompleted
			switch {
			case n == 3:
				require.False(t, there, "deleted")
			case n < before:
				require.True(t, there, "m%d was acknowledged before", n)
			case there:
				last = n
			}
			if n != 3 && !there {
				break
			}
		}
		require.GreaterOrEqual(t, last, before-1)
		require.True(t, servicetest.RecallReturns(t, sub, "where is parcel 7?", "Box 7 holds the parcel 7."))
		servicetest.Remember(t, sub, contextmem.Memory{ID: "new", Text: "The kettle is on the shelf."})
		require.True(t, servicetest.RecallReturns(t, sub, "where is the kettle?", "The kettle is on the shelf."))
	}
	require.NoError(t, again.Drain(t.Context()))
	require.FileExists(t, filepath.Join(dir, "secret.key"))
	// Whatever waits to be delivered is: an event of each new item among them, with an id of its own.
	seen := map[string]bool{}
	for len(r.Got) > 0 {
		var p contextmem.WebhookPayload
		require.NoError(t, json.Unmarshal((<-r.Got).Body, &p))
		seen[p.DeliveryID] = true
	}
	for fresh := 0; fresh < tenants; {
		var p contextmem.WebhookPayload
		require.NoError(t, json.Unmarshal((<-back.Got).Body, &p))
		if p.ID == "new" {
			require.False(t, seen[p.DeliveryID])
			fresh++
		}
	}
}

func TestBackupIsIncremental(t *testing.T) {
	t.Parallel()
	dir, backup := filepath.Join(t.TempDir(), "d"), filepath.Join(t.TempDir(), "backup")
	svc, err := contextmem.Open(t.Context(), dir, nil)
	require.NoError(t, err)
	for _, id := range []string{"one", "two"} {
		servicetest.Remember(t, servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: id}).Sub("a"), contextmem.Memory{ID: "m", Text: "The kettle is on the shelf."})
	}
	settle := func() { // memories are compared with each other after they are completed
		t.Helper()
		for _, id := range []string{"one", "two"} {
			require.NoError(t, svc.Tenant(id).WaitRefined(t.Context()))
		}
	}
	settle()
	run := func(copied, kept int) {
		t.Helper()
		r, err := svc.Backup(t.Context(), backup)
		require.NoError(t, err)
		require.Equal(t, [2]int{copied, kept}, [2]int{r.Copied, r.Kept})
		files, err := os.ReadDir(filepath.Join(backup, "files"))
		require.NoError(t, err)
		require.Len(t, files, 4, "registry, two tenants, key")
	}
	run(2, 0)
	run(0, 2)
	servicetest.Remember(t, svc.Tenant("two").Sub("a"), contextmem.Memory{ID: "m", Text: "The kettle is in the sink."})
	settle()
	run(1, 1)
	require.NoError(t, svc.Close())
	svc, err = contextmem.Open(t.Context(), dir, nil)
	require.NoError(t, err)
	run(2, 0) // whether a closed store was written to after its copy is not known; then it is
	run(0, 2)
	require.NoError(t, svc.Tenant("one").Delete(t.Context()))
	r, err := svc.Backup(t.Context(), backup)
	require.NoError(t, err)
	require.Equal(t, 1, r.Kept)
	require.NoError(t, svc.Close())
	again, _ := openRestored(t, backup, nil)
	require.True(t, servicetest.RecallReturns(t, again.Tenant("two").Sub("a"), "where is the kettle?", "The kettle is in the sink."))
	_, err = again.Tenant("one").Info(t.Context())
	require.ErrorIs(t, err, contextmem.ErrNotFound)
}

func TestBackupRefusals(t *testing.T) {
	t.Parallel()
	dir, backup := filepath.Join(t.TempDir(), "d"), filepath.Join(t.TempDir(), "backup")
	svc, err := contextmem.Open(t.Context(), dir, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	servicetest.Remember(t, servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("a"), contextmem.Memory{ID: "m", Text: "The kettle is on the shelf."})
	_, err = svc.Backup(t.Context(), dir)
	require.ErrorIs(t, err, contextmem.ErrExists, "that is the deployment")
	require.NoDirExists(t, filepath.Join(dir, "files"))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = svc.Backup(gone, backup)
	require.ErrorIs(t, err, context.Canceled)
	require.Error(t, contextmem.Restore(t.Context(), backup, filepath.Join(t.TempDir(), "x")), "nothing is there yet")
	_, err = svc.Backup(t.Context(), backup)
	require.NoError(t, err)
	_, err = svc.Backup(gone, backup)
	require.ErrorIs(t, err, context.Canceled)
	again, used := openRestored(t, backup, nil)
	require.True(t, servicetest.RecallReturns(t, again.Tenant("acme").Sub("a"), "where is the kettle?", "The kettle is on the shelf."), "the earlier backup stayed")
	require.ErrorIs(t, contextmem.Restore(t.Context(), backup, used), contextmem.ErrExists)

	files, err := filepath.Glob(filepath.Join(backup, "files", "*"))
	require.NoError(t, err)
	for _, f := range files {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		flipped := bytes.Clone(b)
		flipped[len(b)/2] ^= 1
		require.NoError(t, os.WriteFile(f, flipped, 0o600))
		into := filepath.Join(t.TempDir(), "into")
		require.ErrorContains(t, contextmem.Restore(t.Context(), backup, into), "damaged", f)
		left, err := os.ReadDir(into)
		require.NoError(t, err)
		require.Empty(t, left)
		require.NoError(t, os.WriteFile(f, b, 0o600))
	}
	require.NoError(t, contextmem.Restore(t.Context(), backup, filepath.Join(t.TempDir(), "into")))
}

// TestBackupOfADamagedTenant checks that a tenant that cannot be read does not prevent the backup of others, and that
// its earlier copy stays.
func TestBackupOfADamagedTenant(t *testing.T) {
	t.Parallel()
	dir, uid := servicetest.ClosedDeployment(t)
	backup := filepath.Join(t.TempDir(), "backup")
	open := func() *contextmem.Service {
		svc, err := contextmem.Open(t.Context(), dir, nil)
		require.NoError(t, err)
		return svc
	}
	svc := open()
	_, err := svc.Backup(t.Context(), backup)
	require.NoError(t, err)
	require.NoError(t, svc.Close())
	for _, f := range servicetest.StoreFiles(t, dir, uid) {
		require.NoError(t, os.WriteFile(f, []byte(strings.Repeat("junk", 4096)), 0o600))
	}
	svc = open()
	r, err := svc.Backup(t.Context(), backup)
	require.Error(t, err)
	require.Equal(t, []string{uid}, r.Failed)
	require.Equal(t, 1, r.Copied+r.Kept)
	require.NoError(t, svc.Close())
	again, _ := openRestored(t, backup, nil)
	for _, id := range []string{"acme", "other"} {
		t.Run(id, func(t *testing.T) {
			res, err := again.Tenant(id).Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "kettle"})
			require.NoError(t, err)
			require.Len(t, res.Chunks, 1)
		})
	}
}
