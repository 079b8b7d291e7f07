package httpapi

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
)

// presignedBy requests a presigned URL.
func presignedBy(t *testing.T, h http.Handler, set func(r *http.Request)) string {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/context/inspect?database=acme&id=k1&mode=url", nil)
	r.Header.Set("Authorization", "Bearer "+fullKey)
	set(r)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	return decodeAny(t, w.Body.Bytes()).(map[string]any)["data"].(map[string]any)["presigned_url"].(string)
}

// Checks that a presigned URL has the address under which its caller reached the handler, and works there.
func TestPresignedURLIsAbsolute(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}})
	forwarded := func(r *http.Request) {
		r.Header.Set("X-Forwarded-Proto", "https")
		r.Header.Set("X-Forwarded-Host", "evil.example, mem.example.com")
		r.Header.Set("X-Forwarded-Prefix", "/api/")
	}
	mounted := http.StripPrefix("/memory", f)
	for _, x := range []struct {
		name string
		h    http.Handler
		set  func(r *http.Request)
		want string
	}{
		{"host", f, func(r *http.Request) { r.Host = "mem.local:8080" }, "http://mem.local:8080/content/"},
		{"tls", f, func(r *http.Request) { r.Host, r.TLS = "mem.local", &tls.ConnectionState{} }, "https://mem.local/content/"},
		{"forwarded by anybody", f, func(r *http.Request) { r.Host, r.RemoteAddr = "mem.local", "192.0.2.1:1"; forwarded(r) }, "http://mem.local/content/"},
		{"forwarded by the proxy", f, func(r *http.Request) { r.Host, r.RemoteAddr = "mem.local", "10.1.2.3:1"; forwarded(r) }, "https://mem.example.com/api/content/"},
		{"odd host", f, func(r *http.Request) { r.Host = "a/b" }, "/content/"},
		{"mounted", mounted, func(r *http.Request) {
			r.Host, r.URL.Path, r.RequestURI = "mem.local", "/memory"+r.URL.Path, "/memory"+r.RequestURI
		}, "http://mem.local/memory/content/"},
	} {
		t.Run(x.name, func(t *testing.T) {
			got := presignedBy(t, x.h, x.set)
			assert.True(t, strings.HasPrefix(got, x.want), "%s: %s", x.name, got)
			u, err := url.Parse(got)
			require.NoError(t, err)
			assert.Equal(t, http.StatusOK, get(t, f, u.Path[strings.Index(u.Path, "/content/"):]).Code, x.name)
		})
	}

	svc, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{PublicURL: "https://own.example/x/"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, svc.Close()) })
	c := &call{api: &api{svc: svc}, r: httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)}
	require.Equal(t, "https://own.example/x/content/t", c.absolute("https://own.example/x/content/t"))
	require.Empty(t, c.absolute(""))
}

// Checks that a list over all classes has full pages and contains each item once.
func TestListOfAllClasses(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	s := f.svc.Tenant("acme").Sub("lists")
	ids := []string{}
	for i := range 7 {
		_, err := s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: fmt.Sprint("m", i), Text: fmt.Sprint("memory ", i)}}})
		require.NoError(t, err)
		ids = append(ids, fmt.Sprint("m", i))
	}
	for i := range 5 {
		_, err := s.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: fmt.Sprint("f", i), Name: fmt.Sprint(i, ".txt"), Data: []byte(fmt.Sprint("file ", i))}}})
		require.NoError(t, err)
		ids = append(ids, fmt.Sprint("f", i))
	}
	wait(t, s, ids...)
	for size := 1; size <= 13; size++ {
		seen := []string{}
		for page := 1; ; page++ {
			w := f.do(t, http.MethodPost, "/context/list", fmt.Sprintf(`{"database":"acme","collection":"lists","type":"all","page":%d,"page_size":%d}`, page, size))
			require.Equal(t, http.StatusOK, w.Code, w.Body)
			data := decodeAny(t, w.Body.Bytes()).(map[string]any)["data"].(map[string]any)
			rows := append(data["sources"].([]any), data["user_memories"].([]any)...)
			for _, row := range rows {
				m := row.(map[string]any)
				seen = append(seen, m["id"].(string))
				for _, name := range []string{"database", "tenant_id"} {
					require.Equal(t, "acme", m[name])
				}
				for _, name := range []string{"collection", "sub_tenant_id"} {
					require.Equal(t, "lists", m[name])
				}
			}
			p := data["pagination"].(map[string]any)
			require.EqualValues(t, "12", p["total"])
			if p["has_next"] == false {
				break
			}
			require.Len(t, rows, size)
		}
		require.ElementsMatch(t, ids, seen, "pages of %d", size)
	}
}

// Checks that a deletion never depends on an ignored field.
func TestClassOfDeletion(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	s := f.svc.Tenant("acme").Sub("")
	both := func() {
		_, err := s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "both", Text: "A memory."}}})
		require.NoError(t, err)
		_, err = s.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: "both", Name: "both.txt", Data: []byte("A file.")}}})
		require.NoError(t, err)
		require.NoError(t, f.svc.Drain(t.Context()))
	}
	left := func() (out []string) {
		for name, class := range map[string]contextmem.Class{"knowledge": contextmem.ClassKnowledge, "memory": contextmem.ClassMemory} {
			p, err := s.List(t.Context(), contextmem.ListRequest{Class: class, IDs: []string{"both"}})
			require.NoError(t, err)
			if p.Total > 0 {
				out = append(out, name)
			}
		}
		return out
	}
	for _, x := range []struct {
		method, target, body string
		status               int
		left                 []string
	}{
		{"DELETE", "/context", `{"database":"acme","ids":["both"],"kind":"memory"}`, 200, []string{"knowledge"}},
		{"DELETE", "/context?database=acme&ids=both&kind=memory", "", 200, []string{"knowledge"}},
		{"DELETE", "/context", `{"database":"acme","ids":["both"]}`, 200, []string{"memory"}},
		{"DELETE", "/context", `{"database":"acme","ids":["both"],"type":"all"}`, 200, nil},
		{"DELETE", "/context", `{"database":"acme","ids":["both"],"type":"Memory"}`, 400, []string{"knowledge", "memory"}},
		{"DELETE", "/context", `{"database":"acme","ids":["both"],"kind":"files"}`, 400, []string{"knowledge", "memory"}},
		{"DELETE", "/context", `{"database":"acme"}`, 400, []string{"knowledge", "memory"}},
		{"POST", "/knowledge/delete_knowledge", `{"tenant_id":"acme","ids":["both"],"kind":"memory"}`, 400, []string{"knowledge", "memory"}},
		{"POST", "/knowledge/delete_knowledge", `{"tenant_id":"acme","ids":["both"],"type":"knowledge"}`, 200, []string{"memory"}},
		{"DELETE", "/memories/delete_memory?tenant_id=acme&memory_id=both&type=knowledge", "", 400, []string{"knowledge", "memory"}},
		{"DELETE", "/memories/delete_memory?tenant_id=acme&memory_id=both", "", 200, []string{"knowledge"}},
	} {
		t.Run(x.method, func(t *testing.T) {
			both()
			w := f.do(t, x.method, x.target, x.body)
			require.Equal(t, x.status, w.Code, "%s %s: %s", x.target, x.body, w.Body)
			require.ElementsMatch(t, x.left, left(), "%s %s", x.target, x.body)
		})
	}
	w := f.do(t, http.MethodDelete, "/context", `{"database":"acme"}`)
	require.Equal(t, "INVALID_PARAMETERS", errorCode(t, decodeAny(t, w.Body.Bytes())))
	both()
	w = f.do(t, http.MethodDelete, "/context", `{"database":"acme","ids":["both","none"],"type":"all"}`)
	require.Contains(t, w.Body.String(), `"deleted_count":1`)
}

// Checks that every error has its message at the top level in every route.
func TestErrorsHaveTheirMessageAtTheTop(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	for _, target := range []string{"/tenants/monitor", "/databases/status", "/tenants/status", "/webhooks/indexing/deliveries/none", "/connectors/none", "/nothing"} {
		t.Run(target, func(t *testing.T) {
			w := f.do(t, http.MethodGet, target, "")
			m := decodeAny(t, w.Body.Bytes()).(map[string]any)
			inner := m["detail"]
			if inner == nil {
				inner = m["error"]
			}
			require.NotEmpty(t, m["message"], target)
			require.Equal(t, inner.(map[string]any)["message"], m["message"], target)
		})
	}
}

// TestURLEncodedForms checks that a form without files may be URL-encoded, in both generations, with the same limits.
func TestURLEncodedForms(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	const kind = "application/x-www-form-urlencoded"
	form := url.Values{"tenant_id": {"acme"}, "sub_tenant_id": {""}, "app_knowledge": {`[{"tenant_id":"acme","sub_tenant_id":"","id":"a1","content":{"text":"The dock is closed."}}]`}}
	for _, path := range []string{"/ingestion/upload_knowledge", "/context/ingest"} {
		t.Run(path, func(t *testing.T) {
			w := f.send(t, http.MethodPost, path, form.Encode(), "Content-Type", kind)
			require.Less(t, w.Code, 300, w.Body)
			require.Contains(t, w.Body.String(), `"id":"a1"`)
		})
	}
	for body, want := range map[string]int{
		"database=acme&database=other": 400, "database=acme&a=%zz": 400, "database=acme&type=memory&memories=%00": 400, "database=acme&memories=[]": 400, strings.Repeat("a=1&", 100): 400, "": 400,
	} {
		t.Run(body, func(t *testing.T) {
			require.Equal(t, want, f.send(t, http.MethodPost, "/context/ingest", body, "Content-Type", kind).Code, body)
		})
	}
}
