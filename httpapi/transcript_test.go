package httpapi

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the responses of the transcripts anew")

// section is a file of a txtar archive: a line "-- name --", then its text.
type section struct{ name, text string }

// readTxtar returns the comment above the first section, and the sections.
func readTxtar(t testing.TB, file string) (comment string, out []section) {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	for line := range strings.Lines(string(b)) {
		name, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "-- ")
		if ok {
			name, ok = strings.CutSuffix(name, " --")
		}
		switch {
		case ok:
			out = append(out, section{name: name})
		case len(out) == 0:
			comment += line
		default:
			out[len(out)-1].text += line
		}
	}
	return comment, out
}

// exchange is a request of a transcript and the expected response.
type exchange struct {
	file, name, request, response string
}

func readTranscript(t testing.TB, file string) (setups []string, out []exchange) {
	t.Helper()
	comment, sections := readTxtar(t, file)
	for line := range strings.Lines(comment) {
		if s, ok := strings.CutPrefix(strings.TrimSpace(line), "setup: "); ok {
			setups = append(setups, s)
		}
	}
	for _, s := range sections {
		name, kind, _ := strings.Cut(s.name, ".")
		switch kind {
		case "request":
			out = append(out, exchange{file: file, name: name, request: s.text})
		case "response":
			require.NotEmpty(t, out)
			require.Equal(t, out[len(out)-1].name, name)
			out[len(out)-1].response = s.text
		default:
			require.Fail(t, "section is neither request nor response", s.name)
		}
	}
	return setups, out
}

func transcriptFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/transcripts/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

var variable = regexp.MustCompile(`\$\{[a-z]+\}`)

// build returns the request written in a transcript: a line with method and target, header lines, an empty line, and
// the body.
func (f *fixture) build(t testing.TB, text string) *http.Request {
	t.Helper()
	text = variable.ReplaceAllStringFunc(text, func(v string) string {
		s, ok := f.vars[v[2:len(v)-1]]
		require.True(t, ok, "%s is not set", v)
		return s
	})
	head, body, _ := strings.Cut(text, "\n\n")
	lines := strings.Split(strings.TrimSpace(head), "\n")
	method, target, ok := strings.Cut(lines[0], " ")
	require.True(t, ok, lines[0])
	h := http.Header{"Authorization": {"Bearer " + fullKey}}
	for _, l := range lines[1:] {
		k, v, ok := strings.Cut(l, ":")
		require.True(t, ok, l)
		if v = strings.TrimSpace(v); v == "" {
			h.Del(k)
			continue
		}
		h.Set(k, v)
	}
	body = strings.TrimSuffix(body, "\n")
	if strings.HasPrefix(h.Get("Content-Type"), "multipart/") {
		body = strings.ReplaceAll(body, "\n", "\r\n") + "\r\n"
	} else if body != "" && h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/json")
	}
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	r.Header = h
	return r
}

// shownHeaders are the response headers in transcripts.
var shownHeaders = []string{"Allow", "Content-Type", "Content-Disposition", "Content-Range", "Deprecation", "Retry-After", "Warning", "WWW-Authenticate"}

func render(t testing.TB, w *httptest.ResponseRecorder) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintln(&b, w.Code)
	for _, h := range shownHeaders {
		if v := w.Header().Get(h); v != "" && (h != "Content-Type" || v != "application/json; charset=utf-8") {
			fmt.Fprintf(&b, "%s: %s\n", h, v)
		}
	}
	b.WriteByte('\n')
	if !strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		b.WriteString(strings.TrimSuffix(w.Body.String(), "\n") + "\n")
		return b.String()
	}
	out, err := json.MarshalIndent(mask("", decodeAny(t, w.Body.Bytes())), "", "  ")
	require.NoError(t, err)
	b.Write(out)
	b.WriteByte('\n')
	return b.String()
}

func decodeAny(t testing.TB, b []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	require.NoError(t, d.Decode(&v), "%s", b)
	return v
}

var (
	volatileKeys  = []string{"latency_ms", "full_api_key", "signing_secret", "presigned_url", "webhook_url", "relevancy_score", "relevance", "score", "distance", "score_parts", "confidence", "uptime_seconds"}
	volatileValue = regexp.MustCompile(`^([0-9a-f]{32}|(dlv|fb|key|ak|conn|cred|sync-conn)_[0-9A-Za-z_]+|[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d-\d\dT[0-9:.]+Z|http://127\.0\.0\.1:\d+.*)$`)
)

// mask replaces values that differ between runs by "*".
func mask(key string, v any) any {
	if v != nil && slices.Contains(volatileKeys, key) {
		return "*"
	}
	switch x := v.(type) {
	case map[string]any:
		for k, e := range x {
			x[k] = mask(k, e)
		}
	case []any:
		for i, e := range x {
			x[i] = mask(key, e)
		}
	case string:
		if volatileValue.MatchString(x) {
			return "*"
		}
	}
	return v
}

func TestTranscripts(t *testing.T) {
	t.Parallel()
	for _, file := range transcriptFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			comment, _ := readTxtar(t, file)
			setups, list := readTranscript(t, file)
			f := newFixture(t, Options{})
			for _, s := range setups {
				f.setup(t, s)
			}
			var out strings.Builder
			out.WriteString(comment)
			for _, x := range list {
				w := httptest.NewRecorder()
				f.ServeHTTP(w, f.build(t, x.request))
				got := render(t, w)
				if strings.Contains(x.request, "/resume") { // the sync that is due may have begun
					got = strings.Replace(got, `"sync_status": "running"`, `"sync_status": "idle"`, 1)
				}
				fmt.Fprintf(&out, "-- %s.request --\n%s-- %s.response --\n%s", x.name, x.request, x.name, got)
				if !*update {
					assert.Equal(t, x.response, got, "%s: %s", x.name, x.request)
				}
			}
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(out.String()), 0o644))
			}
		})
	}
}

// status returns the status in the expected response.
func (x *exchange) status(t testing.TB) int {
	t.Helper()
	var n int
	_, err := fmt.Sscanf(x.response, "%d", &n)
	require.NoError(t, err, "%s %s", x.file, x.name)
	return n
}

// body returns the expected response's JSON, or nil.
func (x *exchange) body(t testing.TB) any {
	t.Helper()
	_, body, _ := strings.Cut(x.response, "\n\n")
	if !strings.HasPrefix(body, "{") && !strings.HasPrefix(body, "[") {
		return nil
	}
	return decodeAny(t, []byte(body))
}

// routeMux returns a mux that finds the route of a request.
func routeMux() *http.ServeMux {
	mux := http.NewServeMux()
	for _, r := range routes {
		mux.HandleFunc(r.method+" "+r.path, func(http.ResponseWriter, *http.Request) {})
	}
	return mux
}

// routeOf returns method and path pattern of an exchange's request, or "" if no route matches.
func (x *exchange) routeOf(t testing.TB, mux *http.ServeMux) string {
	t.Helper()
	line, _, _ := strings.Cut(x.request, "\n")
	method, target, _ := strings.Cut(line, " ")
	target = strings.TrimPrefix(variable.ReplaceAllString(target, "x"), "/v2")
	_, pattern := mux.Handler(httptest.NewRequestWithContext(t.Context(), method, "/"+strings.TrimPrefix(target, "/"), nil))
	return pattern
}

func TestEveryRouteHasTranscripts(t *testing.T) {
	t.Parallel()
	mux := routeMux()
	good, failed := map[string]bool{}, map[string]bool{}
	for _, file := range transcriptFiles(t) {
		_, list := readTranscript(t, file)
		for _, x := range list {
			if s := x.status(t); s < 300 {
				good[x.routeOf(t, mux)] = true
			} else {
				failed[x.routeOf(t, mux)] = true
			}
		}
	}
	for _, r := range routes {
		p := r.method + " " + r.path
		assert.True(t, good[p], "%s has no transcript of a success", p)
		assert.True(t, failed[p], "%s has no transcript of an error", p)
	}
}

// documentedCodes are the error codes of the contract, with their statuses.
var documentedCodes = map[string]int{
	"INVALID_PARAMETERS": 400, "INVALID_TENANT_ID": 400, "INVALID_SEARCH_PARAMETERS": 400, "INVALID_FILE_FORMAT": 400, "FILE_TOO_LARGE": 400,
	"UNAUTHORIZED": 401, "FORBIDDEN": 403, "TENANT_NOT_FOUND": 404, "DATABASE_NOT_FOUND": 404, "SOURCE_NOT_FOUND": 404, "MEMORY_NOT_FOUND": 404, "FILE_NOT_FOUND": 404,
	"TENANT_ALREADY_EXISTS": 409, "DATABASE_ALREADY_EXISTS": 409, "INVALID_INPUT": 409, "VALIDATION_ERROR": 422, "INVALID_MEMORY_FORMAT": 422,
	"INVALID_EMBEDDING_FORMAT": 422, "RATE_LIMITED": 429, "INTERNAL_ERROR": 500, "SERVICE_UNAVAILABLE": 503,
	"METHOD_NOT_ALLOWED": 405, "NOT_FOUND": 404, "CONFLICT": 409, "COLLECTION_NOT_FOUND": 404, "WEBHOOK_NOT_FOUND": 404, "DELIVERY_NOT_FOUND": 404,
	"DELIVERY_NOT_RETRYABLE": 409, "CONNECTOR_NOT_FOUND": 404, "SYNC_RUNNING": 409, "BACKEND_ERROR": 502, "UNSUPPORTED_MEDIA_TYPE": 415, "REQUEST_TOO_LARGE": 413, "RANGE_NOT_SATISFIABLE": 416,
}

func TestEveryCodeHasATranscript(t *testing.T) {
	t.Parallel()
	seen := map[string]map[int]bool{}
	for _, file := range transcriptFiles(t) {
		_, list := readTranscript(t, file)
		for _, x := range list {
			status := x.status(t)
			if status < 400 {
				continue
			}
			code := errorCode(t, x.body(t))
			if seen[code] == nil {
				seen[code] = map[int]bool{}
			}
			seen[code][status] = true
		}
	}
	for code, status := range documentedCodes {
		assert.True(t, seen[code][status], "no transcript shows %d %s", status, code)
	}
}

// errorCode returns the code of an error body of either shape, and checks the shape.
func errorCode(t testing.TB, body any) string {
	t.Helper()
	m, ok := body.(map[string]any)
	require.True(t, ok, "%v", body)
	if d, ok := m["detail"].(map[string]any); ok && m["error"] == nil {
		require.Equal(t, false, d["success"])
		require.NotEmpty(t, d["message"])
		return d["error_code"].(string)
	}
	require.Equal(t, false, m["success"])
	require.Contains(t, m, "data")
	require.Nil(t, m["data"])
	meta := m["meta"].(map[string]any)
	require.NotEmpty(t, meta["request_id"])
	require.NotNil(t, meta["latency_ms"])
	e := m["error"].(map[string]any)
	require.NotEmpty(t, e["message"])
	return e["code"].(string)
}

func TestErrorTable(t *testing.T) {
	t.Parallel()
	for _, r := range errorTable {
		f := r.family
		if f == 0 {
			f = gen2
			if r.code == "TENANT_NOT_FOUND" || r.code == "MEMORY_NOT_FOUND" {
				f = gen1
			}
		}
		assert.Equal(t, r.answer, lookup(r.kind, r.resource, f), "%v %s", r.kind, r.resource)
		if want, ok := documentedCodes[r.code]; ok {
			assert.Equal(t, want, r.status, r.code)
		}
	}
	assert.Equal(t, answer{500, "INTERNAL_ERROR"}, lookup(250, "", gen1))
}
