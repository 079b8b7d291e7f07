package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
)

// send is do with headers.
func (f *fixture) send(t testing.TB, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+fullKey)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w
}

const formType = "multipart/form-data; boundary=cut"

// Checks that a truncated form is rejected wherever it is cut, and that none of its data is kept.
func TestCutForm(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	form := strings.ReplaceAll(`--cut
Content-Disposition: form-data; name="database"

acme
--cut
Content-Disposition: form-data; name="documents"; filename="cut.md"

Text of the file, in which --cut-- stands.
--cut
Content-Disposition: form-data; name="document_metadata"

[{"id":"cut"}]
--cut--
`, "\n", "\r\n")
	whole := strings.LastIndex(form, "--cut--") + len("--cut--")
	for n := range len(form) {
		w := f.send(t, http.MethodPost, "/context/ingest", form[:n], "Content-Type", formType)
		if n < whole {
			require.Equal(t, http.StatusBadRequest, w.Code, "%d: %s", n, form[max(0, n-30):n])
			continue
		}
		require.Equal(t, http.StatusAccepted, w.Code, "%d: %s", n, w.Body)
	}
}

// TestFinalBoundary checks that the last boundary is found however the body is split into reads.
func TestFinalBoundary(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"--cut--": true, "a\r\n--cut--\r\n": true, "a--cut--": false, "\r\n--cut-": false, "\r\n--cut\r\n--cut--tail": true, "": false} {
		t.Run(text, func(t *testing.T) {
			for size := 1; size <= len(text)+1; size++ {
				f := &finalBoundary{r: strings.NewReader(text), mark: []byte("\n--cut--"), tail: []byte("\n")}
				var err error
				for err == nil {
					_, err = f.Read(make([]byte, size))
				}
				require.Equal(t, want, f.seen, "%q by %d", text, size)
			}
		})
	}
}

// Checks that an unwritable upload directory is reported as a temporary server error.
func TestNoRoomForUploads(t *testing.T) {
	f := newFixture(t, Options{MaxBodyBytes: -1})
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "absent"))
	w := f.send(t, http.MethodPost, "/context/ingest", filePartHead+strings.Repeat("x", 2*spoolAbove)+"\r\n--cut--\r\n", "Content-Type", formType)
	require.Equal(t, http.StatusServiceUnavailable, w.Code, w.Body)
	require.Equal(t, "1", w.Header().Get("Retry-After"))
	require.NotContains(t, w.Body.String(), os.TempDir())

	to := &spoolWriter{w: fullDisk{}}
	_, err := to.Write([]byte("x"))
	require.Error(t, err)
	require.ErrorIs(t, to.err, errFull)
}

var errFull = errors.New("no space left on device")

type fullDisk struct{}

// Write implements io.Writer.
func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

// Checks that a backend's error about its files is logged but not sent to the client.
func TestNoPathsInErrors(t *testing.T) {
	t.Parallel()
	log := &panicLog{}
	c := &call{api: &api{o: Options{Logger: log.logger()}}, rt: &route{family: gen2}}
	secret := "open /var/lib/contextmem/tenants/ab/store.db: input/output error"
	for _, kind := range []fault.Kind{fault.KindUnavailable, fault.KindInternal} {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			log.count.Store(0)
			err := &contextmem.Error{Op: "recall", Kind: kind, Err: errors.New(secret)}
			a, message := c.describe(err)
			assert.GreaterOrEqual(t, a.status, 500)
			assert.NotContains(t, message, "/")
			assert.NotContains(t, c.errorText(err), "/")
			assert.Contains(t, log.last.Load(), "store.db")
			assert.EqualValues(t, 2, log.count.Load())
		})
	}
	_, message := c.describe(errHeld)
	assert.Contains(t, message, "too many large requests")
}

// TestTypesOfLists checks the types of list fields: a pair needs both sides, and a list must be a list.
func TestTypesOfLists(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	for _, pair := range []string{`{"user":"a"}`, `{"assistant":"b"}`, `{"user":"a","assistant":null}`, `{}`} {
		t.Run(pair, func(t *testing.T) {
			w := f.do(t, http.MethodPost, "/memories/add_memory", `{"tenant_id":"acme","memories":[{"user_assistant_pairs":[`+pair+`]}]}`)
			assert.Equal(t, http.StatusUnprocessableEntity, w.Code, pair)
			assert.Equal(t, "INVALID_MEMORY_FORMAT", errorCode(t, decodeAny(t, w.Body.Bytes())))
		})
	}
	require.Equal(t, http.StatusOK, f.do(t, http.MethodPost, "/memories/add_memory", `{"tenant_id":"acme","memories":[{"user_assistant_pairs":[{"user":"a","assistant":""}]}]}`).Code)
	for _, x := range []struct{ method, path, body string }{
		{"POST", "/context/list", `{"database":"acme","ids":"k1"}`}, {"POST", "/query", `{"database":"acme","query":"x","ids":"k1"}`}, {"POST", "/query", `{"database":"acme","query":"x","collections":"a"}`},
		{"POST", "/knowledge/delete_knowledge", `{"tenant_id":"acme","ids":"k1"}`}, {"DELETE", "/context", `{"database":"acme","ids":"k1"}`}, {"POST", "/query", `{"database":"acme","query":"x","acl":"a"}`},
	} {
		t.Run(x.method, func(t *testing.T) {
			w := f.do(t, x.method, x.path, x.body)
			assert.Equal(t, http.StatusUnprocessableEntity, w.Code, "%s %s: %s", x.path, x.body, w.Body)
		})
	}
	require.Equal(t, http.StatusOK, f.do(t, http.MethodDelete, "/context?database=acme&ids=none", "").Code)
}

// TestRequestID checks that a request keeps its caller's id if that is a UUID.
func TestRequestID(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	const id = "7b0e3a52-6b1c-4b0e-9a42-0d6f3b1a9c11"
	w := f.send(t, http.MethodPost, "/query", `{"database":"acme","query":"pricing"}`, "X-Request-ID", id)
	require.Equal(t, id, w.Header().Get("X-Request-ID"))
	require.Equal(t, id, decodeAny(t, w.Body.Bytes()).(map[string]any)["meta"].(map[string]any)["request_id"])
	w = f.do(t, http.MethodPost, "/feedback", `{"request_id":"`+id+`","feedback":"fine"}`)
	require.Contains(t, w.Body.String(), `"request_known":true`)
	for _, bad := range []string{"", "1", strings.ToUpper(id), id + "0", strings.Replace(id, "-", "_", 1), "7b0e3a52-6b1c-4b0e-9a42-0d6f3b1a9c1\n"} {
		t.Run(bad, func(t *testing.T) {
			w := f.send(t, http.MethodGet, "/databases", "", "X-Request-ID", bad)
			require.NotEqual(t, bad, w.Header().Get("X-Request-ID"))
			require.True(t, isUUID(w.Header().Get("X-Request-ID")))
		})
	}
}

// TestUnknownFields checks that unknown fields of a query or a list are named in warnings.
func TestUnknownFields(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	for _, x := range []struct {
		path, body string
		want       []string
	}{
		{"/query", `{"database":"acme","query":"x","top_k":3,"filter":{}}`, []string{"filter", "top_k"}},
		{"/query", `{"tenant_id":"acme","query":"x","sub_tenant_ids":["a"],"search_apps":false,"temporal_now":"2024-01-01","mode":"fast","as_of":"2024-01-01"}`, nil},
		{"/query", `{"database":"acme","query":"x","query_by":"text","operator":"and","limit":3}`, []string{"limit"}},
		{"/context/list", `{"database":"acme","group_threads":false,"offset":3}`, []string{"offset"}},
		{"/context/list", `{"database":"acme","offset":3,"filters":{"metadata":{},"source_fields":{},"dept":"eng","author":"x"}}`, []string{"offset", "filters.author", "filters.dept"}},
		{"/context/list", `{"database":"acme","type":"all","filters":{"dept":"eng"}}`, []string{"filters.dept"}},
		{"/context/list", `{"database":"acme","collection":"a","ids":[],"page":1,"page_size":5,"filters":{},"include_fields":null,"acl":[],"type":"memory"}`, nil},
	} {
		t.Run(x.path, func(t *testing.T) {
			w := f.do(t, http.MethodPost, x.path, x.body)
			require.Equal(t, http.StatusOK, w.Code, w.Body)
			var got []string
			meta := decodeAny(t, w.Body.Bytes()).(map[string]any)["meta"].(map[string]any)
			list, _ := meta["warnings"].([]any)
			for _, e := range list {
				if m := e.(map[string]any); m["code"] == "unknown_field" {
					got = append(got, m["field"].(string))
				}
			}
			require.Equal(t, x.want, got, x.body)
		})
	}
	many := `{"database":"acme","query":"x"`
	for i := range 100 {
		many += `,"f` + strings.Repeat("x", i) + `":1`
	}
	w := f.do(t, http.MethodPost, "/query", many+"}")
	require.Equal(t, maxUnknown, strings.Count(w.Body.String(), "unknown_field"))
}

// TestAppItemNamesTheDefaultPartition checks that an app item may name the default partition while its form names none.
func TestAppItemNamesTheDefaultPartition(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	send := func(sub, item string) int {
		form := "--cut\r\nContent-Disposition: form-data; name=\"database\"\r\n\r\nacme\r\n"
		if sub != "" {
			form += "--cut\r\nContent-Disposition: form-data; name=\"collection\"\r\n\r\n" + sub + "\r\n"
		}
		form += "--cut\r\nContent-Disposition: form-data; name=\"app_knowledge\"\r\n\r\n[{\"content\":{\"text\":\"x\"}," + item + "}]\r\n--cut--\r\n"
		return f.send(t, http.MethodPost, "/context/ingest", form, "Content-Type", formType).Code
	}
	for _, x := range []struct {
		sub, item string
		want      int
	}{
		{"", `"collection":"default"`, 202}, {"", `"sub_tenant_id":"acme"`, 202}, {"", `"collection":""`, 202}, {"acme", `"collection":""`, 202}, {"default", `"collection":"acme"`, 202},
		{"", `"collection":"other"`, 400}, {"a", `"collection":""`, 400}, {"a", `"collection":"default"`, 400}, {"a", `"collection":"a"`, 202}, {"", `"database":"other"`, 400},
	} {
		t.Run(x.sub, func(t *testing.T) {
			assert.Equal(t, x.want, send(x.sub, x.item), "%q %s", x.sub, x.item)
		})
	}
}
