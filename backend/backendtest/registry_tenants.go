package backendtest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// registryEnv holds the registry under test.
type registryEnv struct {
	backend.Registry
	h      StoresHarness
	dir    string
	stores backend.Stores
}

func openRegistry(t *testing.T, h StoresHarness) *registryEnv {
	e := &registryEnv{h: h, dir: t.TempDir()}
	e.open(t)
	return e
}

func (e *registryEnv) open(t *testing.T) {
	e.stores = e.h.Open(t, e.dir)
	closeAtEnd(t, e.stores)
	e.Registry = e.stores.Registry()
}

func (e *registryEnv) reopen(t *testing.T) {
	t.Helper()
	require.NoError(t, e.stores.Close())
	e.open(t)
}

func runRegistry(t *testing.T, h StoresHarness) {
	run(t, func(t *testing.T) *registryEnv { return openRegistry(t, h) }, []namedTest[*registryEnv]{
		{"CreateTenant", testCreateTenant},
		{"FailedTenantIsReplaced", testFailedTenant},
		{"TenantLimit", testTenantLimit},
		{"UpdateTenant", testUpdateTenant},
		{"RenameTenant", testRenameTenant},
		{"DeletingTenant", testDeletingTenant},
		{"TenantPages", testTenantPages},
		{"Wake", testWake},
		{"RecordRevisions", testRecordRevisions},
		{"RecordBatch", testRecordBatch},
		{"RecordPages", testRecordPages},
		{"AddDeliveries", testAddDeliveries},
		{"ClaimDeliveries", testClaimDeliveries},
		{"EraseDeliveries", testEraseDeliveries},
		{"ClaimShares", testClaimShares},
		{"FinishDelivery", testFinishDelivery},
		{"RequeueDelivery", testRequeueDelivery},
		{"DeliveryPages", testDeliveryPages},
		{"PruneDeliveries", testPruneDeliveries},
		{"Hostile", testRegistryHostile},
		{"Copies", testRegistryCopies},
		{"Reopen", testRegistryReopen},
		{"Cancelled", testRegistryCancelled},
		{"Closed", testRegistryClosed},
		{"Concurrent", testRegistryConcurrent},
	})
}

func tenant(id string) backend.Tenant {
	return backend.Tenant{Org: "org", ID: id, UID: UID(id), State: backend.TenantReady, CreatedAt: at(0), Data: []byte("data of " + id)}
}

func testCreateTenant(t *testing.T, e *registryEnv) {
	ctx := t.Context()
	in := tenant("a")
	in.State, in.Error = backend.TenantProvisioning, "not yet"
	require.NoError(t, e.CreateTenant(ctx, in, 0))
	got, err := e.Tenant(ctx, "org", "a")
	require.NoError(t, err)
	want := in
	want.Rev = got.Rev
	require.Equal(t, want, got)
	byUID, err := e.TenantByUID(ctx, in.UID)
	require.NoError(t, err)
	require.Equal(t, got, byUID)

	again := tenant("a")
	again.UID = UID("another")
	require.ErrorIs(t, e.CreateTenant(ctx, again, 0), backend.ErrExists, "provisioning holds the name")
	again.Org = "org2"
	require.NoError(t, e.CreateTenant(ctx, again, 0), "another organisation has names of its own")
	reused := tenant("b")
	reused.UID = in.UID
	require.ErrorIs(t, e.CreateTenant(ctx, reused, 0), backend.ErrExists, "a UID is used once")
	_, err = e.Tenant(ctx, "org", "b")
	require.ErrorIs(t, err, backend.ErrNotFound)
	_, err = e.Tenant(ctx, "org3", "a")
	require.ErrorIs(t, err, backend.ErrNotFound)
	_, err = e.TenantByUID(ctx, UID("nobody"))
	require.ErrorIs(t, err, backend.ErrNotFound)
}

func testFailedTenant(t *testing.T, e *registryEnv) {
	ctx := t.Context()
	failed := tenant("a")
	failed.State, failed.Error = backend.TenantFailed, "disk full"
	require.NoError(t, e.CreateTenant(ctx, failed, 0))
	next := tenant("a")
	next.UID = UID("second try")
	require.NoError(t, e.CreateTenant(ctx, next, 0))
	got, err := e.Tenant(ctx, "org", "a")
	require.NoError(t, err)
	require.Equal(t, next.UID, got.UID)
	require.Equal(t, backend.TenantReady, got.State)
	require.Empty(t, got.Error)
	all, err := e.Tenants(ctx, "org", "", 10)
	require.NoError(t, err)
	require.Len(t, all, 1)
	old, err := e.TenantByUID(ctx, failed.UID)
	require.NoError(t, err)
	require.Equal(t, backend.TenantDeleting, old.State, "its workspace waits to be removed")
	doomed, err := e.DeletingTenants(ctx, 10)
	require.NoError(t, err)
	require.Len(t, doomed, 1)
	require.NoError(t, e.ForgetTenant(ctx, failed.UID))
	third := tenant("a")
	third.UID = UID("third try")
	require.ErrorIs(t, e.CreateTenant(ctx, third, 0), backend.ErrExists, "a ready one is not replaced")
}

// testTenantLimit creates tenants concurrently and checks that an organisation never exceeds its limit.
func testTenantLimit(t *testing.T, e *registryEnv) {
	ctx := t.Context()
	const limit, calls = 3, 8
	var wg sync.WaitGroup
	var full atomic.Int32
	for i := range calls {
		wg.Go(func() {
			in := tenant(fmt.Sprint("t", i))
			in.State = backend.TenantFailed
			if err := e.CreateTenant(ctx, in, limit); err != nil {
				assert.ErrorIs(t, err, backend.ErrFull)
				full.Add(1)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, calls-limit, full.Load())
	all, err := e.Tenants(ctx, "org", "", 10)
	require.NoError(t, err)
	require.Len(t, all, limit)
	foreign := tenant("x")
	foreign.Org = "org2"
	require.NoError(t, e.CreateTenant(ctx, foreign, limit), "another organisation has room of its own")
	again := tenant(all[0].ID)
	again.UID = UID("second try")
	require.NoError(t, e.CreateTenant(ctx, again, limit), "one that replaces a failed one adds none")
	third := tenant(all[0].ID)
	third.UID = UID("third try")
	require.ErrorIs(t, e.CreateTenant(ctx, third, limit), backend.ErrExists)
	require.ErrorIs(t, e.CreateTenant(ctx, tenant("y"), limit), backend.ErrFull)
	again.Rev = 1
	again.State = backend.TenantDeleting
	_, err = e.UpdateTenant(ctx, again)
	require.NoError(t, err)
	require.NoError(t, e.CreateTenant(ctx, tenant("y"), limit), "one that is being deleted leaves its place")
}

// testRenameTenant checks that renaming compares revisions, keeps ids unique, and survives a restart.
func testRenameTenant(t *testing.T, e *registryEnv) {
	if _, ok := e.Registry.(backend.TenantRenamer); !ok {
		return
	}
	ctx := t.Context()
	make := func(id string, n int) backend.Tenant {
		x := backend.Tenant{Org: "o", ID: id, UID: fmt.Sprintf("%032x", n), State: backend.TenantReady, CreatedAt: time.Unix(5, 0).UTC(), Data: []byte("{}")}
		require.NoError(t, e.CreateTenant(ctx, x, 0))
		x, err := e.Tenant(ctx, "o", id)
		require.NoError(t, err)
		return x
	}
	a, b := make("a", 1), make("b", 2)
	rename := func(x backend.Tenant, rev int64, id string) error {
		return e.Registry.(backend.TenantRenamer).RenameTenant(ctx, x.UID, rev, id)
	}
	require.ErrorIs(t, rename(a, a.Rev, "b"), backend.ErrExists)
	require.ErrorIs(t, rename(a, a.Rev+1, "c"), backend.ErrConflict)
	require.NoError(t, rename(a, a.Rev, "c"))
	require.ErrorIs(t, rename(a, a.Rev, "d"), backend.ErrConflict, "the revision rose")
	_, err := e.Tenant(ctx, "o", "a")
	require.ErrorIs(t, err, backend.ErrNotFound)
	a.State = backend.TenantDeleting
	_, err = e.UpdateTenant(ctx, a)
	require.ErrorIs(t, err, backend.ErrConflict, "who read it before the renaming")
	e.reopen(t)
	c, err := e.Tenant(ctx, "o", "c")
	require.NoError(t, err)
	require.Equal(t, a.UID, c.UID)
	require.Greater(t, c.Rev, a.Rev)
	make("a", 3) // its id is free
	b.State = backend.TenantDeleting
	_, err = e.UpdateTenant(ctx, b)
	require.NoError(t, err)
	require.NoError(t, rename(c, c.Rev, "b"), "so is that of one that is being deleted")
	require.ErrorIs(t, rename(b, b.Rev+1, "z"), backend.ErrConflict)
}

func testUpdateTenant(t *testing.T, e *registryEnv) {
	ctx := t.Context()
	require.NoError(t, e.CreateTenant(ctx, tenant("a"), 0))
	require.NoError(t, e.SetWake(ctx, UID("a"), at(5)))
	read, err := e.Tenant(ctx, "org", "a")
	require.NoError(t, err)

	change := read
	change.State, change.Error, change.Data = backend.TenantFailed, "why", []byte("new data")
	change.CreatedAt, change.Wake = at(99), at(99) // not stored by an update
	rev, err := e.UpdateTenant(ctx, change)
	require.NoError(t, err)
	require.Greater(t, rev, read.Rev)
	got, err := e.Tenant(ctx, "org", "a")
	require.NoError(t, err)
	want := read
	want.State, want.Error, want.Data, want.Rev = backend.TenantFailed, "why", []byte("new data"), rev
	require.Equal(t, want, got)

	change.Data = []byte("lost")
	_, err = e.UpdateTenant(ctx, change)
	require.ErrorIs(t, err, backend.ErrConflict, "an old revision")
	unchanged, err := e.Tenant(ctx, "org", "a")
	require.NoError(t, err)
	require.Equal(t, got, unchanged)
	missing := tenant("nobody")
	_, err = e.UpdateTenant(ctx, missing)
	require.ErrorIs(t, err, backend.ErrNotFound)
}

func testDeletingTenant(t *testing.T, e *registryEnv) {
	ctx := t.Context()
	require.NoError(t, e.CreateTenant(ctx, tenant("a"), 0))
	require.ErrorIs(t, e.ForgetTenant(ctx, UID("a")), backend.ErrConflict, "it is not deleting")
	old, err := e.Tenant(ctx, "org", "a")
	require.NoError(t, err)
	old.State = backend.TenantDeleting
	_, err = e.UpdateTenant(ctx, old)
	require.NoError(t, err)

	_, err = e.Tenant(ctx, "org", "a")
	require.ErrorIs(t, err, backend.ErrNotFound, "it has no name any more")
	all, err := e.Tenants(ctx, "org", "", 10)
	require.NoError(t, err)
	require.Empty(t, all)
	byUID, err := e.TenantByUID(ctx, UID("a"))
	require.NoError(t, err)
	require.Equal(t, backend.TenantDeleting, byUID.State)

	next := tenant("a")
	next.UID = UID("a again")
	require.NoError(t, e.CreateTenant(ctx, next, 0), "the id can be taken again")
	deleting, err := e.DeletingTenants(ctx, 10)
	require.NoError(t, err)
	require.Len(t, deleting, 1)
	require.Equal(t, UID("a"), deleting[0].UID)

	require.NoError(t, e.ForgetTenant(ctx, UID("a")))
	require.ErrorIs(t, e.ForgetTenant(ctx, UID("a")), backend.ErrNotFound)
	deleting, err = e.DeletingTenants(ctx, 10)
	require.NoError(t, err)
	require.Empty(t, deleting)
	got, err := e.Tenant(ctx, "org", "a")
	require.NoError(t, err)
	require.Equal(t, next.UID, got.UID, "the new one stays")
}

func testTenantPages(t *testing.T, e *registryEnv) {
	ctx := t.Context()
	for _, i := range []int{3, 0, 4, 1, 2} {
		require.NoError(t, e.CreateTenant(ctx, tenant(fmt.Sprint("t", i)), 0))
	}
	foreign := tenant("t00")
	foreign.Org = "org2"
	require.NoError(t, e.CreateTenant(ctx, foreign, 0))
	var got []string
	after := ""
	for {
		page, err := e.Tenants(ctx, "org", after, 2)
		require.NoError(t, err)
		require.LessOrEqual(t, len(page), 2)
		if len(page) == 0 {
			break
		}
		for _, p := range page {
			got = append(got, p.ID)
		}
		after = page[len(page)-1].ID
	}
	require.Equal(t, []string{"t0", "t1", "t2", "t3", "t4"}, got)
}

func testWake(t *testing.T, e *registryEnv) {
	ctx := t.Context()
	for _, id := range []string{"a", "b", "c", "d"} {
		require.NoError(t, e.CreateTenant(ctx, tenant(id), 0))
	}
	before, err := e.Tenant(ctx, "org", "a")
	require.NoError(t, err)
	require.True(t, before.Wake.IsZero())
	require.NoError(t, e.SetWake(ctx, UID("a"), at(30)))
	require.NoError(t, e.SetWake(ctx, UID("b"), at(10)))
	require.NoError(t, e.SetWake(ctx, UID("c"), at(20)))
	require.ErrorIs(t, e.SetWake(ctx, UID("nobody"), at(20)), backend.ErrNotFound)
	after, err := e.Tenant(ctx, "org", "a")
	require.NoError(t, err)
	require.Equal(t, before.Rev, after.Rev, "SetWake keeps the revision")
	require.Equal(t, at(30), after.Wake)

	awake := func(now time.Time, limit int) []string {
		ts, err := e.Awake(ctx, now, limit)
		require.NoError(t, err)
		ids := []string{}
		for _, t := range ts {
			ids = append(ids, t.ID)
		}
		return ids
	}
	assert.Empty(t, awake(at(9), 10))
	assert.Equal(t, []string{"b"}, awake(at(10), 10), "at its time")
	assert.Equal(t, []string{"b", "c", "a"}, awake(at(30), 10), "earliest first")
	assert.Equal(t, []string{"b", "c"}, awake(at(30), 2))
	require.NoError(t, e.SetWake(ctx, UID("b"), time.Time{}))
	assert.Equal(t, []string{"c", "a"}, awake(at(30), 10), "cleared")
	c, err := e.Tenant(ctx, "org", "c")
	require.NoError(t, err)
	c.State = backend.TenantDeleting
	_, err = e.UpdateTenant(ctx, c)
	require.NoError(t, err)
	assert.Equal(t, []string{"a"}, awake(at(30), 10), "a deleting one does not wake")
}
