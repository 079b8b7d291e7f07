//go:build cgo

package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
)

// TestDamagedItemSaysSo checks that an item whose stored text is damaged is answered in both generations by an error that says what
// is wrong and what helps, and that it can be ingested again.
func TestDamagedItemSaysSo(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "d")
	const text = "The kettle in the pantry is made of copper."
	open := func() *contextmem.Service {
		svc, err := contextmem.Open(t.Context(), dir, nil)
		require.NoError(t, err)
		_, err = svc.EnsureTenant(t.Context(), contextmem.TenantSpec{ID: "acme"})
		require.NoError(t, err)
		return svc
	}
	svc := open()
	_, err := svc.Tenant("acme").Sub("").Remember(t.Context(), contextmem.Memory{ID: "m", Text: text})
	require.NoError(t, err)
	require.NoError(t, svc.Close())
	flipText(t, dir, text)

	svc = open()
	defer func() { require.NoError(t, svc.Close()) }()
	h, err := New(svc, Options{Keys: map[string]string{fullKey: contextmem.DefaultOrg}})
	require.NoError(t, err)
	ask := func(method, target, body string) (int, string) {
		r := httptest.NewRequestWithContext(t.Context(), method, target, bytes.NewBufferString(body))
		r.Header.Set("Authorization", "Bearer "+fullKey)
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		var a struct{ Message string }
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &a))
		return w.Code, a.Message
	}
	const want = "stored data is damaged: ingest the item again, or restore a backup"
	status, message := ask("GET", "/context/inspect?database=acme&id=m", "")
	assert.Equal(t, 500, status)
	assert.Equal(t, want, message)
	status, message = ask("POST", "/fetch/content", `{"tenant_id":"acme","source_id":"m"}`)
	assert.Equal(t, 500, status)
	assert.Equal(t, want, message)

	status, _ = ask("POST", "/ext/remember", `{"database":"acme","memories":[{"id":"m","text":"`+text+`"}]}`)
	assert.Equal(t, 200, status)
	status, _ = ask("GET", "/context/inspect?database=acme&id=m", "")
	assert.Equal(t, 200, status)
}
