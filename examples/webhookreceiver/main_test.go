package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
)

const testSecret = "0123456789abcdef"

func post(t *testing.T, r http.Handler, body, signature string) int {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", bytes.NewBufferString(body))
	if signature != "" {
		req.Header.Set("X-Service-Signature", signature)
	}
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	return w.Code
}

func TestReceiver(t *testing.T) {
	t.Parallel()
	r, err := newReceiver([]string{" " + testSecret + " ", "", "another-secret-of-old"})
	require.NoError(t, err)
	body := `{"delivery_id":"dlv_1","id":"k1","status":"completed"}`
	for range 3 {
		assert.Equal(t, http.StatusNoContent, post(t, r, body, contextmem.SignWebhook(testSecret, []byte(body))))
	}
	require.Len(t, r.events, 1, "a repeated event is taken once")
	require.Equal(t, "k1", (<-r.events).ID)
	other := `{"delivery_id":"dlv_2"}`
	assert.Equal(t, http.StatusNoContent, post(t, r, other, contextmem.SignWebhook("another-secret-of-old", []byte(other))))
	require.Len(t, r.events, 1)

	assert.Equal(t, http.StatusUnauthorized, post(t, r, body, ""))
	assert.Equal(t, http.StatusUnauthorized, post(t, r, body+" ", contextmem.SignWebhook(testSecret, []byte(body))))
	assert.Equal(t, http.StatusUnauthorized, post(t, r, body, contextmem.SignWebhook("a-secret-nobody-knows", []byte(body))))
	for _, b := range []string{"", "{", "{}", "[]"} {
		assert.Equal(t, http.StatusBadRequest, post(t, r, b, contextmem.SignWebhook(testSecret, []byte(b))), b)
	}
	long := strings.Repeat("x", maxBody+1)
	assert.Equal(t, http.StatusBadRequest, post(t, r, long, contextmem.SignWebhook(testSecret, []byte(long))))
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	assert.Equal(t, http.StatusMethodNotAllowed, w.Code)
	require.Len(t, r.events, 1)
}

func TestReceiverIsBusy(t *testing.T) {
	t.Parallel()
	r, err := newReceiver([]string{testSecret})
	require.NoError(t, err)
	for i := range queueSize + 1 {
		b := fmt.Sprintf(`{"delivery_id":"dlv_%d"}`, i)
		want := http.StatusNoContent
		if i == queueSize {
			want = http.StatusServiceUnavailable
		}
		require.Equal(t, want, post(t, r, b, contextmem.SignWebhook(testSecret, []byte(b))))
	}
	<-r.events
	b := fmt.Sprintf(`{"delivery_id":"dlv_%d"}`, queueSize)
	require.Equal(t, http.StatusNoContent, post(t, r, b, contextmem.SignWebhook(testSecret, []byte(b))), "a refused event may come again")
}

func TestReceiverNeedsASecret(t *testing.T) {
	t.Parallel()
	_, err := newReceiver([]string{"", " "})
	require.Error(t, err)
}

// TestReceiverTakesRealDeliveries ingests into a service and waits for the event.
func TestReceiverTakesRealDeliveries(t *testing.T) {
	t.Parallel()
	r, err := newReceiver([]string{testSecret})
	require.NoError(t, err)
	srv := httptest.NewServer(r)
	defer srv.Close()
	svc, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{AllowLocalWebhooks: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	_, err = svc.SetWebhook(t.Context(), contextmem.WebhookSpec{URL: srv.URL, Secret: testSecret})
	require.NoError(t, err)
	_, err = svc.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	require.NoError(t, svc.Tenant("acme").WaitReady(t.Context()))
	_, err = svc.Tenant("acme").Sub("team").AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "m1", Text: "Bob likes tea."}}})
	require.NoError(t, err)
	select {
	case p := <-r.events:
		require.Equal(t, "m1", p.ID)
		require.Equal(t, "acme", p.Database)
		require.Equal(t, "team", p.Collection)
		require.Equal(t, contextmem.StatusCompleted, p.Status)
	case <-time.After(time.Minute):
		require.Fail(t, "no event came")
	}
}
