//go:build cgo

package durability_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// addAndClose opens a deployment, adds memories one by one to the tenant acme, and closes it. It returns the ids of the
// deliveries.
func addAndClose(t *testing.T, dir string, texts ...string) (deliveries []string) {
	t.Helper()
	r := &servicetest.Receiver{Got: make(chan servicetest.Delivery, 100)}
	svc, err := contextmem.Open(t.Context(), dir, &contextmem.Options{WebhookTransport: r})
	require.NoError(t, err)
	_, err = svc.SetWebhook(t.Context(), contextmem.WebhookSpec{URL: "https://hooks.example.com"})
	require.NoError(t, err)
	acme := svc.Tenant("acme")
	if _, err := acme.Info(t.Context()); err != nil {
		acme = servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
	}
	for _, text := range texts {
		servicetest.Remember(t, acme.Sub("a"), contextmem.Memory{Text: text})
	}
	require.NoError(t, svc.Drain(t.Context()))
	for range texts {
		var p contextmem.WebhookPayload
		require.NoError(t, json.Unmarshal((<-r.Got).Body, &p))
		deliveries = append(deliveries, p.DeliveryID)
	}
	require.NoError(t, svc.Close())
	return deliveries
}

// recallFinds reports whether a recall in a deployment returns a text.
func recallFinds(t *testing.T, dir, query, want string) bool {
	t.Helper()
	svc, err := contextmem.Open(t.Context(), dir, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	res, err := svc.Tenant("acme").Sub("a").Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: query})
	require.NoError(t, err)
	for _, c := range res.Chunks {
		if c.Text == want {
			return true
		}
	}
	return false
}

func copyDir(t *testing.T, from, to string) {
	t.Helper()
	require.NoError(t, os.RemoveAll(to))
	require.NoError(t, os.CopyFS(to, os.DirFS(from)))
}

// TestDeliveryIDsAfterAFolderIsRestored checks that a restored folder does not repeat delivery ids, since receivers
// drop repeated ones.
func TestDeliveryIDsAfterAFolderIsRestored(t *testing.T) {
	t.Parallel()
	dir, copied := filepath.Join(t.TempDir(), "d"), filepath.Join(t.TempDir(), "copy")
	seen := addAndClose(t, dir, "The kettle is on the shelf.")
	copyDir(t, dir, copied)
	seen = append(seen, addAndClose(t, dir, "The spoons are in the drawer.")...)
	again := addAndClose(t, copied, "The forks are in the sink.")
	require.Len(t, again, 1)
	require.NotContains(t, seen, again[0])
}

// TestIndexesOfAnotherHistory checks a folder of indexes that belongs to another history than the store and is not
// ahead of it.
func TestIndexesOfAnotherHistory(t *testing.T) {
	t.Parallel()
	one, two := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "two")
	const spoons = "The spoons are in the drawer."
	addAndClose(t, one, "The kettle is on the shelf.")
	copyDir(t, one, two)
	addAndClose(t, one, spoons, "The forks are in the sink.", "The plates are in the cupboard.")
	other, err := contextmem.Open(t.Context(), two, nil)
	require.NoError(t, err)
	require.NoError(t, other.Tenant("acme").Sub("a").Delete(t.Context())) // one change
	_, err = other.Tenant("acme").Sub("a").Recall(t.Context(), contextmem.Recall{Query: "kettle"})
	require.NoError(t, err) // the indexes have followed it
	require.NoError(t, other.Close())
	indexes := func(dir string) string {
		found, err := filepath.Glob(filepath.Join(dir, "tenants", "*", "*", "index"))
		require.NoError(t, err)
		require.Len(t, found, 1)
		return found[0]
	}
	require.True(t, recallFinds(t, one, "where are the spoons?", spoons))
	copyDir(t, indexes(two), indexes(one))
	require.True(t, recallFinds(t, one, "where are the spoons?", spoons))
}
