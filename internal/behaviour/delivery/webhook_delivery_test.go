package delivery_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// TestWebhook follows an item's event to its receiver and checks the delivery.
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
	acme := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
	servicetest.Remember(t, acme.Sub("a"), contextmem.Memory{ID: "m", Text: "The kettle is on the shelf."})
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
	servicetest.Remember(t, acme.Sub("a"), contextmem.Memory{ID: "n", Text: "The spoons are in the drawer."})
	require.NoError(t, svc.Drain(t.Context()))
	require.Empty(t, hits)
}

func TestWebhookSecretOverlap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const one, two = "the-first-secret-1", "the-second-secret-2"
		r := &servicetest.Receiver{Got: make(chan servicetest.Delivery, 10)}
		svc, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{WebhookTransport: r, WebhookSecretOverlap: time.Hour})
		require.NoError(t, err)
		defer func() { require.NoError(t, svc.Close()) }()
		send := func() servicetest.Delivery {
			test, err := svc.TestWebhook(t.Context())
			require.NoError(t, err)
			require.True(t, test.Delivered)
			return <-r.Got
		}
		signed := func(p servicetest.Delivery, secret, previous string) {
			require.NoError(t, contextmem.VerifyWebhook(p.Body, p.Header.Get(contextmem.HeaderSignature), secret))
			if previous == "" {
				require.Empty(t, p.Header.Get(contextmem.HeaderPreviousSignature))
				require.Empty(t, p.Header.Get("X-HydraDB-Signature"), "only by Options.WebhookVendorHeaders")
				return
			}
			require.NoError(t, contextmem.VerifyWebhook(p.Body, p.Header.Get(contextmem.HeaderPreviousSignature), previous))
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
		require.Empty(t, p.Header.Get(contextmem.HeaderSignature))
		require.Empty(t, p.Header.Get(contextmem.HeaderPreviousSignature))
	})
}

// TestSlowReceiver checks that a receiver that does not answer delays neither ingestion nor more than its share of the
// deliveries.
func TestSlowReceiver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &servicetest.Receiver{Got: make(chan servicetest.Delivery), Hold: make(chan struct{})}
		svc, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{WebhookTransport: r})
		require.NoError(t, err)
		defer func() { require.NoError(t, svc.Close()) }()
		_, err = svc.SetWebhook(t.Context(), contextmem.WebhookSpec{URL: "https://slow.example.com/"})
		require.NoError(t, err)
		acme := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
		begun := time.Now()
		for i := range 50 {
			servicetest.Remember(t, acme.Sub("a"), contextmem.Memory{ID: fmt.Sprint("m", i), Text: fmt.Sprintf("Note %d is about the kettle.", i)})
		}
		require.NoError(t, svc.Drain(t.Context()))
		require.Less(t, time.Since(begun), time.Second, "no item waited for the receiver")
		synctest.Wait()
		require.EqualValues(t, 4, r.Most.Load(), "attempts at one receiver at a time")
		close(r.Hold)
		synctest.Wait()
		p, err := svc.ListDeliveries(t.Context(), contextmem.DeliveriesRequest{Status: contextmem.DeliveryDelivered, Limit: 100})
		require.NoError(t, err)
		require.Len(t, p.Deliveries, 50)
	})
}
