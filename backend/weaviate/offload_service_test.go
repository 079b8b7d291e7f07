package weaviate

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weaviate/weaviate/entities/models"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/backend/local"
	"github.com/contextmem/contextmem/embed/static"
	rules "github.com/contextmem/contextmem/judge"
)

// busyOnce is an HTTP transport that answers requests to change tenants as a busy node does, for a while from the first one of its kind on.
type busyOnce struct {
	kind  string // what the body of the request has
	lasts time.Duration
	mu    sync.Mutex
	from  time.Time
}

func (b *busyOnce) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPut || !strings.HasSuffix(r.URL.Path, "/tenants") {
		return http.DefaultTransport.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if !bytes.Contains(body, []byte(b.kind)) || bytes.Contains(body, []byte(`"none"`)) {
		return http.DefaultTransport.RoundTrip(r)
	}
	b.mu.Lock()
	if b.from.IsZero() {
		b.from = time.Now()
	}
	busy := time.Since(b.from) < b.lasts
	b.mu.Unlock()
	if busy {
		return &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
	}
	return http.DefaultTransport.RoundTrip(r)
}

// TestOffloadedTenants checks through the service that tenants which are evicted and idle are offloaded, accept writes at once, and
// answer when they are back.
func TestOffloadedTenants(t *testing.T) {
	t.Parallel()
	c, ctx := startStoring(t, 1), t.Context()
	rest, err := local.Open(t.TempDir(), nil)
	require.NoError(t, err)
	busy := &busyOnce{kind: models.TenantActivityStatusOFFLOADED, lasts: 3 * time.Second}
	x, err := Open(ctx, c.URLs(), rest, &Options{Prefix: "Service", OffloadAfter: testIdle, Retry: time.Minute, Logger: slog.New(slog.NewTextHandler(t.Output(), nil)), Client: &http.Client{Transport: busy}})
	require.NoError(t, err)
	svc, err := contextmem.New(ctx, backend.Compose(inmem.New(), x), &contextmem.Options{Embedder: static.New(), Judge: rules.None, Reranker: contextmem.NoReranker, MaxOpenTenants: 1})
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	const tenants = 3
	sub := func(i int) contextmem.Sub { return svc.Tenant(fmt.Sprint("t", i)).Sub("a") }
	add := func(ctx context.Context, i int, id, text string) error {
		_, err := sub(i).AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: id, Text: text}}})
		return err
	}
	recall := func(i int) (*contextmem.Result, error) {
		return sub(i).Recall(ctx, contextmem.Recall{Class: contextmem.ClassMemory, Query: "where is the kettle?"})
	}
	for i := range tenants {
		_, err := svc.CreateTenant(ctx, contextmem.TenantSpec{ID: fmt.Sprint("t", i)})
		require.NoError(t, err)
		require.NoError(t, svc.Tenant(fmt.Sprint("t", i)).WaitReady(ctx))
		require.NoError(t, add(ctx, i, "m", fmt.Sprintf("The kettle of tenant %d is on the shelf.", i)))
		require.NoError(t, svc.Drain(ctx))
	}
	offloaded := func() (n int) {
		found, err := x.cluster.nodes[0].Schema().TenantsGetter().WithClassName(x.schema.chunks()).Do(ctx)
		require.NoError(t, err)
		for _, tenant := range found {
			if tenant.ActivityStatus == "FROZEN" {
				n++
			}
		}
		return n
	}
	require.Eventually(t, func() bool { return offloaded() == tenants-1 }, slowly, 50*time.Millisecond)
	x.cluster.retry.Store(int64(2 * time.Second)) // not before: a tenant that a busy node fails to offload is not tried again until it was used
	c.s3.Pause()
	defer c.s3.Resume()
	began := time.Now()
	require.NoError(t, add(ctx, 0, "new", "The kettle of tenant 0 is red."), "a write does not wait for the object store")
	took := time.Since(began)
	assert.Less(t, took, 10*time.Second) // it may wait for another tenant to be closed, which the nodes do not answer meanwhile
	began = time.Now()
	_, err = recall(0)
	t.Logf("written in %v, recall ended in %v: %v", took, time.Since(began), err)
	require.ErrorIs(t, err, contextmem.ErrUnavailable)
	assert.Less(t, time.Since(began), 20*time.Second)
	c.s3.Resume()
	require.NoError(t, svc.Drain(ctx))
	for i := range tenants {
		want := 1
		if i == 0 {
			want = 2
		}
		require.Eventually(t, func() bool {
			r, err := recall(i)
			return err == nil && len(r.Chunks) == want
		}, slowly, 50*time.Millisecond, "tenant %d", i)
	}
}
