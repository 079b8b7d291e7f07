package httpapi

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
)

// hostileValues are JSON texts that no field of the API accepts.
var hostileValues = []string{
	`null`, `true`, `-1`, `0`, `1e308`, `1e999`, `-1e999`, `9223372036854775808`, `0.1`, `123456789012345678901234567890`, `""`, `" "`, `"\u0000"`, `"a\u0000b"`, `"\ud800"`,
	`"../../etc/passwd"`, `"a/b"`, `"a\\b"`, `".."`, `"."`, `"acme\n"`, `"ac\u202eme"`, `"%00"`, `"%2e%2e%2f"`, `"a\u001fb"`, `"$gte"`, `"' or 1=1 --"`, `"k1,k2"`,
	`[]`, `[null]`, `[[]]`, `[{}]`, `[""]`, `["a",1]`, `{}`, `{"":""}`, `{"$gte":1}`, `{"a":{"b":{"c":1}}}`, `{"id":null}`, `{"acme":0}`, `{"acme":1.55}`, `{"target":[]}`,
	`"data:text/html,x"`, `"http://127.0.0.1:1"`, `"2024-99-99"`, `"fast"`, `"NaN"`, `[NaN]`, `undefined`, `{"a":1,"a":2}`, `"\u005f\u005f"`, "\"\xff\xfe\"", "\"\x00\"", `"` + strings.Repeat("i", 1<<16) + `"`,
	`"` + strings.Repeat("../", 2000) + `"`, strings.Repeat("[", 5000) + strings.Repeat("]", 5000), strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100), `[` + strings.Repeat("1,", 5000) + `1]`,
}

// hostileFields are the names of fields that any route reads.
var hostileFields = []string{
	"tenant_id", "database", "sub_tenant_id", "collection", "collections", "sub_tenant_ids", "memories", "ids", "id", "source_id", "file_ids", "file_id", "memory_id", "query", "max_results", "mode", "alpha",
	"recency_bias", "graph_context", "additional_context", "metadata_filters", "filters", "page", "page_size", "include_fields", "source_ids", "kind", "type", "query_by", "operator", "search_mode", "embeddings",
	"query_embedding", "limit", "filter_expr", "output_fields", "chunk_ids", "tenant_metadata_schema", "database_metadata_schema", "add_fields", "is_embeddings_tenant", "embeddings_dimension", "metadata",
	"additional_metadata", "document_metadata", "file_metadata", "app_knowledge", "graph_payload", "upsert", "request_id", "feedback", "rating", "source", "ground_truth", "url", "event_types", "signing_secret",
	"generate_signing_secret", "cursor", "status", "depth", "max_sources", "acl", "titles", "expiry_seconds", "strict_filters", "provider", "credentials", "auth_type", "provider_account_scope", "sync_interval_seconds", "sync_engine", "deployment_id", "plan", "name", "user_id", "resources", "resource_id",
	"resource_type", "display_name", "database_override", "collection_override", "tenant_id_override", "sub_tenant_id_override", "provider_metadata", "instructions", "sync_mode", "lookback_days", "backfill_chunk_interval_seconds",
	"table_configs", "delete_objects", "relations", "attachments", "messages", "slot", "slots", "subject", "question", "history", "min_confidence", "timeout_seconds", "custom_instructions", "max_tokens", "from", "types", "comments", "fields", "content", "scopes", "owner", "env", "prefix", "as_of", "known_at", "temporal_intent", "temporal_now", "num_related_chunks", "request", "search_apps", "group_threads", "output_fields",
}

// plausible are fields that let a request pass the first checks.
var plausible = map[string]string{
	"tenant_id": `"acme"`, "query": `"what does it cost?"`, "ids": `["k1"]`, "source_id": `"k1"`, "memory_id": `"m1"`, "memories": `[{"text":"x"}]`, "embeddings": `[{"source_id":"v9","embeddings":[{"chunk_id":"c9","embedding":[1,2,3]}]}]`,
	"query_embedding": `[1,0,0]`, "add_fields": `[{"name":"f1"}]`, "request_id": `"7b0e3a52-6b1c-4b0e-9a42-0d6f3b1a9c11"`, "feedback": `"x"`, "id": `"k1"`, "file_ids": `["k1"]`, "metadata": `{"department":"x"}`,
	"provider": `"scripted"`, "credentials": `{"token":"abc"}`, "resources": `[{"resource_id":"r2"}]`, "resource_id": `"r2"`, "app_knowledge": `[{"tenant_id":"acme","sub_tenant_id":"","content":{"text":"x"}}]`,
}

type hostile struct {
	rng       *rand.Rand
	connector string // one that exists
}

func (h *hostile) pick(list []string) string { return list[h.rng.IntN(len(list))] }

func (h *hostile) fields() map[string]string {
	m := map[string]string{}
	if h.rng.IntN(8) > 0 {
		for k, v := range plausible {
			m[k] = v
		}
	}
	for range h.rng.IntN(3) + 1 {
		m[h.pick(hostileFields)] = h.pick(hostileValues)
	}
	return m
}

// object returns a JSON object of the fields, sometimes damaged.
func (h *hostile) object() string {
	var b strings.Builder
	b.WriteByte('{')
	first := true
	for k, v := range h.fields() {
		if !first {
			b.WriteByte(',')
		}
		first = false
		fmt.Fprintf(&b, "%q:%s", k, v)
	}
	b.WriteByte('}')
	s := b.String()
	switch h.rng.IntN(12) {
	case 0:
		return s[:h.rng.IntN(len(s))]
	case 1:
		return h.pick(hostileValues)
	case 2:
		return s + s
	case 3:
		return `{"memories":[{"text":1}],` + s[1:] // a field twice
	}
	return s
}

// form returns a multipart body, sometimes damaged.
func (h *hostile) form() string {
	var b strings.Builder
	for k, v := range h.fields() {
		if len(v) > 1 && v[0] == '"' && h.rng.IntN(3) > 0 {
			v = v[1 : len(v)-1]
		}
		fmt.Fprintf(&b, "--cut\r\nContent-Disposition: form-data; name=%q\r\n\r\n%s\r\n", k, v)
	}
	for range h.rng.IntN(3) {
		name := h.pick([]string{"x.txt", "../../x.md", "x.exe", "", "a\x00b.txt", strings.Repeat("n", 5000) + ".txt", "con.pdf", "x.zip", "x.json", "\\..\\x.csv"})
		fmt.Fprintf(&b, "--cut\r\nContent-Disposition: form-data; name=%q; filename=\"%s\"\r\nContent-Type: %s\r\n\r\n%s\r\n", h.pick([]string{"files", "documents", "document", "other"}), name,
			h.pick([]string{"text/plain", "application/pdf", "x", "text/html; charset=klingon", "multipart/mixed; boundary=cut"}), h.pick(hostileValues))
	}
	b.WriteString("--cut--\r\n")
	s := b.String()
	switch h.rng.IntN(6) {
	case 0:
		return s[:h.rng.IntN(len(s))]
	case 1:
		return strings.Replace(s, "Content-Disposition", "X", 1)
	case 2:
		return strings.Replace(s, "\r\n", "\n", h.rng.IntN(5))
	}
	return s
}

func (h *hostile) query() string {
	v := url.Values{}
	for k, x := range h.fields() {
		if len(x) < 4096 {
			v.Add(k, strings.Trim(x, `"[]`))
		}
	}
	s := v.Encode()
	switch h.rng.IntN(10) {
	case 0:
		return s + "&a=%zz"
	case 1:
		return s + "&limit=1&limit=x;y"
	case 2:
		return strings.Repeat("ids=a&", 20000)
	}
	return s
}

// request returns a request that is invalid in some way for a route.
func (h *hostile) request(t testing.TB, rt *route) *http.Request {
	path := rt.path
	for _, p := range [][2]string{{"{database}", "acme"}, {"{source_id}", "k1"}, {"{delivery_id}", "dlv_1"}, {"{connector_id}", h.connector}, {"{resource_id}", "r1"}} {
		v := strings.Trim(h.pick(hostileValues), `"`)
		if h.rng.IntN(4) > 0 || len(v) > 70000 {
			v = p[1]
		}
		path = strings.Replace(path, p[0], url.PathEscape(v), 1)
	}
	if h.rng.IntN(4) == 0 && rt.family != gen1 && !isExtension(rt.path) {
		path = "/v2" + path
	}
	if h.rng.IntN(3) == 0 || rt.body == bodyNone {
		path += "?" + h.query()
	}
	body, kind := "", "application/json"
	switch {
	case h.rng.IntN(12) == 0:
	case rt.body == bodyMultipart && h.rng.IntN(8) > 0:
		body, kind = h.form(), "multipart/form-data; boundary=cut"
	default:
		body = h.object()
	}
	if h.rng.IntN(10) == 0 {
		kind = h.pick([]string{"", "text/plain", "multipart/form-data", "multipart/form-data; boundary=", "application/json; charset=utf-16", ";;;", "application/x-www-form-urlencoded"})
	}
	r := httptest.NewRequestWithContext(t.Context(), rt.method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+fullKey)
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	if h.rng.IntN(20) == 0 {
		r.Header.Set("Authorization", h.pick([]string{"", "Bearer", "Bearer  x", "Basic abc", "Bearer \x00", "Bearer " + strings.Repeat("k", 9000)}))
	}
	return r
}

// destructive routes delete what later requests need.
var destructive = map[string]bool{"/tenants/delete": true, "/tenants": true, "/databases": true}

// allRoutes returns the routes of the contract and the extensions.
func allRoutes() (all []*route) {
	for i := range routes {
		all = append(all, &routes[i])
	}
	for i := range extensions {
		all = append(all, &extensions[i].route)
	}
	return all
}

// TestHostileRequests sends 12,000 invalid requests to all routes. None may panic or get a server error, and every
// refusal must have the documented shape.
func TestHostileRequests(t *testing.T) {
	t.Parallel()
	n := 12_000
	if testing.Short() {
		n = 1_000
	}
	log := &panicLog{}
	f := newFixture(t, Options{Logger: log.logger()})
	f.connect(t, false)
	h := &hostile{rand.New(rand.NewPCG(7, 11)), f.vars["connector"]}
	refused, all := 0, allRoutes()
	for i := range n {
		rt := all[i%len(all)]
		r := h.request(t, rt)
		if rt.method == http.MethodDelete && rt.path == "/connectors/{connector_id}" {
			r.URL.Path = strings.Replace(r.URL.Path, h.connector, "absent", 1)
		}
		if rt.method == http.MethodDelete && destructive[rt.path] {
			r.URL.RawQuery = strings.ReplaceAll(r.URL.RawQuery, "acme", "absent")
			r.Body = io.NopCloser(strings.NewReader("{"))
		}
		w := httptest.NewRecorder()
		f.ServeHTTP(w, r)
		if w.Code >= 500 {
			require.Fail(t, "the server's fault", "%d %s %.300s\n%.300s", w.Code, rt.method, r.URL.String(), w.Body.String())
		}
		require.False(t, w.Code >= 300 && w.Code < 400, "%s %s: %d", rt.method, r.URL.String(), w.Code)
		if w.Code >= 400 {
			refused++
			require.NotEmpty(t, errorCode(t, decodeAny(t, w.Body.Bytes())), "%s %s", rt.method, rt.path)
			require.LessOrEqual(t, w.Body.Len(), 4096, "an error repeats its request: %s %s", rt.method, rt.path)
		}
	}
	require.Greater(t, refused, n/2)
	require.Zero(t, log.count.Load(), "failures were logged; the last: %v", log.last.Load())
}

// TestLongIDs sends ids of 1 MB through every field that takes one.
func TestLongIDs(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{MaxBodyBytes: 4 << 20})
	id := strings.Repeat("a", 1<<20)
	for _, x := range []struct{ method, path, body string }{
		{"POST", "/tenants/create", `{"tenant_id":"` + id + `"}`},
		{"POST", "/databases", `{"database":"` + id + `"}`},
		{"POST", "/memories/add_memory", `{"tenant_id":"acme","memories":[{"source_id":"` + id + `","text":"x"}]}`},
		{"POST", "/memories/add_memory", `{"tenant_id":"acme","sub_tenant_id":"` + id + `","memories":[{"text":"x"}]}`},
		{"POST", "/fetch/content", `{"tenant_id":"acme","source_id":"` + id + `"}`},
		{"POST", "/query", `{"database":"acme","query":"` + id + `"}`},
		{"POST", "/recall/full_recall", `{"tenant_id":"` + id + `","query":"x"}`},
	} {
		t.Run(x.method, func(t *testing.T) {
			w := f.do(t, x.method, x.path, x.body)
			assert.True(t, w.Code >= 400 && w.Code < 500, "%s: %d %.200s", x.path, w.Code, w.Body.String())
			errorCode(t, decodeAny(t, w.Body.Bytes()))
			assert.Less(t, w.Body.Len(), 4096)
		})
	}
}

// FuzzJSON checks that the decoder neither panics nor accepts what it must refuse.
func FuzzJSON(f *testing.F) {
	for _, v := range hostileValues {
		f.Add([]byte(`{"a":` + v + `}`))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parseObject("body", b, DefaultMaxJSONDepth, nil)
		if err != nil {
			var ce *contextmem.Error
			require.ErrorAs(t, err, &ce)
			return
		}
		for k, v := range m.all() {
			require.NotContains(t, k, "\x00")
			for _, s := range v.plain() {
				require.NotContains(t, s, "\x00")
			}
		}
	})
}

// FuzzBodies sends a body to a route. It must be answered or refused, without a server error.
func FuzzBodies(f *testing.F) {
	h := &hostile{rng: rand.New(rand.NewPCG(3, 4))}
	for i := range routes {
		f.Add(i, []byte(h.object()))
	}
	fx := newFixture(f, Options{})
	f.Fuzz(func(t *testing.T, i int, b []byte) {
		rt := &routes[uint(i)%uint(len(routes))]
		if rt.method == http.MethodDelete {
			return
		}
		r := httptest.NewRequestWithContext(t.Context(), rt.method, strings.NewReplacer("{", "", "}", "").Replace(rt.path), bytes.NewReader(b))
		r.Header.Set("Authorization", "Bearer "+fullKey)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		fx.ServeHTTP(w, r)
		require.Less(t, w.Code, 500, w.Body.String())
	})
}

// FuzzMultipart checks that the form decoder reads or refuses a form, and leaves no file.
func FuzzMultipart(f *testing.F) {
	h := &hostile{rng: rand.New(rand.NewPCG(1, 2))}
	for range 20 {
		f.Add([]byte(h.form()))
	}
	fx := newFixture(f, Options{})
	f.Fuzz(func(t *testing.T, b []byte) {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/context/ingest", bytes.NewReader(b))
		r.Header.Set("Authorization", "Bearer "+fullKey)
		r.Header.Set("Content-Type", "multipart/form-data; boundary=cut")
		w := httptest.NewRecorder()
		fx.ServeHTTP(w, r)
		require.Less(t, w.Code, 500, w.Body.String())
	})
}

// endless is an endless body that counts the bytes read.
type endless struct {
	head *strings.Reader
	left int64
	read int64
	fail error // instead of io.EOF
}

// Read implements io.Reader.
func (e *endless) Read(p []byte) (int, error) {
	if e.head.Len() > 0 {
		n, _ := e.head.Read(p)
		e.read += int64(n)
		return n, nil
	}
	n := int(min(int64(len(p)), e.left))
	if n == 0 {
		if e.fail != nil {
			return 0, e.fail
		}
		return 0, io.EOF
	}
	for i := range p[:n] {
		p[i] = 'x'
	}
	e.left -= int64(n)
	e.read += int64(n)
	return n, nil
}

const filePartHead = "--cut\r\nContent-Disposition: form-data; name=\"database\"\r\n\r\nacme\r\n--cut\r\nContent-Disposition: form-data; name=\"documents\"; filename=\"x.txt\"\r\n\r\n"

func spooledFiles(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	return files
}

// TestHugeUpload sends a form of 1 GB, with and without a Content-Length. Both are refused early, in little memory, and
// leave no file.
func TestHugeUpload(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	svc, err := contextmem.Open(t.Context(), t.TempDir(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	h, err := New(svc, Options{Keys: map[string]string{fullKey: contextmem.DefaultOrg}})
	require.NoError(t, err)
	fieldHead := "--cut\r\nContent-Disposition: form-data; name=\"memories\"\r\n\r\n"
	for _, c := range []struct {
		head  string
		known bool
	}{{filePartHead, true}, {filePartHead, false}, {fieldHead, true}, {fieldHead, false}} {
		t.Run(c.head, func(t *testing.T) {
			body := &endless{head: strings.NewReader(c.head), left: 1 << 30}
			r := httptest.NewRequestWithContext(t.Context(), "POST", "/context/ingest", body)
			r.Header.Set("Authorization", "Bearer "+fullKey)
			r.Header.Set("Content-Type", "multipart/form-data; boundary=cut")
			limit := svc.MaxFileBytes() + 4<<20
			if c.known {
				r.ContentLength, limit = 1<<30, 0
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			runtime.ReadMemStats(&after)
			require.Contains(t, []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge}, w.Code, w.Body.String())
			require.Contains(t, []string{"FILE_TOO_LARGE", "REQUEST_TOO_LARGE"}, errorCode(t, decodeAny(t, w.Body.Bytes())))
			require.LessOrEqual(t, body.read, limit)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20))
			require.Empty(t, spooledFiles(t, dir))
		})
	}
}

// TestAbortedUpload aborts uploads at several places. No file is left.
func TestAbortedUpload(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	f := newFixture(t, Options{MaxBodyBytes: -1})
	for _, n := range []int64{0, 1, spoolAbove - 1, spoolAbove + 1, 3 * spoolAbove} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			body := &endless{head: strings.NewReader(filePartHead), left: n, fail: io.ErrUnexpectedEOF}
			r := httptest.NewRequestWithContext(t.Context(), "POST", "/context/ingest", body)
			r.Header.Set("Authorization", "Bearer "+fullKey)
			r.Header.Set("Content-Type", "multipart/form-data; boundary=cut")
			w := httptest.NewRecorder()
			f.ServeHTTP(w, r)
			require.Equal(t, http.StatusBadRequest, w.Code, w.Body.String())
			require.Empty(t, spooledFiles(t, dir))
		})
	}
}

// TestSpooledUpload ingests a file that is spooled to disk. It must be complete, and the spooled file deleted
// afterwards.
func TestSpooledUpload(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	svc, err := contextmem.Open(t.Context(), t.TempDir(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	_, err = svc.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	require.NoError(t, svc.Tenant("acme").WaitReady(t.Context()))
	h, err := New(svc, Options{Keys: map[string]string{fullKey: contextmem.DefaultOrg}})
	require.NoError(t, err)
	text := strings.Repeat("a line of text that is long enough\n", spoolAbove/30)
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/context/ingest", strings.NewReader(filePartHead+text+"\r\n--cut\r\nContent-Disposition: form-data; name=\"document_metadata\"\r\n\r\n[{\"id\":\"long\"}]\r\n--cut--\r\n"))
	r.Header.Set("Authorization", "Bearer "+fullKey)
	r.Header.Set("Content-Type", "multipart/form-data; boundary=cut")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	require.Equal(t, http.StatusAccepted, w.Code, w.Body.String())
	require.Empty(t, spooledFiles(t, dir))
	require.Eventually(t, func() bool {
		got, err := svc.Tenant("acme").Sub("").Fetch(t.Context(), contextmem.FetchRequest{ID: "long"})
		require.NoError(t, err)
		return got.SizeBytes == int64(len(text))
	}, time.Minute, 50*time.Millisecond)
	require.NoError(t, os.Remove(dir), "the directory is empty")
}
