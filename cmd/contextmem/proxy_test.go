package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestProxyCommand checks that a client of the chat API that goes through the program gets the model's answer, that its
// messages are remembered and added to later requests, that another sub-tenant does not see them, and that commands do.
func TestProxyCommand(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var prompt, key, sub string
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		mu.Lock()
		prompt, key, sub = string(b), r.Header.Get("Authorization"), r.Header.Get(subHeader)
		mu.Unlock()
		if r.URL.Path != "/chat/completions" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"Noted: the ferry to Stavanger."}}]}`)
	}))
	t.Cleanup(model.Close)
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := program(ctx, t, dir, "proxy", "--upstream", model.URL, "--addr", "127.0.0.1:0", "-s", "alice")
	errs, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line := make([]byte, 256)
	n, err := errs.Read(line)
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(line[:n]), "ready at ")
	require.True(t, ok, "%s", line[:n])
	address, _, _ := strings.Cut(rest, " ")
	chat := func(text, of string) string {
		t.Helper()
		b, err := json.Marshal(map[string]any{"model": "m", "messages": []map[string]string{{"role": "user", "content": text}}})
		require.NoError(t, err)
		r, err := http.NewRequestWithContext(ctx, "POST", address+"/chat/completions", strings.NewReader(string(b)))
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer of-the-model")
		r.Header.Set("Content-Type", "application/json")
		if of != "" {
			r.Header.Set(subHeader, of)
		}
		res, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		answer, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, http.StatusOK, res.StatusCode, "%s", answer)
		require.Contains(t, string(answer), "Noted")
		mu.Lock()
		defer mu.Unlock()
		require.Equal(t, "Bearer of-the-model", key)
		require.Empty(t, sub, "it is not for the model")
		return prompt
	}
	chat("I always take the ferry to Stavanger, never the plane.", "")
	require.Eventually(t, func() bool {
		return strings.Contains(inProcess(t, dir, "", "recall", "-s", "alice", "how do I travel to Stavanger?").out, "ferry")
	}, time.Minute, 20*time.Millisecond, "commands share the directory")
	require.Eventually(t, func() bool { return strings.Contains(chat("How do I travel to Stavanger?", ""), "never the plane") }, time.Minute, 20*time.Millisecond)
	require.NotContains(t, chat("How do I travel to Stavanger?", "bob"), "never the plane")
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.NoError(t, cmd.Wait())
	for _, args := range [][]string{{"proxy"}, {"proxy", "--upstream", "nowhere"}, {"proxy", "--upstream", model.URL, "-n", "0"}} {
		require.Equal(t, exitUsage, inProcess(t, dir, "", args...).code)
	}
}
