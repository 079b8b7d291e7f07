package httpapi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
)

const million = 1_000_000

// allocated runs f and returns how many bytes it allocated.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// limitsFixture serves the seeded service without a configured limit on bodies.
func limitsFixture(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t, Options{MaxBodyBytes: -1})
	f.connect(t, false)
	return f
}

// listFieldsOf returns the paths of the list-valued fields that the requests of a route read. An index is 0.
func listFieldsOf(t reflect.Type, at string) []string {
	switch t {
	case reflect.TypeFor[memoryItems]():
		return append([]string{at}, listFieldsOf(reflect.TypeFor[memoryItem](), at+".0")...)
	case reflect.TypeFor[schemaEntries]():
		return []string{at}
	case reflect.TypeFor[related]():
		return append([]string{at}, listFieldsOf(reflect.TypeFor[relationIDs](), at)...)
	case reflect.TypeFor[embeddingSources]():
		return append([]string{at}, listFieldsOf(reflect.TypeFor[embeddingSource](), at+".0")...)
	case reflect.TypeFor[embeddingVectors]():
		return append([]string{at}, listFieldsOf(reflect.TypeFor[embeddingVector](), at+".0")...)
	case reflect.TypeFor[vector](), reflect.TypeFor[weights](), reflect.TypeFor[pairs](), reflect.TypeFor[objects](), reflect.TypeFor[anything]():
		return []string{at}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return listFieldsOf(t.Elem(), at)
	case reflect.Struct:
		var out []string
		for i := range t.NumField() {
			f := t.Field(i)
			name, ok := f.Tag.Lookup("json")
			switch {
			case !ok:
				out = append(out, listFieldsOf(f.Type, at)...)
			case ok && at == "":
				out = append(out, listFieldsOf(f.Type, name)...)
			case ok:
				out = append(out, listFieldsOf(f.Type, at+"."+name)...)
			}
		}
		return out
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Struct && t.Elem() != reflect.TypeFor[item]() {
			return append([]string{at}, listFieldsOf(t.Elem(), at+".0")...)
		}
		return []string{at}
	}
	return nil
}

// requestsOf has the structs that each route with lists reads from JSON or from a form.
var requestsOf = map[string]any{
	"POST /memories/add_memory": memoryBatch{}, "POST /context/ingest": struct {
		Memories memoriesRequest
		Files    knowledgeRequest
	}{},
	"POST /ingestion/upload_knowledge": knowledgeRequest{}, "POST /ingestion/verify_processing": verifyRequest{}, "POST /query": queryRequest{},
	"POST /knowledge/delete_knowledge": idsRequest{}, "DELETE /context": deleteRequest{}, "POST /list/data": v1ListRequest{}, "POST /context/list": v2ListRequest{},
	"POST /fetch/content": fetchOptions{}, "POST /embeddings/insert_raw_embeddings": insertRequest{}, "POST /embeddings/search_raw_embeddings": searchRequest{},
	"POST /embeddings/filter_raw_embeddings": filterRequest{}, "POST /webhooks/indexing": webhookRequest{}, "POST /feedback": feedbackRequest{},
	"POST /api-keys/create_api_key": keyRequest{}, "POST /connectors/{connector_id}/configure": configureRequest{}, "POST /connectors/{connector_id}/resources": resourceEntry{},
	"POST /tenants/create": v1TenantRequest{}, "POST /databases": v2DatabaseRequest{}, "POST /tenants": v2DatabaseRequest{},
	"PATCH /databases/{database}/metadata-schema": schemaEdit{},
}

// nest returns an object with a value at a path. 0 is the only element of a list.
func nest(path []string, value string) string {
	switch {
	case len(path) == 0:
		return value
	case path[0] == "0":
		return "[" + nest(path[1:], value) + "]"
	}
	return fmt.Sprintf("{%q:%s}", path[0], nest(path[1:], value))
}

// TestMillionEntries checks that every list-valued field of every route refuses a million entries without building
// them.
func TestMillionEntries(t *testing.T) {
	n := million
	if testing.Short() {
		n /= 10
	}
	f := limitsFixture(t)
	lists := map[string]string{"texts": `["a"` + strings.Repeat(`,"a"`, n-1) + `]`, "objects": `[{}` + strings.Repeat(`,{}`, n-1) + `]`}
	tried := 0
	for _, rt := range allRoutes() {
		v, ok := requestsOf[rt.method+" "+rt.path]
		for i := range extensions {
			if rt == &extensions[i].route {
				v, ok = extensions[i].in, true
			}
		}
		if rt.body == bodyNone {
			continue // a query string is at most 64 KiB
		}
		if !ok {
			continue
		}
		for _, path := range listFieldsOf(reflect.TypeOf(v), "") {
			for kind, list := range lists {
				r := listRequestFor(t, f, rt, path, list)
				w := httptest.NewRecorder()
				used := allocated(func() { f.ServeHTTP(w, r) })
				assert.GreaterOrEqual(t, w.Code, 400, "%s %s with %s: %s", rt.path, path, kind, w.Body)
				assert.Less(t, w.Code, 500, "%s %s with %s: %s", rt.path, path, kind, w.Body)
				assert.Less(t, used, uint64(64<<20), "%s %s with %s", rt.path, path, kind)
				tried++
			}
		}
	}
	require.Greater(t, tried, 100)
}

// listRequestFor returns a request of a route with a list at a path.
func listRequestFor(t *testing.T, f *fixture, rt *route, path, list string) *http.Request {
	t.Helper()
	target := strings.NewReplacer("{connector_id}", f.vars["connector"], "{database}", "acme").Replace(rt.path)
	steps := strings.Split(path, ".")
	var body, kind string
	if rt.body == bodyMultipart {
		kind = "multipart/form-data; boundary=cut"
		for name, v := range map[string]string{"tenant_id": "acme", steps[0]: nest(steps[1:], list)} {
			body += fmt.Sprintf("--cut\r\nContent-Disposition: form-data; name=%q\r\n\r\n%s\r\n", name, v)
		}
		if strings.HasPrefix(path, "memories") {
			body += "--cut\r\nContent-Disposition: form-data; name=\"type\"\r\n\r\nmemory\r\n"
		}
		body += "--cut--\r\n"
	} else {
		kind = "application/json"
		for k, v := range plausible {
			if k != steps[0] {
				body += fmt.Sprintf("%q:%s,", k, v)
			}
		}
		body = "{" + body + nest(steps, list)[1:]
	}
	r := httptest.NewRequestWithContext(t.Context(), rt.method, target, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+fullKey)
	r.Header.Set("Content-Type", kind)
	return r
}

// TestEveryRouteWithListsIsTried checks that requestsOf has every route whose body has lists.
func TestEveryRouteWithListsIsTried(t *testing.T) {
	t.Parallel()
	without := []string{"/recall/full_recall", "/recall/recall_preferences", "/recall/boolean_recall", "/connectors", "/connector-discovery", "/connectors/{connector_id}", "/connectors/{connector_id}/credentials",
		"/context/retry", "/connectors/{connector_id}/sync", "/connectors/{connector_id}/pause", "/connectors/{connector_id}/resume", "/webhooks/indexing/test", "/webhooks/indexing/signing-secret",
		"/webhooks/indexing/deliveries/{delivery_id}/retry", "/databases/collections", "/context/sources/{source_id}/metadata", "/context/{source_id}/metadata"}
	for _, r := range routes {
		_, ok := requestsOf[r.method+" "+r.path]
		if r.body != bodyNone && !ok && r.method != http.MethodDelete {
			assert.Contains(t, without, r.path)
		}
	}
}

// TestQueryBodies checks the separate limit of query bodies.
func TestQueryBodies(t *testing.T) {
	f := limitsFixture(t)
	nested := `{"database":"acme","query":"x","metadata_filters":{"a":` + strings.Repeat("[[],", 31<<20/8) + "[]" + strings.Repeat("]", 31<<20/8) + `}}`
	flat := `{"database":"acme","query":"x","metadata_filters":{"a":[[]` + strings.Repeat(",[]", 31<<20/3) + `]}}`
	for _, body := range []string{nested, flat} {
		t.Run(body, func(t *testing.T) {
			for _, path := range []string{"/query", "/context/list", "/recall/full_recall", "/list/data", "/fetch/content"} {
				w := httptest.NewRecorder()
				r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
				r.Header.Set("Authorization", "Bearer "+fullKey)
				used := allocated(func() { f.ServeHTTP(w, r) })
				assert.Equal(t, http.StatusRequestEntityTooLarge, w.Code, path)
				assert.Less(t, used, uint64(8<<20), path)
			}
		})
	}
	assert.Equal(t, http.StatusOK, f.do(t, http.MethodPost, "/query", `{"database":"acme","query":"x","ignored":"`+strings.Repeat("x", 900<<10)+`"}`).Code)
}

// TestNestedArraysOfIngestion checks that deeply nested arrays cost no more memory than their text on routes with
// larger bodies.
func TestNestedArraysOfIngestion(t *testing.T) {
	f := limitsFixture(t)
	const size = 8 << 20
	arrays := `[[]` + strings.Repeat(",[]", size/3) + `]`
	for _, x := range []struct{ path, body string }{
		{"/memories/add_memory", `{"tenant_id":"acme","memories":` + arrays + `}`},
		{"/memories/add_memory", `{"tenant_id":"acme","memories":[{"text":"x","metadata":{"a":` + arrays + `}}]}`},
		{"/embeddings/insert_raw_embeddings", `{"tenant_id":"vectors","embeddings":[{"source_id":"v","metadata":{"a":` + arrays + `},"embeddings":[]}]}`},
		{"/embeddings/insert_raw_embeddings", `{"tenant_id":"vectors","embeddings":` + arrays + `}`},
	} {
		t.Run(x.path, func(t *testing.T) {
			var w *httptest.ResponseRecorder
			used := allocated(func() { w = f.do(t, http.MethodPost, x.path, x.body) })
			assert.GreaterOrEqual(t, w.Code, 400, x.path)
			assert.Less(t, w.Code, 500, x.path)
			assert.Less(t, used, uint64(12*size), x.path) // the body, and copies of it: no array is built
		})
	}
}

// TestManyRelatedIDs checks that a hundred thousand related ids are refused before they are compared with one another.
func TestManyRelatedIDs(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{MaxBodyBytes: -1})
	ids := make([]string, 100_000)
	for i := range ids {
		ids[i] = fmt.Sprintf(`"id-%d"`, i)
	}
	w := f.do(t, http.MethodPost, "/memories/add_memory", `{"tenant_id":"acme","memories":[{"text":"x","relations":{"ids":[`+strings.Join(ids, ",")+`]}}]}`)
	require.Equal(t, http.StatusBadRequest, w.Code, w.Body)
	require.Contains(t, w.Body.String(), `memories[0].relations.ids`)
}

// TestStatusLimits checks that the ids of a status request are limited, and without a tenant the number of tenants
// times ids.
func TestStatusLimits(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{MaxBodyBytes: -1})
	ids := `["a"` + strings.Repeat(`,"a"`, maxStatusIDs) + `]`
	for _, tenant := range []string{"", `,"tenant_id":"acme"`} {
		t.Run(tenant, func(t *testing.T) {
			w := f.do(t, http.MethodPost, "/ingestion/verify_processing", `{"file_ids":`+ids+tenant+`}`)
			require.Equal(t, http.StatusBadRequest, w.Code, w.Body)
			require.Contains(t, w.Body.String(), "file_ids")
		})
	}
	w := f.do(t, http.MethodPost, "/ingestion/verify_processing", `{"file_ids":["`+strings.Repeat("a,", maxStatusIDs+1)+`"],"tenant_id":"acme"}`)
	require.Equal(t, http.StatusBadRequest, w.Code, "commas make ids, too")
	w = f.do(t, http.MethodGet, "/context/status?database=acme"+strings.Repeat("&ids=a", maxStatusIDs+1), "")
	require.Equal(t, http.StatusBadRequest, w.Code, w.Body)
	require.Contains(t, w.Body.String(), `ids`)

	looked := 0
	c := &call{rt: &route{family: gen1}}
	tenants := make([]contextmem.TenantInfo, 1000)
	_, err := c.lookEverywhere(make([]string, 1000), tenants, func(contextmem.TenantInfo, []string) ([]contextmem.ItemStatus, error) { looked++; return nil, nil })
	require.Error(t, err)
	require.Zero(t, looked)
	found, err := c.lookEverywhere([]string{"a", "b"}, tenants, func(_ contextmem.TenantInfo, ids []string) ([]contextmem.ItemStatus, error) {
		looked++
		out := make([]contextmem.ItemStatus, len(ids))
		for i, id := range ids {
			out[i] = contextmem.ItemStatus{ID: id, Unknown: i > 0}
		}
		return out, nil
	})
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.Equal(t, 2, looked, "each tenant is asked only for what was not found yet")
}
