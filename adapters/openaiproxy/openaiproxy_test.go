package openaiproxy_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/adapters/openaiproxy"
	"github.com/contextmem/contextmem/backend/inmem"
)

// model is a chat server that records its requests.
type model struct {
	path, key string
	body      []byte
	gate      chan struct{} // a stream waits for it after its first event
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.path, m.key = r.URL.Path, r.Header.Get("Authorization")
	m.body, _ = io.ReadAll(r.Body)
	var req struct{ Stream bool }
	_ = json.Unmarshal(m.body, &req)
	if !req.Stream {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"Porto is lovely."}}]}`)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for i, s := range []string{"She lives ", "in Porto, ", "by the river."} {
		fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", s)
		_ = http.NewResponseController(w).Flush()
		if i == 0 {
			<-m.gate
		}
	}
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

func TestProxy(t *testing.T) {
	t.Parallel()
	svc, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{Workers: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, svc.Close()) })
	_, err = svc.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	require.NoError(t, svc.Tenant("acme").WaitReady(t.Context()))
	alice := svc.Tenant("acme").Sub("alice")

	m := &model{gate: make(chan struct{})}
	upstream := httptest.NewServer(m)
	t.Cleanup(upstream.Close)
	base, err := url.Parse(upstream.URL + "/openai/v1")
	require.NoError(t, err)
	proxy := httptest.NewServer(&openaiproxy.Proxy{Upstream: base, Memories: func(r *http.Request) (contextmem.Memories, error) {
		if r.Header.Get("X-User") == "" {
			return nil, nil
		}
		return svc.Tenant("acme").Sub(r.Header.Get("X-User")), nil
	}})
	t.Cleanup(proxy.Close)
	post := func(user, body string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, proxy.URL+"/v1/chat/completions", strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer upstream-key")
		r.Header.Set("X-User", user)
		res, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, res.StatusCode)
		return res
	}
	ask := func(user, body string) string {
		t.Helper()
		res := post(user, body)
		b, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		return string(b)
	}
	total := func(n int) {
		t.Helper()
		require.Eventually(t, func() bool {
			p, err := alice.List(t.Context(), contextmem.ListRequest{Class: contextmem.ClassMemory})
			return err == nil && p.Total == n && svc.Drain(t.Context()) == nil
		}, time.Minute, time.Millisecond)
	}

	const first = `{"model":"m","temperature":0.5,"messages":[{"role":"user","content":"My sister Olga moved to Porto."}]}`
	require.Contains(t, ask("alice", first), "Porto is lovely")
	require.Equal(t, "/openai/v1/chat/completions", m.path)
	require.Equal(t, "Bearer upstream-key", m.key)
	require.JSONEq(t, first, string(m.body), "there was nothing to recall")
	total(1)
	ask("alice", first)
	total(1)

	m.body = nil
	res := post("alice", `{"model":"m","stream":true,"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":[{"type":"text","text":"Where does my sister Olga live?"}]}]}`)
	part := make([]byte, 100)
	n, err := res.Body.Read(part)
	require.NoError(t, err)
	require.Contains(t, string(part[:n]), "She lives", "the stream is not held back")
	close(m.gate)
	rest, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.True(t, bytes.HasSuffix(rest, []byte("data: [DONE]\n\n")))
	var sent struct{ Messages []struct{ Role string } }
	require.NoError(t, json.Unmarshal(m.body, &sent))
	require.Len(t, sent.Messages, 3)
	require.Equal(t, "system", sent.Messages[1].Role)
	require.Contains(t, string(m.body), "moved to Porto")
	total(2)
	found, err := alice.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "who lives by the river?"})
	require.NoError(t, err)
	require.Contains(t, found.Chunks[0].Text, "by the river")

	for _, body := range []string{`not json`, `{"messages":[]}`, `{"messages":[{"role":"tool","content":"x"}]}`} {
		ask("alice", body)
		require.Equal(t, body, string(m.body), "it goes through as it is")
	}
	ask("", first)
	require.JSONEq(t, first, string(m.body))
	total(2)
}
