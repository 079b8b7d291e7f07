package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
)

// upload posts files with fields to the routes of both generations and returns the data of the answer.
func upload(t *testing.T, h http.Handler, route string, fields map[string]string, files map[string]string) map[string]any {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for k, v := range fields {
		require.NoError(t, w.WriteField(k, v))
	}
	for name, text := range files {
		p, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf(`form-data; name="files"; filename=%q`, name)}})
		require.NoError(t, err)
		_, err = p.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return ask(t, h, http.MethodPost, route, w.FormDataContentType(), b.String())
}

// ask sends a request that must succeed and returns the data of the answer.
func ask(t *testing.T, h http.Handler, method, route, contentType, body string) map[string]any {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, route, strings.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Authorization", "Bearer "+fullKey)
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	require.Less(t, rec.Code, 300, rec.Body.String())
	var out map[string]any
	require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &out))
	if data, ok := out["data"].(map[string]any); ok {
		return data
	}
	return out
}

func TestDocumentsOverREST(t *testing.T) {
	t.Parallel()
	svc, err := contextmem.New(t.Context(), inmem.New(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, svc.Close()) })
	_, err = svc.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	require.NoError(t, svc.Tenant("acme").WaitReady(t.Context()))
	h, err := New(svc, Options{Keys: map[string]string{fullKey: contextmem.DefaultOrg}})
	require.NoError(t, err)
	for gen, c := range map[string]struct{ add, scope, recall, fetch, list, status string }{
		"first":  {"/ingestion/upload_knowledge", "tenant_id", "/recall/full_recall", "/fetch/content", "/list/data", "/ingestion/verify_processing"},
		"second": {"/context/ingest", "database", "/query", "", "/context/list", ""},
	} {
		t.Run(gen, func(t *testing.T) {
			sub := "sub_tenant_id"
			if gen == "second" {
				sub = "collection"
			}
			fields := map[string]string{c.scope: "acme", sub: gen, "skip_unchanged": "true"}
			files := map[string]string{"birds/waders/heron.rtf": `{\rtf1\ansi{\stylesheet{\s1 heading 1;}}\pard\s1 Heron\par\pard The heron is a wader. It takes fish.\par{\b cut`, "b.7z": "7z"}
			data := upload(t, h, c.add, fields, files)
			require.EqualValues(t, 1, data["success_count"])
			require.EqualValues(t, 1, data["failed_count"])
			id := ""
			for _, x := range data["results"].([]any) {
				if r := x.(map[string]any); r["status"] == "queued" {
					id = r["id"].(string)
				} else {
					require.Contains(t, r["error"], "one by one")
				}
			}
			_, err := svc.Tenant("acme").Sub(gen).Wait(t.Context(), id)
			require.NoError(t, err)
			fields["skip_unsupported"] = "true"
			data = upload(t, h, c.add, fields, files)
			require.EqualValues(t, 2, data["skipped_count"])
			require.Equal(t, true, data["success"])

			scope := fmt.Sprintf(`"%s":"acme","%s":%q`, c.scope, sub, gen)
			data = ask(t, h, http.MethodPost, c.recall, "application/json", `{`+scope+`,"query":"what does the heron take? waders"}`)
			chunk := data["chunks"].([]any)[0].(map[string]any)
			passage := chunk["passage"].(map[string]any)
			require.Equal(t, chunk["chunk_content"].(string)[int(passage["start"].(float64)):int(passage["end"].(float64))], passage["text"])
			require.Contains(t, passage["text"], "It takes fish.")
			require.Equal(t, "Heron", chunk["heading"])
			partial := data["sources"].([]any)[0].(map[string]any)["partial"]
			require.NotEmpty(t, partial)

			data = ask(t, h, http.MethodPost, c.list, "application/json", `{`+scope+`,"include_fields":["content"]}`)
			listed := data["sources"].([]any)[0].(map[string]any)
			require.Equal(t, partial, listed["partial"])
			require.NotContains(t, listed["content"].(map[string]any)["text"], `\rtf`)

			for original, want := range map[bool]string{false: "The heron is a wader.", true: `{\rtf1`} {
				if gen == "first" {
					data = ask(t, h, http.MethodPost, c.fetch, "application/json", fmt.Sprintf(`{%s,"source_id":%q,"original":%v}`, scope, id, original))
				} else {
					data = ask(t, h, http.MethodGet, fmt.Sprintf("/context/inspect?database=acme&collection=%s&id=%s&original=%v", gen, id, original), "", "")
				}
				require.Contains(t, data["content"], want)
				require.Equal(t, partial, data["partial"])
			}
		})
	}
}
