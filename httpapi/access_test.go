package httpapi

import (
	"encoding/json"
	"mime"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
)

func get(t *testing.T, h http.Handler, target string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestPresignedTampered(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	f.setup(t, "presigned")
	link := f.vars["presigned"]
	w := get(t, f, link)
	require.Equal(t, http.StatusOK, w.Code)
	require.Contains(t, w.Body.String(), "starter plan")
	require.Equal(t, "sandbox; default-src 'none'", w.Header().Get("Content-Security-Policy"))
	for i := len(contextmem.PresignedPath); i < len(link); i++ {
		other := byte('A')
		if link[i] == other {
			other = 'B'
		}
		w := get(t, f, link[:i]+string(other)+link[i+1:])
		require.Equal(t, http.StatusForbidden, w.Code, "byte %d", i)
		require.Equal(t, "FORBIDDEN", errorCode(t, decodeAny(t, w.Body.Bytes())))
	}
	for _, token := range []string{"x", strings.Repeat("A", 5000), "..", "%00"} {
		t.Run(token, func(t *testing.T) {
			w := get(t, f, contextmem.PresignedPath+token)
			require.Contains(t, []int{http.StatusForbidden, http.StatusNotFound}, w.Code, token)
		})
	}
	_, err := f.svc.Tenant("acme").Sub("").DeleteItems(t.Context(), contextmem.DeleteItemsRequest{IDs: []string{"k1"}, Class: contextmem.ClassKnowledge})
	require.NoError(t, err)
	require.Equal(t, http.StatusNotFound, get(t, f, link).Code, "a deleted source")
}

func TestPresignedExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		svc, err := contextmem.New(t.Context(), inmem.New(), nil)
		require.NoError(t, err)
		h, err := New(svc, Options{StoredKeys: true})
		require.NoError(t, err)
		_, err = svc.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "acme"})
		require.NoError(t, err)
		require.NoError(t, svc.Tenant("acme").WaitReady(t.Context()))
		s := svc.Tenant("acme").Sub("")
		_, err = s.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: "k", Name: "k.txt", Data: []byte("text")}}})
		require.NoError(t, err)
		wait(t, s, "k")
		got, err := s.Fetch(t.Context(), contextmem.FetchRequest{ID: "k", Mode: contextmem.FetchURL, Expiry: time.Minute})
		require.NoError(t, err)
		time.Sleep(58 * time.Second)
		require.Equal(t, http.StatusOK, get(t, h, got.URL).Code)
		time.Sleep(3 * time.Second)
		require.Equal(t, http.StatusForbidden, get(t, h, got.URL).Code)
		require.NoError(t, svc.Close())
	})
}

func TestDisposition(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a.txt": "a.txt", "": "content", "../../etc/passwd": "passwd", "a\r\nSet-Cookie: x=1": "a__Set-Cookie: x=1", `a"; filename="b.exe`: "a_; filename=_b.exe", `c:\x.bat`: "c:_x.bat", "grüße.md": "grüße.md", "\x00": "_",
	} {
		t.Run(name, func(t *testing.T) {
			d := disposition(&contextmem.Fetched{Filename: name})
			assert.NotContains(t, d, "\r")
			assert.NotContains(t, d, "\n")
			kind, params, err := mime.ParseMediaType(d)
			require.NoError(t, err, d)
			assert.Equal(t, "attachment", kind)
			assert.Equal(t, want, params["filename"], name)
		})
	}
}

func TestSafeType(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"text/html": "text/plain; charset=utf-8", "text/markdown": "text/markdown", "image/svg+xml": "application/octet-stream", "application/xhtml+xml": "application/octet-stream",
		"application/javascript": "application/octet-stream", "application/pdf": "application/pdf", "x\r\ny": "application/octet-stream", "": "application/octet-stream", "image/png": "image/png",
	} {
		t.Run(in, func(t *testing.T) {
			assert.Equal(t, want, safeType(in), in)
		})
	}
}

// TestBadKeysGetOneAnswer compares whole bodies: a missing, a wrong, a revoked and an expired key get the same answer.
func TestBadKeysGetOneAnswer(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	org := f.svc.Org(contextmem.DefaultOrg)
	revoked, text, err := org.CreateKey(t.Context(), contextmem.KeySpec{})
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, get(t, f, "/tenants/tenant_ids", "Authorization", "Bearer "+text).Code)
	require.NoError(t, org.RevokeKey(t.Context(), revoked.ID))
	_, brief, err := org.CreateKey(t.Context(), contextmem.KeySpec{TTL: time.Millisecond})
	require.NoError(t, err)
	time.Sleep(20 * time.Millisecond)
	want := get(t, f, "/tenants/tenant_ids")
	require.Equal(t, http.StatusUnauthorized, want.Code)
	require.Equal(t, "Bearer", want.Header().Get("WWW-Authenticate"))
	for _, h := range []string{"", "Bearer", "Bearer ", "Bearer  " + fullKey, "bearer " + fullKey, "Basic " + fullKey, fullKey, "Bearer " + fullKey + " ", "Bearer " + fullKey[1:], "Bearer " + text, "Bearer " + brief, "Bearer " + strings.Repeat("k", 5000)} {
		t.Run(h, func(t *testing.T) {
			got := get(t, f, "/tenants/tenant_ids", "Authorization", h)
			assert.Equal(t, http.StatusUnauthorized, got.Code, h)
			assert.Equal(t, want.Body.String(), got.Body.String(), h)
		})
	}
}

// TestForeignTenantIsAbsent sends requests for a tenant with a key of another organisation.
func TestForeignTenantIsAbsent(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	_, key, err := f.svc.Org("other").CreateKey(t.Context(), contextmem.KeySpec{})
	require.NoError(t, err)
	foreign := get(t, f, "/tenants/monitor?tenant_id=acme", "Authorization", "Bearer "+key)
	absent := get(t, f, "/tenants/monitor?tenant_id=nothing", "Authorization", "Bearer "+key)
	require.Equal(t, http.StatusNotFound, foreign.Code)
	require.Equal(t, absent.Body.String(), foreign.Body.String())
	list := get(t, f, "/tenants/tenant_ids", "Authorization", "Bearer "+key)
	require.NotContains(t, list.Body.String(), "acme")
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{RequestsPerSecond: 0.5})
	stopClock(f.api.rate)
	ask := func(key string) *httptest.ResponseRecorder {
		return get(t, f, "/databases", "Authorization", "Bearer "+key)
	}
	first := ask(fullKey)
	require.Equal(t, http.StatusOK, first.Code)
	require.Equal(t, "1", first.Header().Get("X-RateLimit-Limit"))
	require.Equal(t, "0", first.Header().Get("X-RateLimit-Remaining"))
	second := ask(fullKey)
	require.Equal(t, http.StatusTooManyRequests, second.Code)
	require.Equal(t, "RATE_LIMITED", errorCode(t, decodeAny(t, second.Body.Bytes())))
	for _, h := range []string{"Retry-After", "X-RateLimit-Reset"} {
		t.Run(h, func(t *testing.T) {
			n, err := strconv.Atoi(second.Header().Get(h))
			require.NoError(t, err, h)
			require.Positive(t, n, h)
		})
	}
	require.Equal(t, "0", second.Header().Get("X-RateLimit-Remaining"))
	require.Equal(t, http.StatusOK, ask(f.vars["querykey"]).Code, "another key has a bucket of its own")
}

// TestFeedbackLimitInHeaders checks that answers of /feedback tell of the limit of feedback, not of that of the key.
func TestFeedbackLimitInHeaders(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{RequestsPerSecond: 1000})
	at := stopClock(f.api.feed)
	send := func() *httptest.ResponseRecorder {
		return f.do(t, http.MethodPost, "/feedback", `{"request_id":"1c2f0bdc-1c0f-4b61-9c3c-7a51a1f2b7a9","feedback":"good"}`)
	}
	first := send()
	require.Equal(t, http.StatusCreated, first.Code, first.Body)
	require.Equal(t, []string{"100", "99"}, []string{first.Header().Get("X-RateLimit-Limit"), first.Header().Get("X-RateLimit-Remaining")})
	for range feedbackPerMinute - 1 {
		send()
	}
	last := send()
	require.Equal(t, http.StatusTooManyRequests, last.Code)
	require.Equal(t, "0", last.Header().Get("X-RateLimit-Remaining"))
	reset, err := strconv.ParseInt(last.Header().Get("X-RateLimit-Reset"), 10, 64)
	require.NoError(t, err)
	require.Equal(t, at.Add(time.Minute).Unix()+1, reset, "the bucket is full in a minute")
}

func TestLimiterForgetsOldBuckets(t *testing.T) {
	t.Parallel()
	l := newRateLimit(1e9, 1)
	for i := range maxBuckets + 10 {
		_, ok := l.Take(strconv.Itoa(i))
		require.True(t, ok)
	}
	require.Equal(t, maxBuckets, l.buckets.Len())
}

// restricted creates a key of the default organisation that is restricted to the tenant other.
func restrictedTo(t *testing.T, f *fixture, tenant string) string {
	t.Helper()
	_, text, err := f.svc.Org(contextmem.DefaultOrg).CreateKey(t.Context(), contextmem.KeySpec{Tenants: []string{tenant}})
	require.NoError(t, err)
	return text
}

// Checks that organisation-wide routes reject keys that are restricted to tenants.
func TestWholeOrganisationNeedsAWholeKey(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	f.setup(t, "failed delivery")
	key := restrictedTo(t, f, "acme")
	before := f.do(t, http.MethodGet, "/webhooks/indexing", "").Body.String()
	for _, r := range routes {
		if r.family != webhooks {
			require.False(t, r.wholeOrg, r.path)
			continue
		}
		target := strings.Replace(r.path, "{delivery_id}", f.vars["delivery"], 1)
		w := f.send(t, r.method, target, `{"url":"https://example.com/","signing_secret":"0123456789abcdef"}`, "Authorization", "Bearer "+key)
		assert.Equal(t, http.StatusForbidden, w.Code, "%s %s: %s", r.method, r.path, w.Body)
		assert.NotContains(t, w.Body.String(), f.vars["delivery"])
	}
	require.JSONEq(t, withoutMeta(t, before), withoutMeta(t, f.do(t, http.MethodGet, "/webhooks/indexing", "").Body.String()))
}

// withoutMeta removes the metadata that differs between two equal answers.
func withoutMeta(t *testing.T, body string) string {
	t.Helper()
	m := decodeAny(t, []byte(body)).(map[string]any)
	delete(m, "meta")
	b, err := json.Marshal(m)
	require.NoError(t, err)
	return string(b)
}

// Checks that lists and counts for a restricted key include its own tenants only.
func TestRestrictedKeySeesItsOwn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	f.connect(t, false)
	org := f.svc.Org(contextmem.DefaultOrg)
	_, err := org.AddResources(t.Context(), f.vars["connector"], []contextmem.ConnectorResource{{ResourceID: "r2", TenantOverride: "vectors"}})
	require.NoError(t, err)
	whole := f.do(t, http.MethodGet, "/metrics", "").Body.String()
	for _, tenant := range []string{"acme", "vectors", "none"} {
		t.Run(tenant, func(t *testing.T) {
			key := restrictedTo(t, f, tenant)
			ask := func(path string) string {
				w := f.send(t, http.MethodGet, path, "", "Authorization", "Bearer "+key)
				require.Equal(t, http.StatusOK, w.Code, w.Body)
				return w.Body.String()
			}
			require.NotContains(t, ask("/connectors"), f.vars["connector"], "a resource of it goes elsewhere")
			require.Equal(t, http.StatusForbidden, f.send(t, http.MethodGet, "/connectors/"+f.vars["connector"], "", "Authorization", "Bearer "+key).Code)
			for _, path := range []string{"/databases", "/tenants/tenant_ids"} {
				for _, other := range []string{"acme", "vectors"} {
					require.Equal(t, other == tenant, strings.Contains(ask(path), `"`+other+`"`), "%s %s", path, other)
				}
			}
			m := decodeAny(t, []byte(ask("/metrics"))).(map[string]any)
			require.EqualValues(t, json.Number("5"), m["requests"].(map[string]any)["succeeded"], "its own requests: %v, of all %s", m, whole)
		})
	}
	require.Contains(t, f.do(t, http.MethodGet, "/connectors", "").Body.String(), f.vars["connector"])
}
