package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
)

func TestParseKeys(t *testing.T) {
	t.Parallel()
	keys, err := parseKeys(" a=one, b ,,c = two")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a": "one", "b": contextmem.DefaultOrg, "c": "two"}, keys)
	for _, s := range []string{"", " , ", "secret-a=", "=org", "secret-a,secret-a=x"} {
		_, err := parseKeys(s)
		require.Error(t, err, s)
		require.NotContains(t, err.Error(), "secret-a")
	}
}

func TestParseProxies(t *testing.T) {
	t.Parallel()
	ps, err := parseProxies(" 10.0.0.0/8, ,fd00::/8")
	require.NoError(t, err)
	require.Len(t, ps, 2)
	for _, s := range []string{"10.0.0.1", "x", "10.0.0.0/8,10.0.0.0/99"} {
		_, err := parseProxies(s)
		require.Error(t, err, s)
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	for name, env := range map[string]map[string]string{
		"no keys":         {"CONTEXTMEM_DATA": t.TempDir()},
		"bad proxies":     {"CONTEXTMEM_DATA": t.TempDir(), "CONTEXTMEM_API_KEYS": "k", "CONTEXTMEM_TRUSTED_PROXIES": "nobody"},
		"bad transcriber": {"CONTEXTMEM_DATA": t.TempDir(), "CONTEXTMEM_API_KEYS": "k", "CONTEXTMEM_TRANSCRIBER_URL": "localhost"},
		"bad cache":       {"CONTEXTMEM_DATA": t.TempDir(), "CONTEXTMEM_API_KEYS": "k", "CONTEXTMEM_MODEL_CACHE": "main.go"},
		"bad timeout":     {"CONTEXTMEM_DATA": t.TempDir(), "CONTEXTMEM_API_KEYS": "k", "CONTEXTMEM_PARSE_TIMEOUT": "soon"},
		"bad address":     {"CONTEXTMEM_DATA": t.TempDir(), "CONTEXTMEM_API_KEYS": "k", "CONTEXTMEM_ADDR": "nowhere:none"},
	} {
		err := run(t.Context(), func(k string) string { return env[k] }, slog.New(slog.DiscardHandler), nil)
		require.Error(t, err, name)
	}
}

// TestRun starts the server twice on one directory and checks that the second run finds the items of the first.
func TestRun(t *testing.T) {
	t.Parallel()
	env := map[string]string{"CONTEXTMEM_PUBLIC_URL": "https://mem.example.com", "CONTEXTMEM_ADDR": "127.0.0.1:0", "CONTEXTMEM_DATA": t.TempDir(), "CONTEXTMEM_API_KEYS": "key-one,key-two=other", "CONTEXTMEM_MODEL_CACHE": t.TempDir()}
	for i := range 2 {
		ctx, stop := context.WithCancel(t.Context())
		ready, ended := make(chan net.Addr, 1), make(chan error, 1)
		var log bytes.Buffer
		go func() {
			ended <- run(ctx, func(k string) string { return env[k] }, slog.New(slog.NewTextHandler(&log, nil)), ready)
		}()
		var base string
		select {
		case a := <-ready:
			base = "http://" + a.String()
		case err := <-ended:
			require.NoError(t, err)
		}
		if i == 0 {
			require.Equal(t, http.StatusOK, ask(t, "POST", base+"/tenants/create", "key-one", `{"tenant_id":"acme"}`, nil))
			require.Eventually(t, func() bool {
				return ask(t, "POST", base+"/memories/add_memory", "key-one", `{"tenant_id":"acme","memories":[{"source_id":"m1","text":"Bob likes green tea."}]}`, nil) == http.StatusOK
			}, time.Minute, 10*time.Millisecond)
		}
		require.Eventually(t, func() bool {
			var res struct {
				Chunks []struct {
					ID string `json:"source_id"`
				} `json:"chunks"`
			}
			require.Equal(t, http.StatusOK, ask(t, "POST", base+"/recall/recall_preferences", "key-one", `{"tenant_id":"acme","query":"what does Bob drink?"}`, &res))
			return len(res.Chunks) == 1 && res.Chunks[0].ID == "m1"
		}, time.Minute, 20*time.Millisecond)
		if i == 0 {
			presigned(t, base)
		}
		require.Equal(t, http.StatusNotFound, ask(t, "GET", base+"/tenants/monitor?tenant_id=acme", "key-two", "", nil), "another organisation")
		require.Equal(t, http.StatusUnauthorized, ask(t, "GET", base+"/tenants/monitor?tenant_id=acme", "key-three", "", nil))
		stop()
		require.NoError(t, <-ended)
		require.Equal(t, 1, strings.Count(log.String(), "contextmem is ready"))
		require.NotContains(t, log.String(), "key-one")
	}
}

// presigned checks that links carry the address that the environment sets.
func presigned(t *testing.T, base string) {
	t.Helper()
	form := url.Values{"tenant_id": {"acme"}, "app_knowledge": {`[{"tenant_id":"acme","sub_tenant_id":"","id":"a1","content":{"text":"The dock is closed."}}]`}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/ingestion/upload_knowledge", strings.NewReader(form.Encode()))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer key-one")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusOK, res.StatusCode)
	var f struct {
		URL string `json:"presigned_url"`
	}
	require.Equal(t, http.StatusOK, ask(t, "POST", base+"/fetch/content", "key-one", `{"tenant_id":"acme","source_id":"a1","mode":"url"}`, &f))
	require.True(t, strings.HasPrefix(f.URL, "https://mem.example.com/content/"), f.URL)
}

func ask(t *testing.T, method, url, key, body string, to any) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	if to != nil {
		require.NoError(t, json.Unmarshal(b, to))
	}
	return res.StatusCode
}
