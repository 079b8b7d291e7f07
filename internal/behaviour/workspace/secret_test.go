package workspace_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/connector"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// TestSecretKey checks that the webhook's secret and the connector's credentials are readable after a rotation of the
// key, and that a lost key is an error.
func TestSecretKey(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "d")
	file := filepath.Join(dir, "secret.key")
	opts := &contextmem.Options{Providers: []connector.Provider{&servicetest.ScriptedProvider{}}}
	open := func() *contextmem.Service {
		svc, err := contextmem.Open(t.Context(), dir, opts)
		require.NoError(t, err)
		return svc
	}
	svc := open()
	_, err := svc.SetWebhook(t.Context(), contextmem.WebhookSpec{URL: "https://hooks.example.com", GenerateSecret: true})
	require.NoError(t, err)
	c, err := svc.CreateConnector(t.Context(), contextmem.ConnectorSpec{Provider: "script", Credentials: connector.Credentials{"token": "t0p"}})
	require.NoError(t, err)
	before, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, svc.RotateSecretKey(t.Context(), nil))
	require.ErrorIs(t, svc.RotateSecretKey(t.Context(), []byte("short")), fault.ErrInvalid)
	after, err := os.ReadFile(file)
	require.NoError(t, err)
	require.False(t, bytes.Equal(before, after))
	discover := func() {
		_, _, err := svc.Discover(t.Context(), c.ID, "", 10)
		require.NoError(t, err)
		w, err := svc.Webhook(t.Context())
		require.NoError(t, err)
		require.True(t, w.SecretConfigured)
	}
	discover()
	require.NoError(t, svc.Close())
	svc = open()
	discover()
	require.NoError(t, svc.Close())

	for name, damage := range map[string]func() error{
		"lost": func() error { return os.Remove(file) },
		"old":  func() error { return os.WriteFile(file, before, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, damage(), name)
			_, err = contextmem.Open(t.Context(), dir, opts)
			require.ErrorContains(t, err, "the key of the stored secrets is lost", name)
			require.ErrorContains(t, err, "secret.key", name)
		})
	}
	require.NoError(t, os.WriteFile(file, after, 0o600))
	svc = open()
	discover()
	require.NoError(t, svc.Close())
}
