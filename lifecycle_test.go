package contextmem_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"sync/atomic"
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
)

var errDown = fmt.Errorf("disk: %w", backend.ErrUnavailable)

func TestProvisioningThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := backendtest.NewPlan(backendtest.Fault{Method: "Backend.OpenWorkspace", Call: 1, Err: errDown})
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
		remember(t, tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("a"), contextmem.Memory{ID: "m", Text: "The kettle is on the shelf."})
		synctest.Wait()
		require.Equal(t, 1, plan.Calls("Backend.RemoveWorkspace"), "what the failed attempt left is removed")
	})
}

// TestTransientStorageFailures: each call of a store fails once, and every item still completes.
func TestTransientStorageFailures(t *testing.T) {
	for _, method := range []string{"Store.Claim", "Store.Index", "Store.Finish", "Store.Changes", "Index.Apply", "Store.Backlog", "Store.Expire", "Store.Events", "Registry.TenantByUID"} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				plan := backendtest.NewPlan()
				svc, err := contextmem.New(t.Context(), backendtest.Faulty(inmem.New(), plan), nil)
				require.NoError(t, err)
				defer func() { require.NoError(t, svc.Close()) }()
				s := tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("a")
				require.NoError(t, svc.Drain(t.Context()))
				n := plan.Calls(method)
				plan.Add(backendtest.Fault{Method: method, Call: n + 1, Err: errDown}, backendtest.Fault{Method: method, Call: n + 2, Err: errDown})
				start := time.Now()
				res, err := s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "m", Text: "The kettle is on the shelf."}}})
				require.NoError(t, err)
				done(t, s, res.IDs()...)
				require.NoError(t, svc.Drain(t.Context()))
				require.Less(t, time.Since(start), 30*time.Second, "without waiting for a lease")
				require.Contains(t, find(t, s, "kettle"), "m")
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
	s := tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("a")
	for _, method := range []string{"Store.Accept", "Registry.SetWake"} {
		t.Run(method, func(t *testing.T) {
			require.NoError(t, svc.Drain(t.Context()))
			plan.Add(backendtest.Fault{Method: method, Err: errDown})
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
	g := newGate()
	svc, acme := open(t, &contextmem.Options{Embedder: g})
	s := acme.Sub("a")
	remember(t, s, contextmem.Memory{ID: "old", Text: "The kettle is on the shelf."})
	g.set(make(chan struct{}), nil) // the worker hangs in the embedder until it is told to stop
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
	tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
	after, err := acme.Info(t.Context())
	require.NoError(t, err)
	require.NotEqual(t, before.UID, after.UID)
	require.Empty(t, find(t, s, "kettle"))
	stats, err := acme.Stats(t.Context())
	require.NoError(t, err)
	require.Zero(t, stats.Memory.Sources)
}

func TestRemovalIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := backendtest.NewPlan(backendtest.Fault{Method: "Backend.RemoveWorkspace", Call: 1, Err: errDown}, backendtest.Fault{Method: "Backend.RemoveWorkspace", Call: 2, Err: errDown})
		be := inmem.New()
		svc, err := contextmem.New(t.Context(), backendtest.Faulty(be, plan), nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, svc.Close()) }()
		for _, id := range []string{"a", "b"} {
			require.NoError(t, tenant(t, svc, contextmem.TenantSpec{ID: id}).Delete(t.Context()))
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
	_, acme := open(t, nil)
	remember(t, acme.Sub("a"), contextmem.Memory{ID: "1", Text: "The kettle is on the shelf."})
	remember(t, acme.Sub("b"), contextmem.Memory{ID: "2", Text: "The kettle is in the cellar."})
	require.NoError(t, acme.Sub("a").Delete(t.Context()))
	require.ErrorIs(t, acme.Sub("a").Delete(t.Context()), contextmem.ErrNotFound)
	require.Empty(t, find(t, acme.Sub("a"), "kettle"))
	require.Contains(t, find(t, acme.Sub("b"), "kettle"), "2")
	subs, err := acme.Subs(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, subs)
	remember(t, acme.Sub("a"), contextmem.Memory{ID: "1", Text: "The kettle is back."})
}

func TestMaxTenants(t *testing.T) {
	t.Parallel()
	svc, _ := open(t, &contextmem.Options{MaxTenants: 2})
	tenant(t, svc, contextmem.TenantSpec{ID: "two"})
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
	g := newGate()
	svc, acme := open(t, &contextmem.Options{Embedder: g})
	hold := make(chan struct{})
	g.set(hold, nil)
	var ms []contextmem.Memory
	for i := range 10 {
		ms = append(ms, contextmem.Memory{Text: fmt.Sprintf("Note %d.", i)})
	}
	_, err := acme.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: ms})
	require.NoError(t, err)
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	waiting := 0
	require.ErrorIs(t, svc.DrainProgress(short, func(p contextmem.Progress) { waiting = max(waiting, p.Waiting()) }), context.DeadlineExceeded)
	require.Equal(t, 10, waiting)
	close(hold)
	var last contextmem.Progress
	require.NoError(t, svc.DrainProgress(t.Context(), func(p contextmem.Progress) { last = p }))
	require.Equal(t, contextmem.Progress{Completed: 10}, last)
}

func TestCloseTwiceAndWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		g.set(make(chan struct{}), nil)
		svc, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{Embedder: g})
		require.NoError(t, err)
		s := tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("a")
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

// TestCloseEndsWithAHangingStorage: a storage that heeds no context can't keep Close for ever.
func TestCloseEndsWithAHangingStorage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := backendtest.NewPlan()
		svc, err := contextmem.New(t.Context(), backendtest.Faulty(inmem.New(), plan), nil)
		require.NoError(t, err)
		s := tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("a")
		remember(t, s, contextmem.Memory{Text: "The kettle is on the shelf."})
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

// renamed is an embedder with another identity.
type renamed struct {
	*gate
	name string
	dim  int
}

func (r renamed) Model() string { return r.name }
func (r renamed) Dim() int      { return r.dim }

func (r renamed) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	out, err := r.gate.EmbedDocuments(ctx, texts)
	for i := range out {
		out[i] = out[i][:r.dim]
	}
	return out, err
}

func (r renamed) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	v, err := r.gate.EmbedQuery(ctx, text)
	if err != nil {
		return nil, err
	}
	return v[:r.dim], nil
}

func TestReembed(t *testing.T) {
	t.Parallel()
	for _, dim := range []int{static.New().Dim(), 64} {
		t.Run(fmt.Sprint(dim), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			svc, err := contextmem.Open(t.Context(), dir, nil)
			require.NoError(t, err)
			s := tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("a")
			var ms []contextmem.Memory
			for i := range 250 {
				ms = append(ms, contextmem.Memory{ID: fmt.Sprintf("m%d", i), Text: fmt.Sprintf("The kettle number %d is on the shelf.", i)})
			}
			remember(t, s, ms...)
			require.NoError(t, svc.Close())

			g := newGate()
			svc, err = contextmem.Open(t.Context(), dir, &contextmem.Options{Embedder: renamed{g, "other/1", dim}})
			require.NoError(t, err)
			acme := svc.Tenant("acme")
			s = acme.Sub("a")
			_, err = s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "kettle"})
			require.ErrorIs(t, err, contextmem.ErrConflict)
			hold := make(chan struct{})
			g.set(hold, nil)
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			_, err = acme.Reembed(ctx)
			cancel()
			require.ErrorIs(t, err, context.DeadlineExceeded)
			res, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "kettle 7"})
			require.NoError(t, err)
			require.NotEmpty(t, res.Chunks, "keywords alone")
			require.NotEmpty(t, res.Warnings)
			close(hold)
			require.NoError(t, svc.Close())

			svc, err = contextmem.Open(t.Context(), dir, &contextmem.Options{Embedder: renamed{g, "other/1", dim}})
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

// TestForeignEmbedderIsParked: items that wait in a tenant of another embedder hold up
// nobody, and Drain says so.
func TestForeignEmbedderIsParked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	g := newGate()
	svc, err := contextmem.Open(t.Context(), dir, &contextmem.Options{Embedder: g})
	require.NoError(t, err)
	s := tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("a")
	g.set(make(chan struct{}), nil)
	_, err = s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "m", Text: "The kettle is on the shelf."}}})
	require.NoError(t, err)
	require.NoError(t, svc.Close())
	svc, err = contextmem.Open(t.Context(), dir, &contextmem.Options{Embedder: renamed{newGate(), "other/1", 64}})
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	remember(t, tenant(t, svc, contextmem.TenantSpec{ID: "other"}).Sub("a"), contextmem.Memory{Text: "x y z"})
	require.ErrorIs(t, svc.Drain(t.Context()), contextmem.ErrConflict)
	_, err = svc.Tenant("acme").Reembed(t.Context())
	require.NoError(t, err)
	require.NoError(t, svc.Drain(t.Context()))
	done(t, svc.Tenant("acme").Sub("a"), "m")
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

// TestWebhook follows an item to its receiver, and checks what arrives.
func TestWebhook(t *testing.T) {
	t.Parallel()
	type got struct {
		payload contextmem.WebhookPayload
		err     error
		id      string
	}
	hits := make(chan got, 10)
	var secret string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var g got
		body, _ := io.ReadAll(r.Body)
		g.err = errors.Join(json.Unmarshal(body, &g.payload), contextmem.VerifyWebhook(body, r.Header.Get(contextmem.HeaderSignature), "", secret))
		g.id = r.Header.Get(contextmem.HeaderDeliveryID)
		for _, name := range []string{"Delivery-ID", "Event", "Signature"} {
			if v := r.Header.Get("X-HydraDB-" + name); v == "" || v != r.Header.Get("X-Service-"+name) {
				g.err = errors.Join(g.err, fmt.Errorf("the vendor's header %s differs", name))
			}
		}
		hits <- g
	}))
	defer srv.Close()
	svc, err := contextmem.Open(t.Context(), filepath.Join(t.TempDir(), "d"), &contextmem.Options{AllowLocalWebhooks: true, WebhookVendorHeaders: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	w, err := svc.SetWebhook(t.Context(), contextmem.WebhookSpec{URL: srv.URL, GenerateSecret: true})
	require.NoError(t, err)
	require.NotEmpty(t, w.Secret)
	secret = w.Secret
	w, err = svc.Webhook(t.Context())
	require.NoError(t, err)
	require.Empty(t, w.Secret, "shown once")
	require.True(t, w.SecretConfigured)
	_, err = svc.SetWebhook(t.Context(), contextmem.WebhookSpec{URL: srv.URL + "/again"})
	require.NoError(t, err, "the secret stays")
	acme := tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
	remember(t, acme.Sub("a"), contextmem.Memory{ID: "m", Text: "The kettle is on the shelf."})
	g := <-hits
	require.NoError(t, g.err)
	info, err := acme.Info(t.Context())
	require.NoError(t, err)
	require.Equal(t, "m", g.payload.ID)
	require.Equal(t, "acme", g.payload.Database)
	require.Equal(t, info.UID, g.payload.TenantID)
	require.Equal(t, "a", g.payload.Collection)
	require.Equal(t, "a", g.payload.SubTenantID)
	require.Equal(t, contextmem.StatusCompleted, g.payload.Status)
	require.Equal(t, g.id, g.payload.DeliveryID)
	require.False(t, g.payload.Test)
	test, err := svc.TestWebhook(t.Context())
	require.NoError(t, err)
	require.True(t, test.Delivered)
	g = <-hits
	require.NoError(t, g.err)
	require.True(t, g.payload.Test)
	n := 0
	for d, err := range svc.Deliveries(t.Context(), "") {
		require.NoError(t, err)
		require.Equal(t, "m", d.ItemID)
		_, err = svc.Org("rivals").Delivery(t.Context(), d.ID)
		require.ErrorIs(t, err, contextmem.ErrNotFound)
		n++
	}
	require.Equal(t, 1, n, "a test makes no record")
	_, err = svc.DeleteWebhookSecret(t.Context())
	require.NoError(t, err)
	require.NoError(t, svc.DeleteWebhook(t.Context()))
	remember(t, acme.Sub("a"), contextmem.Memory{ID: "n", Text: "The spoons are in the drawer."})
	require.NoError(t, svc.Drain(t.Context()))
	require.Empty(t, hits)
}

// parcel is what a receiver of webhooks got.
type parcel struct {
	header http.Header
	body   []byte
}

// receiver is a transport that stands for a receiver. It hands over what it gets and answers when
// it is let go.
type receiver struct {
	got    chan parcel
	hold   chan struct{} // nil: answers at once
	active atomic.Int32
	most   atomic.Int32
}

// RoundTrip implements http.RoundTripper.
func (r *receiver) RoundTrip(req *http.Request) (*http.Response, error) {
	n := r.active.Add(1)
	defer r.active.Add(-1)
	for m := r.most.Load(); n > m && !r.most.CompareAndSwap(m, n); m = r.most.Load() {
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	select {
	case r.got <- parcel{req.Header.Clone(), body}:
	default:
	}
	if r.hold != nil {
		select {
		case <-r.hold:
		case <-req.Context().Done():
			return nil, req.Context().Err()
		}
	}
	return &http.Response{StatusCode: http.StatusNoContent, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
}

func TestWebhookSecretOverlap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const one, two = "the-first-secret-1", "the-second-secret-2"
		r := &receiver{got: make(chan parcel, 10)}
		svc, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{WebhookTransport: r, WebhookSecretOverlap: time.Hour})
		require.NoError(t, err)
		defer func() { require.NoError(t, svc.Close()) }()
		send := func() parcel {
			test, err := svc.TestWebhook(t.Context())
			require.NoError(t, err)
			require.True(t, test.Delivered)
			return <-r.got
		}
		signed := func(p parcel, secret, previous string) {
			require.NoError(t, contextmem.VerifyWebhook(p.body, p.header.Get(contextmem.HeaderSignature), secret))
			if previous == "" {
				require.Empty(t, p.header.Get(contextmem.HeaderPreviousSignature))
				require.Empty(t, p.header.Get("X-HydraDB-Signature"), "only by Options.WebhookVendorHeaders")
				return
			}
			require.NoError(t, contextmem.VerifyWebhook(p.body, p.header.Get(contextmem.HeaderPreviousSignature), previous))
		}
		_, err = svc.SetWebhook(t.Context(), contextmem.WebhookSpec{URL: "https://hook.example.com/", Secret: one})
		require.NoError(t, err)
		signed(send(), one, "")
		_, err = svc.SetWebhookSecret(t.Context(), two)
		require.NoError(t, err)
		signed(send(), two, one)
		_, err = svc.SetWebhook(t.Context(), contextmem.WebhookSpec{URL: "https://hook.example.com/again"})
		require.NoError(t, err)
		signed(send(), two, one)
		time.Sleep(time.Hour)
		signed(send(), two, "")
		_, err = svc.DeleteWebhookSecret(t.Context())
		require.NoError(t, err)
		p := send()
		require.Empty(t, p.header.Get(contextmem.HeaderSignature))
		require.Empty(t, p.header.Get(contextmem.HeaderPreviousSignature))
	})
}

// TestSlowReceiver: a receiver that does not answer holds up neither ingestion nor more than
// its share of the deliveries.
func TestSlowReceiver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{got: make(chan parcel), hold: make(chan struct{})}
		svc, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{WebhookTransport: r})
		require.NoError(t, err)
		defer func() { require.NoError(t, svc.Close()) }()
		_, err = svc.SetWebhook(t.Context(), contextmem.WebhookSpec{URL: "https://slow.example.com/"})
		require.NoError(t, err)
		acme := tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
		begun := time.Now()
		for i := range 50 {
			remember(t, acme.Sub("a"), contextmem.Memory{ID: fmt.Sprint("m", i), Text: fmt.Sprintf("Note %d is about the kettle.", i)})
		}
		require.NoError(t, svc.Drain(t.Context()))
		require.Less(t, time.Since(begun), time.Second, "no item waited for the receiver")
		synctest.Wait()
		require.EqualValues(t, 4, r.most.Load(), "attempts at one receiver at a time")
		close(r.hold)
		synctest.Wait()
		p, err := svc.ListDeliveries(t.Context(), contextmem.DeliveriesRequest{Status: contextmem.DeliveryDelivered, Limit: 100})
		require.NoError(t, err)
		require.Len(t, p.Deliveries, 50)
	})
}
