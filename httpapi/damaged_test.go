package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/internal/wire"
)

// uploads is a service whose webhooks are kept, for tests that upload a file and look at what is told about it.
type uploads struct {
	h     http.Handler
	acme  contextmem.Sub
	hooks chan contextmem.WebhookPayload
}

func newUploads(t *testing.T) *uploads {
	t.Helper()
	r := &uploads{hooks: make(chan contextmem.WebhookPayload, 1)}
	svc, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{AllowLocalWebhooks: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, svc.Close()) })
	_, err = svc.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	require.NoError(t, svc.Tenant("acme").WaitReady(t.Context()))
	r.acme = svc.Tenant("acme").Sub("")
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		b, _ := io.ReadAll(req.Body)
		var p contextmem.WebhookPayload
		if json.Unmarshal(b, &p) == nil && p.ID != "" {
			r.hooks <- p
		}
	}))
	t.Cleanup(hook.Close)
	_, err = svc.SetWebhook(t.Context(), contextmem.WebhookSpec{URL: hook.URL})
	require.NoError(t, err)
	r.h, err = New(svc, Options{Keys: map[string]string{fullKey: contextmem.DefaultOrg}})
	require.NoError(t, err)
	return r
}

// told is what the service says of a file: the text that it read, why that may be incomplete, or why there is none.
type told struct{ text, partial, failure string }

// read uploads a file and returns what is told of it. It requires that status, inspect, fetch, list and the webhook say the same.
func (r *uploads) read(t *testing.T, name string, data []byte) told {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	require.NoError(t, w.WriteField("database", "acme"))
	p, err := w.CreateFormFile("documents", name)
	require.NoError(t, err)
	_, err = p.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/context/ingest", &b)
	req.Header.Set("Content-Type", w.FormDataContentType())
	req.Header.Set("Authorization", "Bearer "+fullKey)
	rec := httptest.NewRecorder()
	r.h.ServeHTTP(rec, req)
	if rec.Code >= 300 { // refused by its name or because it is empty
		require.Less(t, rec.Code, 500, rec.Body.String())
		return told{failure: rec.Body.String()}
	}
	var added struct {
		Data struct {
			Results []struct{ ID string } `json:"results"`
		} `json:"data"`
	}
	require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &added))
	id := added.Data.Results[0].ID
	_, err = r.acme.Wait(t.Context(), id)
	require.NoError(t, err)

	scope := "database=acme&id=" + url.QueryEscape(id)
	status := ask(t, r.h, http.MethodGet, "/context/status?database=acme&ids="+url.QueryEscape(id), "", "")["statuses"].([]any)[0].(map[string]any)
	partial, _ := status["partial"].(string)
	failure, _ := status["error_message"].(string)
	inspect := ask(t, r.h, http.MethodGet, "/context/inspect?"+scope, "", "")
	fetched := ask(t, r.h, http.MethodPost, "/fetch/content", "application/json", fmt.Sprintf(`{"tenant_id":"acme","source_id":%q}`, id))
	listed := ask(t, r.h, http.MethodPost, "/context/list", "application/json", fmt.Sprintf(`{"database":"acme","ids":[%q],"include_fields":["content"]}`, id))["sources"].([]any)[0].(map[string]any)
	for where, data := range map[string]map[string]any{"inspect": inspect, "fetch": fetched, "list": listed} {
		said, _ := data["partial"].(string)
		assert.Equal(t, partial, said, where)
	}
	select {
	case p := <-r.hooks:
		assert.Equal(t, id, p.ID)
		assert.Equal(t, partial, p.Partial, "webhook")
		assert.Equal(t, failure, wire.Text(p.ErrorMessage), "webhook")
	case <-time.After(time.Minute):
		assert.Fail(t, "no webhook")
	}
	if status["indexing_status"] == "errored" {
		assert.NotEmpty(t, failure)
		return told{failure: failure}
	}
	assert.Equal(t, "completed", status["indexing_status"])
	text, _ := listed["content"].(map[string]any)["text"].(string)
	return told{text: text, partial: partial}
}
