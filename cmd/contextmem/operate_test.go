package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/client"
)

// get returns the status and the body of a response.
func get(t *testing.T, url, key string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer func() { require.NoError(t, res.Body.Close()) }()
	var b bytes.Buffer
	_, err = b.ReadFrom(res.Body)
	require.NoError(t, err)
	return res.StatusCode, b.String()
}

// TestServeProfiles checks that --pprof serves profiles to administrators' keys only, and that there are none without
// it.
func TestServeProfiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	made := inProcess(t, dir, "", "keys", "create", "--tenants", "acme")
	require.Zero(t, made.code, made.err)
	limited := strings.TrimSpace(made.out)
	address, _ := serving(t, dir, "--api-keys", "secret", "--pprof")
	for _, c := range []struct {
		key, path string
		status    int
		holds     string
	}{
		{"", "", http.StatusUnauthorized, ""},
		{"wrong", "goroutine?debug=1", http.StatusUnauthorized, ""},
		{limited, "goroutine?debug=1", http.StatusForbidden, ""},
		{"secret", "", http.StatusOK, "heap"},
		{"secret", "goroutine?debug=1", http.StatusOK, "goroutine profile:"},
		{"secret", "cmdline", http.StatusOK, "serve"},
	} {
		t.Run(c.key, func(t *testing.T) {
			status, body := get(t, address+"/debug/pprof/"+c.path, c.key)
			assert.Equal(t, c.status, status, c.path)
			assert.Contains(t, body, c.holds, c.path)
		})
	}

	address, _ = serving(t, t.TempDir(), "--api-keys", "secret")
	status, body := get(t, address+"/debug/pprof/goroutine?debug=1", "secret")
	assert.Equal(t, http.StatusNotFound, status)
	assert.NotContains(t, body, "goroutine profile:")
}

// TestServeRedirectsNothing checks that paths which are not clean are answered by the REST API, beside the routes that serve has of its own.
func TestServeRedirectsNothing(t *testing.T) {
	t.Parallel()
	address, _ := serving(t, t.TempDir(), "--api-keys", "secret")
	direct := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for path, want := range map[string]int{"//databases": http.StatusNotFound, "/context/../metadata": http.StatusNotFound, "/ext/items/./history": http.StatusNotFound,
		"/healthz": http.StatusOK, "/mcp": http.StatusUnauthorized} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+path, nil)
		require.NoError(t, err)
		res, err := direct.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, want, res.StatusCode, path)
	}
}

// TestServeAuditLog checks that each write is a line of the file, with the key's id but neither key nor content, that
// reads are not, and that a restarted server appends to the file.
func TestServeAuditLog(t *testing.T) {
	t.Parallel()
	dir, name := t.TempDir(), filepath.Join(t.TempDir(), "audit.log")
	lines := func() (out []map[string]any) {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, hidden := range []string{"secret", "Miso"} {
			require.NotContains(t, string(b), hidden)
		}
		for line := range strings.Lines(string(b)) {
			var m map[string]any
			require.NoError(t, json.Unmarshal([]byte(line), &m), line)
			out = append(out, m)
		}
		return out
	}
	var first map[string]any
	for i, id := range []string{"b1", "b2"} {
		t.Run(id, func(t *testing.T) {
			address, end := serving(t, dir, "--api-keys", "secret", "--audit-log", name)
			c, err := client.New(address, "secret", nil)
			require.NoError(t, err)
			before := len(lines())
			_, err = c.Tenants(t.Context())
			require.NoError(t, err)
			require.Len(t, lines(), before, "reading is no write")
			added := inProcess(t, t.TempDir(), "", "add", "--url", address, "--key", "secret", "-s", "bob", "--id", id, "Bob's cat is called Miso.")
			require.Zero(t, added.code, added.err)
			end()
			written := lines()
			require.Greater(t, len(written), before)
			for _, m := range written[before:] {
				key, _ := m["key"].(string)
				assert.True(t, strings.HasPrefix(key, "fixed-"), "%v", m)
				assert.NotEmpty(t, m["request"])
			}
			last := written[len(written)-1]
			assert.Equal(t, []any{"POST", "/context/ingest", "bob"}, []any{last["method"], last["route"], last["collection"]})
			if i == 0 {
				first = written[0]
			}
			assert.Equal(t, first, written[0], "what was written stays")
		})
	}
	info, err := os.Stat(name)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	bad := inProcess(t, dir, "", "serve", "--addr", "127.0.0.1:0", "--api-keys", "secret", "--audit-log", filepath.Join(dir, "no", "audit.log"))
	assert.Equal(t, exitUsage, bad.code)
	assert.Contains(t, bad.err, "--audit-log")
}

// TestServeLimitsAll checks that requests of a key over REST, MCP and the console count together, and that another key
// is not delayed.
func TestServeLimitsAll(t *testing.T) {
	t.Parallel()
	address, _ := serving(t, t.TempDir(), "--api-keys", "one,two,three", "--requests-per-second", "0.001")
	mcp := func(key string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+key)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		res, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		if res.StatusCode == http.StatusTooManyRequests {
			assert.NotEmpty(t, res.Header.Get("Retry-After"))
		}
		require.NoError(t, res.Body.Close())
		return res.StatusCode
	}
	// signs in and asks for the overview, which is one request of the key.
	overview := func(key string) int {
		jar, err := cookiejar.New(nil)
		require.NoError(t, err)
		visitor := &http.Client{Jar: jar}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/console/login", strings.NewReader(url.Values{"key": {key}}.Encode()))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		res, err := visitor.Do(r)
		require.NoError(t, err)
		if res.StatusCode == http.StatusTooManyRequests {
			assert.NotEmpty(t, res.Header.Get("Retry-After"))
		}
		require.NoError(t, res.Body.Close())
		return res.StatusCode
	}
	rest := func(key string) int {
		status, _ := get(t, address+"/tenants/monitor", key)
		return status
	}
	assert.NotEqual(t, http.StatusTooManyRequests, rest("one"))
	assert.Equal(t, http.StatusTooManyRequests, rest("one"))
	assert.Equal(t, http.StatusTooManyRequests, mcp("one"))
	assert.Equal(t, http.StatusTooManyRequests, overview("one"))
	assert.Equal(t, http.StatusOK, overview("two"))
	assert.Equal(t, http.StatusTooManyRequests, rest("two"))
	assert.NotEqual(t, http.StatusTooManyRequests, mcp("three"))
	assert.Equal(t, http.StatusTooManyRequests, overview("three"))
}
