package httpapi

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/testtool"
)

func TestKeysOverREST(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{StoredKeys: true})
	made := ext(t, f, "POST", "/ext/keys", `{"owner": "robot", "scopes": ["query"], "databases": ["acme"], "expires_in_seconds": 3600}`)
	key, id := made["full_api_key"].(string), made["api_key_id"].(string)
	assert.NotEmpty(t, made["expires_at"])
	require.Equal(t, http.StatusOK, f.send(t, "GET", "/tenants/tenant_ids", "", "Authorization", "Bearer "+key).Code)
	find := func() map[string]any {
		for _, k := range ext(t, f, "GET", "/ext/keys", "")["keys"].([]any) {
			if row := k.(map[string]any); row["api_key_id"] == id {
				return row
			}
		}
		return nil
	}
	row := find()
	require.NotNil(t, row)
	assert.Equal(t, 1.0, row["uses"])
	assert.NotEmpty(t, row["last_used_at"])
	assert.NotContains(t, row, "full_api_key")
	assert.Empty(t, ext(t, f, "PATCH", "/ext/keys/"+id, `{"expires_in_seconds": 0}`)["expires_at"])
	assert.Equal(t, true, ext(t, f, "DELETE", "/ext/keys/"+id, "")["revoked"])
	assert.Nil(t, find())
	assert.Equal(t, http.StatusUnauthorized, f.send(t, "GET", "/tenants/tenant_ids", "", "Authorization", "Bearer "+key).Code)
	assert.Equal(t, http.StatusNotFound, f.do(t, "DELETE", "/ext/keys/"+id, "").Code)
	w := f.do(t, "POST", "/ext/keys", `{"scopes": ["everything"]}`)
	assert.Equal(t, http.StatusBadRequest, w.Code, w.Body)
	w = f.do(t, "POST", "/ext/keys", `{"expires_in_seconds": -1}`)
	assert.GreaterOrEqual(t, w.Code, 400)
	assert.Contains(t, w.Body.String(), "expires_in_seconds")
}

func TestPrometheus(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{StoredKeys: true})
	require.Less(t, f.do(t, "POST", "/recall/recall_preferences", `{"tenant_id": "acme", "query": "tea"}`).Code, 300)
	text := f.send(t, "GET", "/metrics", "", "Authorization", "Bearer "+f.vars["full"], "Accept", "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1")
	require.Equal(t, http.StatusOK, text.Code, text.Body)
	assert.Equal(t, prometheusType, text.Header().Get("Content-Type"))
	body := text.Body.String()
	assert.Contains(t, body, `contextmem_http_request_duration_seconds_count{method="POST",route="/recall/recall_preferences",status="2xx"} 1`)
	assert.Contains(t, body, "contextmem_http_key_requests_total{key=")
	assert.Contains(t, body, `contextmem_recalls_total{mode="fast"`)
	assert.NotContains(t, body, f.vars["full"])
	testtool.Promtool(t, body)
	plain := f.send(t, "GET", "/metrics", "", "Authorization", "Bearer "+f.vars["full"])
	var m map[string]any
	require.NoError(t, json.Unmarshal(plain.Body.Bytes(), &m), "without asking for text the answer is that of the contract")
	assert.Contains(t, m, "uptime_seconds")
	assert.Equal(t, http.StatusForbidden, f.send(t, "GET", "/metrics", "", "Authorization", "Bearer "+f.vars["otherkey"], "Accept", "text/plain").Code)
}

func TestRequestIDsAndAudit(t *testing.T) {
	t.Parallel()
	var log, audit bytes.Buffer
	f := newFixture(t, Options{Logger: slog.New(slog.NewTextHandler(&log, nil)), Audit: slog.New(slog.NewJSONHandler(&audit, nil))})
	log.Reset()
	audit.Reset()
	w := f.send(t, "POST", "/ext/remember", `{`+scopeOfAnna+`, "memories": [{"source_id": "x", "text": "a word that nobody logs: abracadabra"}]}`,
		"Authorization", "Bearer "+f.vars["full"], "Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	const id = "4bf92f35-77b3-4da6-a3ce-929d0e0e4736"
	assert.Equal(t, id, w.Header().Get("X-Request-Id"))
	assert.Contains(t, log.String(), "request="+id)
	assert.Contains(t, log.String(), "route=/ext/remember status=200")
	var line map[string]any
	require.NoError(t, json.Unmarshal(audit.Bytes(), &line))
	assert.Equal(t, id, line["request"])
	assert.Equal(t, "acme", line["database"])
	assert.Equal(t, "anna", line["collection"])
	assert.NotEmpty(t, line["key"])
	audit.Reset()
	f.do(t, "POST", "/recall/recall_preferences", `{"tenant_id": "acme", "query": "abracadabra"}`)
	assert.Empty(t, audit.String(), "reads are not writes")
	for _, s := range []string{log.String(), audit.String()} {
		t.Run(s, func(t *testing.T) {
			assert.NotContains(t, s, "abracadabra")
			assert.NotContains(t, s, f.vars["full"])
		})
	}
	for in, want := range map[string]bool{"": false, "00-" + strings.Repeat("0", 32) + "-00f067aa0ba902b7-01": false, "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01": false, "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01": false} {
		t.Run(in, func(t *testing.T) {
			_, ok := traceID(in)
			assert.Equal(t, want, ok, in)
		})
	}
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	assert.Equal(t, http.StatusOK, f.send(t, "GET", "/healthz", "").Code)
	assert.Contains(t, f.send(t, "GET", "/readyz", "").Body.String(), `"ready"`)
	require.NoError(t, f.svc.Close())
	assert.Equal(t, http.StatusServiceUnavailable, f.send(t, "GET", "/readyz", "").Code)
	assert.Equal(t, http.StatusServiceUnavailable, f.send(t, "GET", "/healthz", "").Code)
}

func TestRequireAdmin(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	ring, err := newKeyring(f.svc, map[string]string{"boss": "default", "guest": "elsewhere"})
	require.NoError(t, err)
	h := RequireAdmin(ring, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	for key, want := range map[string]int{"boss": http.StatusTeapot, "guest": http.StatusForbidden, "nobody": http.StatusUnauthorized} {
		t.Run(key, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
			r.Header.Set("Authorization", "Bearer "+key)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			assert.Equal(t, want, w.Code, key)
		})
	}
}
