package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/embed/static"
	"github.com/contextmem/contextmem/internal/servicetest"
)

func TestProvisioningThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := backendtest.NewPlan(backendtest.Fault{Method: "Backend.OpenWorkspace", Call: 1, Err: servicetest.ErrDown})
		svc, err := contextmem.New(t.Context(), backendtest.Faulty(inmem.New(), plan), nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, svc.Close()) }()
		_, err = svc.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "acme"})
		require.NoError(t, err)
		require.Error(t, svc.Tenant("acme").WaitReady(t.Context()))
		i, err := svc.Tenant("acme").Info(t.Context())
		require.NoError(t, err)
		require.Equal(t, contextmem.TenantFailed, i.State)
		require.NotEmpty(t, i.Error)
		_, err = svc.Tenant("acme").Recall(t.Context(), contextmem.Recall{Query: "x"})
		require.ErrorIs(t, err, contextmem.ErrNotReady)
		require.NoError(t, svc.Drain(t.Context()))
		require.Zero(t, plan.Calls("Backend.RemoveWorkspace"))
		servicetest.Remember(t, servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("a"), contextmem.Memory{ID: "m", Text: "The kettle is on the shelf."})
		synctest.Wait()
		require.Equal(t, 1, plan.Calls("Backend.RemoveWorkspace"), "what the failed attempt left is removed")
	})
}

// TestCloseDoesNotWaitForIndexes closes a service whose indexes take longer to be written than Close waits. That is no error, and
// the next opening finds everything.
func TestCloseDoesNotWaitForIndexes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		be := inmem.New()
		plan := backendtest.NewPlan()
		svc, err := contextmem.New(t.Context(), backendtest.Faulty(be, plan), nil)
		require.NoError(t, err)
		servicetest.Remember(t, servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("a"), contextmem.Memory{ID: "m", Text: "The kettle is on the shelf."})
		require.NoError(t, svc.Drain(t.Context()))
		plan.Add(backendtest.Fault{Method: "Index.Flush", Block: true})
		before, start := plan.Calls("Index.Flush"), time.Now()
		require.NoError(t, svc.Close())
		require.Greater(t, plan.Calls("Index.Flush"), before)
		require.Equal(t, 10*time.Second, time.Since(start))
		be, err = be.Reopen()
		require.NoError(t, err)
		svc, err = contextmem.New(t.Context(), be, nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, svc.Close()) }()
		require.Contains(t, servicetest.Find(t, svc.Tenant("acme").Sub("a"), "kettle"), "m")
	})
}

// TestTransientStorageFailures lets each method of a store fail once. Every item must still complete.
func TestTransientStorageFailures(t *testing.T) {
	for _, method := range []string{"Store.Claim", "Store.Index", "Store.Finish", "Store.Changes", "Index.Apply", "Store.Backlog", "Store.Expire", "Store.Events", "Registry.TenantByUID"} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				plan := backendtest.NewPlan()
				svc, err := contextmem.New(t.Context(), backendtest.Faulty(inmem.New(), plan), nil)
				require.NoError(t, err)
				defer func() { require.NoError(t, svc.Close()) }()
				s := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("a")
				require.NoError(t, svc.Drain(t.Context()))
				n := plan.Calls(method)
				plan.Add(backendtest.Fault{Method: method, Call: n + 1, Err: servicetest.ErrDown}, backendtest.Fault{Method: method, Call: n + 2, Err: servicetest.ErrDown})
				start := time.Now()
				res, err := s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "m", Text: "The kettle is on the shelf."}}})
				require.NoError(t, err)
				servicetest.Done(t, s, res.IDs()...)
				require.NoError(t, svc.Drain(t.Context()))
				require.Less(t, time.Since(start), 30*time.Second, "without waiting for a lease")
				require.Contains(t, servicetest.Find(t, s, "kettle"), "m")
			})
		})
	}
}

func TestAcceptThatFailsAcceptsNothing(t *testing.T) {
	t.Parallel()
	plan := backendtest.NewPlan()
	svc, err := contextmem.New(t.Context(), backendtest.Faulty(inmem.New(), plan), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, svc.Close()) })
	s := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("a")
	for _, method := range []string{"Store.Accept", "Registry.SetWake"} {
		t.Run(method, func(t *testing.T) {
			require.NoError(t, svc.Drain(t.Context()))
			plan.Add(backendtest.Fault{Method: method, Err: servicetest.ErrDown})
			_, err = s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "m", Text: "x"}}})
			if method == "Store.Accept" {
				require.ErrorIs(t, err, contextmem.ErrUnavailable)
				st, err := s.Status(t.Context(), "m")
				require.NoError(t, err)
				require.True(t, st[0].Unknown)
			}
			plan.Clear()
		})
	}
}

func TestDeleteTenantInUseAndCreateAgain(t *testing.T) {
	t.Parallel()
	g := servicetest.NewGate()
	svc, acme := servicetest.Open(t, &contextmem.Options{Embedder: g})
	s := acme.Sub("a")
	servicetest.Remember(t, s, contextmem.Memory{ID: "old", Text: "The kettle is on the shelf."})
	g.Set(make(chan struct{}), nil) // the worker hangs in the embedder until it is told to stop
	_, err := s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "held", Text: "The spoons are in the drawer."}}})
	require.NoError(t, err)
	before, err := acme.Info(t.Context())
	require.NoError(t, err)
	require.NoError(t, acme.Delete(t.Context()))
	require.ErrorIs(t, acme.Delete(t.Context()), contextmem.ErrNotFound)
	_, err = s.Recall(t.Context(), contextmem.Recall{Query: "kettle"})
	require.ErrorIs(t, err, contextmem.ErrNotFound)
	for x, err := range svc.Tenants(t.Context()) {
		require.NoError(t, err)
		require.NotEqual(t, "acme", x.ID)
	}
	servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
	after, err := acme.Info(t.Context())
	require.NoError(t, err)
	require.NotEqual(t, before.UID, after.UID)
	require.Empty(t, servicetest.Find(t, s, "kettle"))
	stats, err := acme.Stats(t.Context())
	require.NoError(t, err)
	require.Zero(t, stats.Memory.Sources)
}

func TestRemovalIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := backendtest.NewPlan(backendtest.Fault{Method: "Backend.RemoveWorkspace", Call: 1, Err: servicetest.ErrDown}, backendtest.Fault{Method: "Backend.RemoveWorkspace", Call: 2, Err: servicetest.ErrDown})
		be := inmem.New()
		svc, err := contextmem.New(t.Context(), backendtest.Faulty(be, plan), nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, svc.Close()) }()
		for _, id := range []string{"a", "b"} {
			require.NoError(t, servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: id}).Delete(t.Context()))
		}
		time.Sleep(time.Minute)
		ts, err := be.Registry().DeletingTenants(t.Context(), 10)
		require.NoError(t, err)
		require.Empty(t, ts)
		require.Less(t, plan.Calls("Backend.RemoveWorkspace"), 10)
	})
}

func TestDeleteSub(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	servicetest.Remember(t, acme.Sub("a"), contextmem.Memory{ID: "1", Text: "The kettle is on the shelf."})
	servicetest.Remember(t, acme.Sub("b"), contextmem.Memory{ID: "2", Text: "The kettle is in the cellar."})
	require.NoError(t, acme.Sub("a").Delete(t.Context()))
	require.ErrorIs(t, acme.Sub("a").Delete(t.Context()), contextmem.ErrNotFound)
	require.Empty(t, servicetest.Find(t, acme.Sub("a"), "kettle"))
	require.Contains(t, servicetest.Find(t, acme.Sub("b"), "kettle"), "2")
	subs, err := acme.Subs(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, subs)
	servicetest.Remember(t, acme.Sub("a"), contextmem.Memory{ID: "1", Text: "The kettle is back."})
}

func TestMaxTenants(t *testing.T) {
	t.Parallel()
	svc, _ := servicetest.Open(t, &contextmem.Options{MaxTenants: 2})
	servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "two"})
	_, err := svc.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "three"})
	require.ErrorIs(t, err, contextmem.ErrForbidden)
	_, err = svc.Org("other").CreateTenant(t.Context(), contextmem.TenantSpec{ID: "three"})
	require.NoError(t, err)
	var wg sync.WaitGroup
	var made atomic.Int32
	for i := range 8 {
		wg.Go(func() {
			_, err := svc.Org("crowd").CreateTenant(t.Context(), contextmem.TenantSpec{ID: fmt.Sprint("t", i)})
			if err == nil {
				made.Add(1)
				return
			}
			assert.ErrorIs(t, err, contextmem.ErrForbidden)
		})
	}
	wg.Wait()
	require.EqualValues(t, 2, made.Load(), "calls at one time do not pass the limit")
}

func TestDrainProgress(t *testing.T) {
	t.Parallel()
	g := servicetest.NewGate()
	svc, acme := servicetest.Open(t, &contextmem.Options{Embedder: g})
	hold := make(chan struct{})
	g.Set(hold, nil)
	var ms []contextmem.Memory
	for i := range 10 {
		ms = append(ms, contextmem.Memory{Text: fmt.Sprintf("Note %d.", i)})
	}
	_, err := acme.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: ms})
	require.NoError(t, err)
	short, cancel := context.WithCancel(t.Context())
	defer cancel()
	waiting := 0
	require.ErrorIs(t, svc.DrainProgress(short, func(p contextmem.Progress) {
		waiting = max(waiting, p.Waiting())
		cancel()
	}), context.Canceled)
	require.Equal(t, 10, waiting)
	close(hold)
	var last contextmem.Progress
	require.NoError(t, svc.DrainProgress(t.Context(), func(p contextmem.Progress) { last = p }))
	require.Equal(t, contextmem.Progress{Completed: 10}, last)
}

func TestCloseTwiceAndWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := servicetest.NewGate()
		g.Set(make(chan struct{}), nil)
		svc, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{Embedder: g})
		require.NoError(t, err)
		s := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("a")
		_, err = s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "m", Text: "x"}}})
		require.NoError(t, err)
		var wg sync.WaitGroup
		for _, wait := range []func() error{func() error { return svc.Drain(t.Context()) }, func() error { _, err := s.Wait(t.Context(), "m"); return err }} {
			wg.Go(func() {
				if err := wait(); !errors.Is(err, contextmem.ErrClosed) {
					t.Errorf("got %v", err)
				}
			})
		}
		synctest.Wait()
		for range 3 {
			wg.Go(func() {
				if err := svc.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
		}
		wg.Wait()
		require.ErrorIs(t, svc.Drain(t.Context()), contextmem.ErrClosed)
		_, err = svc.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "x"})
		require.ErrorIs(t, err, contextmem.ErrClosed)
		_, err = svc.VerifyKey(t.Context(), "sk_live_0123456789abcdef0123456789abcdef.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
		require.ErrorIs(t, err, contextmem.ErrClosed)
	})
}

// TestCloseEndsWithAHangingStorage checks that Close returns even if the storage ignores its context.
func TestCloseEndsWithAHangingStorage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := backendtest.NewPlan()
		svc, err := contextmem.New(t.Context(), backendtest.Faulty(inmem.New(), plan), nil)
		require.NoError(t, err)
		s := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("a")
		servicetest.Remember(t, s, contextmem.Memory{Text: "The kettle is on the shelf."})
		plan.Add(backendtest.Fault{Method: "Store.Sources", Block: true})
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = s.Status(context.Background(), "m") })
		synctest.Wait()
		start := time.Now()
		require.Error(t, svc.Close(), "it says that a call still ran")
		require.Less(t, time.Since(start), 30*time.Second)
		plan.Release()
		wg.Wait()
	})
}

func TestReembed(t *testing.T) {
	t.Parallel()
	for _, dim := range []int{static.New().Dim(), 64} {
		t.Run(fmt.Sprint(dim), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			svc, err := contextmem.Open(t.Context(), dir, nil)
			require.NoError(t, err)
			s := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("a")
			var ms []contextmem.Memory
			for i := range 250 {
				ms = append(ms, contextmem.Memory{ID: fmt.Sprintf("m%d", i), Text: fmt.Sprintf("The kettle number %d is on the shelf.", i)})
			}
			servicetest.Remember(t, s, ms...)
			require.NoError(t, svc.Close())

			g := servicetest.NewGate()
			svc, err = contextmem.Open(t.Context(), dir, &contextmem.Options{Embedder: servicetest.OtherEmbedder{Gate: g, Name: "other/1", Size: dim}})
			require.NoError(t, err)
			acme := svc.Tenant("acme")
			s = acme.Sub("a")
			_, err = s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "kettle"})
			require.ErrorIs(t, err, contextmem.ErrConflict)
			hold := make(chan struct{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			g.Told = cancel // once the new vectors are being made
			g.Set(hold, nil)
			_, err = acme.Reembed(ctx)
			require.ErrorIs(t, err, context.Canceled)
			res, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "kettle 7"})
			require.NoError(t, err)
			require.NotEmpty(t, res.Chunks, "keywords alone")
			require.NotEmpty(t, res.Warnings)
			close(hold)
			require.NoError(t, svc.Close())

			svc, err = contextmem.Open(t.Context(), dir, &contextmem.Options{Embedder: servicetest.OtherEmbedder{Gate: g, Name: "other/1", Size: dim}})
			require.NoError(t, err)
			defer func() { require.NoError(t, svc.Close()) }()
			acme, s = svc.Tenant("acme"), svc.Tenant("acme").Sub("a")
			_, err = acme.Reembed(t.Context())
			require.NoError(t, err)
			n, err := acme.Reembed(t.Context())
			require.NoError(t, err)
			require.Zero(t, n, "it is done")
			res, err = s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "kettle", Alpha: contextmem.FixedAlpha(1), MaxResults: 300})
			require.NoError(t, err)
			require.Len(t, res.Chunks, 250)
			require.Empty(t, res.Warnings)
			p, err := s.List(t.Context(), contextmem.ListRequest{Class: contextmem.ClassMemory})
			require.NoError(t, err)
			require.Equal(t, 250, p.Total)
		})
	}
}

// TestForeignEmbedderIsParked checks that waiting items of a tenant with another embedder do not delay others, and that
// Drain reports them.
func TestForeignEmbedderIsParked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	g := servicetest.NewGate()
	svc, err := contextmem.Open(t.Context(), dir, &contextmem.Options{Embedder: g})
	require.NoError(t, err)
	s := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("a")
	g.Set(make(chan struct{}), nil)
	_, err = s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "m", Text: "The kettle is on the shelf."}}})
	require.NoError(t, err)
	require.NoError(t, svc.Close())
	svc, err = contextmem.Open(t.Context(), dir, &contextmem.Options{Embedder: servicetest.OtherEmbedder{Gate: servicetest.NewGate(), Name: "other/1", Size: 64}})
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	servicetest.Remember(t, servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "other"}).Sub("a"), contextmem.Memory{Text: "x y z"})
	require.ErrorIs(t, svc.Drain(t.Context()), contextmem.ErrConflict)
	_, err = svc.Tenant("acme").Reembed(t.Context())
	require.NoError(t, err)
	require.NoError(t, svc.Drain(t.Context()))
	servicetest.Done(t, svc.Tenant("acme").Sub("a"), "m")
}

func TestKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc, err := contextmem.New(t.Context(), inmem.New(), nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, svc.Close()) }()
		k, text, err := svc.CreateKey(t.Context(), contextmem.KeySpec{Owner: "ann", Scopes: []contextmem.Scope{contextmem.ScopeQuery}, Tenants: []string{"acme"}, TTL: time.Hour})
		require.NoError(t, err)
		got, err := svc.VerifyKey(t.Context(), text)
		require.NoError(t, err)
		require.Equal(t, k.ID, got.ID)
		require.True(t, got.Allows(contextmem.ScopeQuery))
		require.False(t, got.Allows(contextmem.ScopeIngest))
		require.True(t, got.AllowsTenant("acme"))
		require.False(t, got.AllowsTenant("other"))
		for _, bad := range []string{"", "x", text + "A", text[:len(text)-1], text[:len(text)-1] + "!", "sk_live_" + k.ID + "."} {
			_, err := svc.VerifyKey(t.Context(), bad)
			require.ErrorIs(t, err, contextmem.ErrUnauthorized, bad)
		}
		ks, err := svc.Keys(t.Context())
		require.NoError(t, err)
		require.Len(t, ks, 1)
		require.ErrorIs(t, svc.Org("rivals").RevokeKey(t.Context(), k.ID), contextmem.ErrNotFound)
		time.Sleep(time.Hour)
		_, err = svc.VerifyKey(t.Context(), text)
		require.ErrorIs(t, err, contextmem.ErrUnauthorized, "expired")
		all, text, err := svc.Org("rivals").CreateKey(t.Context(), contextmem.KeySpec{Env: "test", Prefix: "a_b"})
		require.NoError(t, err)
		got, err = svc.VerifyKey(t.Context(), text)
		require.NoError(t, err)
		require.Equal(t, "rivals", got.Org)
		require.True(t, got.Allows(contextmem.ScopeManage))
		require.NoError(t, svc.Org("rivals").RevokeKey(t.Context(), all.ID))
		_, err = svc.VerifyKey(t.Context(), text)
		require.ErrorIs(t, err, contextmem.ErrUnauthorized, "revoked")
		require.ErrorIs(t, svc.Org("rivals").RevokeKey(t.Context(), all.ID), contextmem.ErrNotFound)
	})
}
