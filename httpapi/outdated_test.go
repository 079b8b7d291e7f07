package httpapi

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Checks in both API generations that, after a failed upsert, status and hits report that the previous version is served.
func TestOutdatedHitsSaySo(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	add := func(name, text string) {
		upload(t, f, "/v2/context/ingest", map[string]string{"database": "acme", "type": "knowledge", "document_metadata": `[{"id":"kettle"}]`}, map[string]string{name: text})
		require.NoError(t, f.svc.Drain(t.Context()))
	}
	hits := func(path, body string) string {
		w := f.do(t, http.MethodPost, path, body)
		require.Equal(t, http.StatusOK, w.Code, w.Body.String())
		return w.Body.String()
	}
	status := func() string {
		return f.do(t, http.MethodGet, "/context/status?database=acme&ids=kettle", "").Body.String()
	}
	questions := map[string]string{"/query": `{"database":"acme","query":"price of the copper kettle","type":"knowledge"}`, "/recall/full_recall": `{"tenant_id":"acme","query":"price of the copper kettle"}`}
	add("one.txt", "The price of the copper kettle is 20 euros.")
	assert.NotContains(t, status(), "serves_older_version")
	for path, body := range questions {
		got := hits(path, body)
		assert.Contains(t, got, "20 euros", path)
		assert.NotContains(t, got, "newer_version_status", path)
	}
	add("two.docx", "PK\x03\x04 this is no archive")
	assert.Contains(t, status(), `"serves_older_version":true`)
	assert.Contains(t, status(), "errored")
	for path, body := range questions {
		got := hits(path, body)
		assert.Contains(t, got, "20 euros", path)
		assert.Contains(t, got, `"newer_version_status":"errored"`, path)
	}
}
