package httpapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/connector"
)

const (
	fullKey     = "test-key-of-the-default-organisation"
	maxTestFile = 64 << 10
	maxTestBody = 256 << 10
)

// fixture is a handler over a seeded service.
type fixture struct {
	http.Handler
	api      *api
	svc      *contextmem.Service
	vars     map[string]string
	receiver atomic.Int32  // status that the webhook receiver answers
	entered  chan struct{} // holds a value once the slow resource's sync has begun
}

// newBackend returns the backend of a fixture. backend/postgres and backend/weaviate replace it to run the tests on
// their own.
var newBackend = func(testing.TB) backend.Backend { return inmem.New() }

// newFixture creates the tenant acme (knowledge k1 and k2, memory m1), the embeddings tenant vectors (v1), keys with
// restricted rights, and a webhook receiver that is not registered.
func newFixture(t testing.TB, o Options) *fixture {
	t.Helper()
	ctx := t.Context()
	f := &fixture{vars: map[string]string{"full": fullKey}, entered: make(chan struct{}, 1)}
	svc, err := contextmem.New(ctx, newBackend(t), &contextmem.Options{AllowLocalWebhooks: true, MaxFileBytes: maxTestFile, Workers: 1, Providers: []connector.Provider{scripted{f.entered}}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, svc.Close()) })
	f.svc = svc
	f.receiver.Store(http.StatusOK)
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(int(f.receiver.Load()))
	}))
	t.Cleanup(hook.Close)
	f.vars["receiver"] = hook.URL
	f.vars["big"], f.vars["huge"] = strings.Repeat("x", maxTestFile+1), strings.Repeat("x", maxTestBody+1)
	if o.Keys == nil {
		o.Keys = map[string]string{fullKey: contextmem.DefaultOrg}
	}
	if o.MaxBodyBytes == 0 {
		o.MaxBodyBytes = maxTestBody
	}
	f.api, err = newAPI(svc, o)
	require.NoError(t, err)
	f.Handler = http.HandlerFunc(f.api.serve)

	org := svc.Org(contextmem.DefaultOrg)
	for name, spec := range map[string]contextmem.KeySpec{
		"ingestkey": {Scopes: []contextmem.Scope{contextmem.ScopeIngest}}, "querykey": {Scopes: []contextmem.Scope{contextmem.ScopeQuery}},
		"otherkey": {Tenants: []string{"other"}},
	} {
		_, f.vars[name], err = org.CreateKey(ctx, spec)
		require.NoError(t, err)
	}
	for _, spec := range []contextmem.TenantSpec{
		{ID: "acme", Schema: []contextmem.Field{{Name: "department", Type: "VARCHAR", Match: true}, {Name: "year", Type: "INT32", Match: true}}},
		{ID: "vectors", Embeddings: true, Dimension: 3},
	} {
		_, err := org.CreateTenant(ctx, spec)
		require.NoError(t, err)
		require.NoError(t, org.Tenant(spec.ID).WaitReady(ctx))
	}
	acme := org.Tenant("acme").Sub("")
	_, err = acme.AddKnowledge(ctx, contextmem.KnowledgeBatch{Files: []contextmem.File{
		{ID: "k1", Name: "pricing.md", Data: []byte("# Pricing\n\nThe starter plan costs ten dollars. Alice manages the pricing page."), Metadata: map[string]any{"department": "sales", "year": 2024}},
		{ID: "k2", Name: "manual.txt", Data: []byte("The pump is cleaned every Friday by the night shift."), ForcefulRelations: &contextmem.ForcefulRelations{IDs: []string{"k1"}}},
	}})
	require.NoError(t, err)
	_, err = acme.AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "m1", Text: "Bob prefers green tea without sugar.", Title: "Tea"}}})
	require.NoError(t, err)
	wait(t, acme, "k1", "k2", "m1")
	_, err = org.Tenant("vectors").Sub("").InsertVectors(ctx, contextmem.InsertVectorsRequest{Sources: []contextmem.VectorSource{
		{SourceID: "v1", Metadata: map[string]any{"color": "red"}, Vectors: []contextmem.Vector{{ChunkID: "v1_0", Vector: []float32{1, 0, 0}}, {ChunkID: "v1_1", Vector: []float32{0, 1, 0}}}}}})
	require.NoError(t, err)
	return f
}

func wait(t testing.TB, s contextmem.Sub, ids ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	st, err := s.Wait(ctx, ids...)
	require.NoError(t, err)
	for _, x := range st {
		require.Equal(t, contextmem.StatusCompleted, x.Status, "%s: %s %s", x.ID, x.ErrorCode, x.ErrorMessage)
	}
}

// stopClock lets no time pass for a limit, so that no request is allowed again while a test makes others. It returns the time.
func stopClock(l *RateLimit) time.Time {
	at := time.Now()
	l.now = func() time.Time { return at }
	return at
}

// setup brings the fixture into a named state.
func (f *fixture) setup(t testing.TB, name string) {
	t.Helper()
	org := f.svc.Org(contextmem.DefaultOrg)
	switch name {
	case "webhook", "delivery", "failed delivery":
		_, err := org.SetWebhook(t.Context(), contextmem.WebhookSpec{URL: f.vars["receiver"]})
		require.NoError(t, err)
		want := contextmem.DeliveryDelivered
		if name == "failed delivery" {
			want = contextmem.DeliveryFailed
			f.receiver.Store(http.StatusInternalServerError)
		}
		if name == "webhook" {
			return
		}
		s := org.Tenant("acme").Sub("")
		_, err = s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "m2", Text: "Carol takes the early train."}}})
		require.NoError(t, err)
		wait(t, s, "m2")
		require.Eventually(t, func() bool {
			p, err := org.ListDeliveries(t.Context(), contextmem.DeliveriesRequest{Status: want})
			require.NoError(t, err)
			if len(p.Deliveries) == 0 {
				return false
			}
			f.vars["delivery"] = p.Deliveries[0].ID
			return true
		}, time.Minute, 10*time.Millisecond)
	case "presigned":
		got, err := org.Tenant("acme").Sub("").Fetch(t.Context(), contextmem.FetchRequest{ID: "k1", Mode: contextmem.FetchURL})
		require.NoError(t, err)
		f.vars["presigned"] = got.URL
	case "exhausted":
		stopClock(f.api.feed)
		for range feedbackPerMinute {
			r := f.do(t, "POST", "/feedback", `{"request_id":"7b0e3a52-6b1c-4b0e-9a42-0d6f3b1a9c11","feedback":"fine"}`)
			require.Equal(t, http.StatusCreated, r.Code)
		}
	case "connector", "slow connector":
		f.connect(t, name == "slow connector")
	case "broken":
		var err error
		f.Handler, err = New(f.svc, Options{Authenticator: brokenAuth{}})
		require.NoError(t, err)
	case "errored":
		s := org.Tenant("acme").Sub("")
		_, err := s.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: "broken", Name: "broken.docx", Data: []byte("PK\x03\x04 this is no archive")}}})
		require.NoError(t, err)
		st, err := s.Wait(t.Context(), "broken")
		require.NoError(t, err)
		require.Equal(t, contextmem.StatusErrored, st[0].Status)
	case "statements":
		f.readStatements(t)
	case "closed":
		require.NoError(t, f.svc.Close())
	default:
		require.Fail(t, "unknown setup", name)
	}
}

type brokenAuth struct{}

// Authenticate implements Authenticator.
func (brokenAuth) Authenticate(*http.Request) (Principal, error) {
	return Principal{}, errors.New("the key store is broken")
}

// do sends a request with the key that has all rights. A non-empty body is JSON.
func (f *fixture) do(t testing.TB, method, target, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, bytes.NewBufferString(body))
	r.Header.Set("Authorization", "Bearer "+fullKey)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w
}

// panicLog counts the warnings and errors logged by a handler. Each is a failure of the service.
type panicLog struct {
	count atomic.Int64
	last  atomic.Value
}

func (p *panicLog) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(p, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// Write implements io.Writer.
func (p *panicLog) Write(b []byte) (int, error) {
	p.count.Add(1)
	p.last.Store(string(b))
	return len(b), nil
}
