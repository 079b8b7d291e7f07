package console_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/console"
)

// site is a served console.
type site struct {
	*httptest.Server
	svc *contextmem.Service
}

func serve(t *testing.T) *site {
	t.Helper()
	ctx := t.Context()
	svc, err := contextmem.Open(ctx, t.TempDir(), nil)
	require.NoError(t, err)
	c, err := console.New(svc, console.Options{BackupDir: t.TempDir() + "/backup"})
	require.NoError(t, err)
	srv := httptest.NewServer(c)
	t.Cleanup(func() {
		srv.Close()
		assert.NoError(t, c.Close())
		assert.NoError(t, svc.Close())
	})
	return &site{srv, svc}
}

func (s *site) tenant(t *testing.T, id string) contextmem.Tenant {
	t.Helper()
	_, err := s.svc.EnsureTenant(t.Context(), contextmem.TenantSpec{ID: id})
	require.NoError(t, err)
	return s.svc.Tenant(id)
}

// visitor returns a browser session that is logged in with a new key.
func (s *site) visitor(t *testing.T, spec contextmem.KeySpec) *visitor {
	t.Helper()
	_, text, err := s.svc.CreateKey(t.Context(), spec)
	require.NoError(t, err)
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	v := &visitor{site: s, client: &http.Client{Jar: jar}}
	status, body := v.post(t, "login", url.Values{"key": {text}})
	require.Equal(t, http.StatusOK, status, body)
	return v
}

type visitor struct {
	*site
	client *http.Client
}

func (v *visitor) do(t *testing.T, r *http.Request) (int, string) {
	t.Helper()
	return v.bench(t, r)
}

func (v *visitor) bench(t testing.TB, r *http.Request) (int, string) {
	t.Helper()
	res, err := v.client.Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(b)
}

func (v *visitor) get(t *testing.T, page string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.URL+"/console/"+page, nil)
	require.NoError(t, err)
	return v.do(t, r)
}

var csrf = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

func (v *visitor) post(t *testing.T, page string, form url.Values) (int, string) {
	t.Helper()
	if page != "login" && form.Get("csrf") == "" {
		_, body := v.get(t, "")
		m := csrf.FindStringSubmatch(body)
		require.NotNil(t, m)
		form.Set("csrf", m[1])
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, v.URL+"/console/"+page, strings.NewReader(form.Encode()))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return v.do(t, r)
}

func TestSession(t *testing.T) {
	t.Parallel()
	s := serve(t)
	ctx := t.Context()
	key, text, err := s.svc.CreateKey(ctx, contextmem.KeySpec{Owner: "ops"})
	require.NoError(t, err)
	bare := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	send := func(method, path, body string, header map[string]string, c *http.Cookie) *http.Response {
		r, err := http.NewRequestWithContext(ctx, method, s.URL+path, strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for k, v := range header {
			r.Header.Set(k, v)
		}
		if c != nil {
			r.AddCookie(c)
		}
		res, err := bare.Do(r)
		require.NoError(t, err)
		_, _ = io.Copy(io.Discard, res.Body)
		require.NoError(t, res.Body.Close())
		return res
	}
	res := send("GET", "/console/keys", "", nil, nil)
	assert.Equal(t, http.StatusSeeOther, res.StatusCode)
	assert.Equal(t, "/console/login?to=keys", res.Header.Get("Location"))
	assert.Equal(t, http.StatusUnauthorized, send("POST", "/console/login", "key=nonsense", nil, nil).StatusCode)
	assert.Equal(t, http.StatusForbidden, send("POST", "/console/login", "key="+text, map[string]string{"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}, nil).StatusCode)
	for to, want := range map[string]string{"keys": "/console/keys", "https://evil.example": "/console/", "//evil.example": "/console/", "..%2f..%2f": "/console/", "javascript:alert(1)": "/console/"} {
		t.Run(to, func(t *testing.T) {
			res = send("POST", "/console/login", "key="+text+"&to="+to, nil, nil)
			assert.Equal(t, want, res.Header.Get("Location"), to)
		})
	}
	require.Len(t, res.Cookies(), 1)
	cookie := res.Cookies()[0]
	assert.True(t, cookie.HttpOnly)
	assert.Equal(t, http.SameSiteStrictMode, cookie.SameSite)
	assert.NotContains(t, cookie.Value, text)
	res = send("GET", "/console/keys", "", nil, cookie)
	assert.Equal(t, http.StatusOK, res.StatusCode)
	policy := res.Header.Get("Content-Security-Policy")
	assert.Contains(t, policy, "default-src 'none'")
	assert.NotContains(t, policy, "unsafe")
	assert.Equal(t, http.StatusForbidden, send("POST", "/console/keys", "owner=x", nil, cookie).StatusCode, "without the form's token")
	assert.Equal(t, http.StatusForbidden, send("POST", "/console/keys", "owner=x&csrf=AAAA", nil, cookie).StatusCode)
	require.NoError(t, s.svc.RevokeKey(ctx, key.ID))
	assert.Equal(t, http.StatusSeeOther, send("GET", "/console/keys", "", nil, cookie).StatusCode, "a revoked key is out at once")
}

// TestScopedKey checks that no page shows what a key may not see.
func TestScopedKey(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, id := range []string{"acme", "zebra"} {
		_, err := s.tenant(t, id).Sub("u").Remember(t.Context(), contextmem.Memory{ID: id + "-1", Text: "The word of " + id + " is " + id + "-secret."})
		require.NoError(t, err)
	}
	_, _, err := s.svc.CreateKey(t.Context(), contextmem.KeySpec{Owner: "zebra-robot"})
	require.NoError(t, err)
	v := s.visitor(t, contextmem.KeySpec{Owner: "limited", Tenants: []string{"acme"}})
	for page, want := range map[string]int{
		"": 200, "t/acme": 200, "t/acme?sub=u": 200, "t/acme/item?sub=u&id=acme-1": 200, "t/acme/recall?sub=u&q=zebra-secret+word": 200, "t/acme/timeline?sub=u": 200, "t/acme/graph?sub=u": 200,
		"t/zebra": 403, "t/zebra/item?sub=u&id=zebra-1": 403, "t/zebra/recall?sub=u&q=word": 403, "t/zebra/timeline?sub=u": 403, "t/zebra/graph?sub=u": 403,
		"t/acme/item?sub=u&id=zebra-1": 404, "connectors": 403, "connectors/x": 403, "webhooks": 403, "keys": 403, "system": 403,
	} {
		t.Run(page, func(t *testing.T) {
			status, body := v.get(t, page)
			assert.Equal(t, want, status, page)
			body = strings.ReplaceAll(body, "zebra-secret word", "") // the question itself
			assert.NotContains(t, body, "zebra-secret", page)
			if want == 200 {
				assert.NotContains(t, body, "zebra", page)
			}
		})
	}
	for _, action := range []string{"t/zebra/retry", "t/zebra/restore", "t/zebra/fact/restore", "t/zebra/fact/retire", "t/zebra/merge/undo", "keys", "keys/revoke", "keys/expire", "webhooks", "webhooks/test", "webhooks/delete", "webhooks/resend", "connectors", "connectors/x/sync", "connectors/x/delete", "system/backup", "system/verify"} {
		t.Run(action, func(t *testing.T) {
			status, _ := v.post(t, action, url.Values{"id": {"zebra-1"}, "sub": {"u"}})
			assert.Equal(t, http.StatusForbidden, status, action)
		})
	}
	reader := s.visitor(t, contextmem.KeySpec{Owner: "reader", Scopes: []contextmem.Scope{contextmem.ScopeQuery}})
	status, _ := reader.post(t, "t/acme/restore", url.Values{"id": {"acme-1"}, "sub": {"u"}})
	assert.Equal(t, http.StatusForbidden, status)
	for _, action := range []string{"t/acme/fact/restore", "t/acme/fact/retire"} {
		t.Run(action, func(t *testing.T) {
			status, _ = reader.post(t, action, url.Values{"id": {"rel_1"}, "sub": {"u"}})
			assert.Equal(t, http.StatusForbidden, status, action)
		})
	}
	status, _ = reader.get(t, "keys")
	assert.Equal(t, http.StatusForbidden, status)
}

// TestContentIsText checks that stored content is never interpreted as markup of a page.
func TestContentIsText(t *testing.T) {
	t.Parallel()
	s := serve(t)
	const evil = `<script>alert(1)</script><svg onload=alert(2)><img src=x onerror=alert(3)> [x](javascript:alert(4)) "onmouseover=alert(5) ` + "\u202edesrever\u2066 \x07"
	sub := s.tenant(t, "acme").Sub("<b>u</b>")
	_, err := sub.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: `<i>"id`, Name: `<u>n.md`, Data: []byte("# " + evil + "\n\nEvil text by <b>Mallory Smith</b> who lives in Porto.")}}})
	require.NoError(t, err)
	_, err = sub.Remember(t.Context(), contextmem.Memory{ID: "m<script>", Text: "I live in " + evil, Infer: true})
	require.NoError(t, err)
	require.NoError(t, s.svc.Drain(t.Context()))
	v := s.visitor(t, contextmem.KeySpec{Owner: "<script>owner"})
	q := url.QueryEscape("<b>u</b>")
	for _, page := range []string{"", "keys", "t/acme?sub=" + q, "t/acme?class=knowledge&sub=" + q, "t/acme?q=%3Cscript%3E&sub=" + q, "t/acme/item?class=knowledge&sub=" + q + "&id=" + url.QueryEscape(`<i>"id`),
		"t/acme/item?class=memory&sub=" + q + "&id=" + url.QueryEscape("m<script>"), "t/acme/recall?sub=" + q + "&missing=%3Cscript%3E&q=" + url.QueryEscape(evil), "t/acme/timeline?sub=" + q, "t/acme/graph?sub=" + q + "&entity=%3Cscript%3E",
		"t/acme/graph?class=knowledge&sub=" + q, "t/%3Cscript%3E", "login?to=%22%3E%3Cscript%3E", "webhooks?status=%3Cscript%3E"} {
		t.Run(page, func(t *testing.T) {
			status, body := v.get(t, page)
			assert.Less(t, status, 500, page)
			body = strings.ReplaceAll(body, `<script src="/console/static/console.js" defer></script>`, "")
			for _, bad := range []string{"<script", "<svg onload", "<img", "<b>", "<i>", "<u>", `"onmouseover`, `href="javascript:`} {
				assert.NotContains(t, body, bad, page)
			}
			title, _, _ := strings.Cut(body[strings.Index(body, "<title>"):], "</title>")
			assert.NotContains(t, title, "\u202e")
		})
	}
}

// TestMalformed sends ten thousand malformed requests. Each must be refused, without a server error.
func TestMalformed(t *testing.T) {
	t.Parallel()
	s := serve(t)
	_, err := s.tenant(t, "acme").Sub("u").Remember(t.Context(), contextmem.Memory{ID: "a", Text: "I like tea."})
	require.NoError(t, err)
	_, text, err := s.svc.CreateKey(t.Context(), contextmem.KeySpec{})
	require.NoError(t, err)
	c, err := console.New(s.svc, console.Options{})
	require.NoError(t, err)
	defer c.Close()
	login := httptest.NewRequestWithContext(t.Context(), "POST", "/console/login", strings.NewReader("key="+text))
	login.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	c.ServeHTTP(w, login)
	cookie := w.Result().Cookies()[0]
	w = httptest.NewRecorder()
	first := httptest.NewRequestWithContext(t.Context(), "GET", "/console/", nil)
	first.AddCookie(cookie)
	c.ServeHTTP(w, first)
	token := csrf.FindStringSubmatch(w.Body.String())[1]

	rng := rand.New(rand.NewPCG(19, 19))
	pick := func(list []string) string { return list[rng.IntN(len(list))] }
	paths := []string{"", "login", "logout", "t/acme", "t/nobody", "t/acme/item", "t/acme/recall", "t/acme/timeline", "t/acme/graph", "t/acme/retry", "t/acme/restore", "t/acme/fact/restore", "t/acme/fact/retire", "t/acme/merge/undo", "connectors",
		"connectors/zz", "connectors/zz/sync", "connectors/zz/pause", "connectors/zz/resources", "connectors/zz/delete", "webhooks", "webhooks/test", "webhooks/resend", "webhooks/delete", "keys/revoke", "keys/expire", "keys", "static/console.css",
		"static/..%2fconsole.go", "../x", "t//x", "t/%00", "t/%ff%fe", "%2e%2e/", "t/acme/item/more"}
	names := []string{"sub", "id", "class", "mode", "page", "from", "q", "as_of", "known_at", "missing", "filter", "max", "cursor", "after", "status", "person", "entity", "prefix", "days", "scope", "owner", "tenants", "superseded", "url", "provider", "credentials", "done", "to", "key", "resource", "discover", "\xff"}
	values := []string{"", "0", "-1", "1e9", "99999999999999999999", "\x00", "\xff\xfe", "<script>", "'; DROP TABLE sources", "../../etc/passwd", "\u202e\u2066", strings.Repeat("a", 5000), "memory", "knowledge", "2026-02-31", "2026-01-01", "=", "a=b,c", "NaN", "%", "acme", "u", "a", "tea", "rel_1"}
	methods := []string{"GET", "GET", "GET", "POST", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS", "BREW"}
	counts := map[int]int{}
	for i := range 10_000 {
		form := url.Values{}
		for range rng.IntN(5) {
			form.Add(pick(names), pick(values))
		}
		method, query, body := pick(methods), form.Encode(), form.Encode()
		if rng.IntN(10) == 0 {
			query = pick([]string{"%zz", "a;b", "=&=&", "\x7f", strings.Repeat("x=1&", 6000)})
			body = pick([]string{"%zz", "a;b", "{\"json\": true}", strings.Repeat("x", 70_000)})
		}
		r := httptest.NewRequestWithContext(t.Context(), method, "/console/", strings.NewReader(body))
		p := "/console/" + pick(paths)
		r.URL.Path, r.URL.RawPath, r.URL.RawQuery, r.RequestURI = p, "", query, p
		if u, err := url.PathUnescape(p); err == nil {
			r.URL.Path, r.URL.RawPath = u, p
		}
		if rng.IntN(8) > 0 {
			r.AddCookie(cookie)
		}
		if method == "POST" {
			if rng.IntN(4) > 0 {
				r.Header.Set("Content-Type", pick([]string{"application/x-www-form-urlencoded", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/\xff", ""}))
			}
			if rng.IntN(3) > 0 && !strings.Contains(p, "logout") && !strings.HasSuffix(p, "delete") {
				r.Body = io.NopCloser(strings.NewReader("csrf=" + token + "&" + body))
			}
		}
		w := httptest.NewRecorder()
		c.ServeHTTP(w, r)
		counts[w.Code]++
		if w.Code >= 500 {
			t.Fatalf("request %d: %s %q?%q: %d", i, method, p, query, w.Code)
		}
	}
	t.Logf("answers by status: %v", counts)
	assert.Greater(t, counts[200], 500, "many requests got through to pages")
	assert.Greater(t, counts[400], 500)
}

// big fills a tenant with n memories.
func big(ctx context.Context, tb testing.TB, svc *contextmem.Service, n int) {
	tb.Helper()
	_, err := svc.EnsureTenant(ctx, contextmem.TenantSpec{ID: "big"})
	require.NoError(tb, err)
	sub := svc.Tenant("big").Sub("u")
	words := strings.Fields("harbour oven ledger apricot signal meadow turbine parcel violin glacier saddle quartz lantern compass orchard")
	rng := rand.New(rand.NewPCG(1, 1))
	for from := 0; from < n; from += 5000 {
		var b contextmem.MemoryBatch
		for i := from; i < min(n, from+5000); i++ {
			b.Memories = append(b.Memories, contextmem.Memory{ID: fmt.Sprintf("m-%06d", i), Text: fmt.Sprintf("Note %d: the %s beside the %s belongs to the %s of Anna Berg.", i, words[rng.IntN(15)], words[rng.IntN(15)], words[rng.IntN(15)])})
		}
		_, err := sub.AddMemories(ctx, b)
		require.NoError(tb, err)
	}
	require.NoError(tb, svc.Drain(ctx))
}
