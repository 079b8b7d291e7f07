package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/client"
)

// serveShown names the test that checks the effect of each option of serve.
var serveShown = map[string]string{
	"addr": "every server of a test", "api-keys": "TestServe", "audit-log": "TestServeAudits", "pprof": "TestServeProfiles", "requests-per-second": "TestServeSwitches",
	"tls-cert": "TestServeTLS", "tls-key": "TestServeTLS", "trusted-proxies": "TestServeSwitches", "max-body-bytes": "TestServeSwitches", "max-held-bytes": "TestServeSwitches",
	"body-timeout": "TestServeSwitches", "max-json-depth": "TestServeSwitches", "no-mcp": "TestServeSwitches", "no-console": "TestServeSwitches",
	"backup-dir": "TestServeSwitches", "shutdown-timeout": "TestServeShutdown", "store": "TestServeStore", "store-listen": "TestServeStore",
	"index": "TestServeIndex", "index-key": "TestServeIndex", "index-offload-after": "TestServeIndex",
}

// ask makes a request with the key of the tests' servers.
func ask(t *testing.T, method, url string, body io.Reader, set func(h http.Header)) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, body)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer secret")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if set != nil {
		set(r.Header)
	}
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer func() { require.NoError(t, res.Body.Close()) }()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, res.Header, string(b)
}

// TestServeSwitches checks each switch of serve, beside a server without it.
func TestServeSwitches(t *testing.T) {
	t.Parallel()
	serve := (&app{}).serveCmd()
	n := 0
	serve.Flags().VisitAll(func(f *pflag.Flag) {
		n++
		require.NotEmpty(t, serveShown[f.Name], "--%s: its effect is to be shown", f.Name)
	})
	require.Len(t, serveShown, n)

	plain, _ := serving(t, t.TempDir(), "--api-keys", "secret")
	var asked atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{}`)
	}))
	t.Cleanup(other.Close)
	backups := t.TempDir()
	narrow, _ := serving(t, t.TempDir(), "--api-keys", "secret", "--max-body-bytes", "2000", "--max-held-bytes", "1", "--body-timeout", "100ms", "--max-json-depth", "3",
		"--no-mcp", "--trusted-proxies", "127.0.0.0/8", "--backup-dir", backups, "--github-url", other.URL, "--notion-url", other.URL, "--allow-local-connectors")
	bare, _ := serving(t, t.TempDir(), "--api-keys", "secret", "--no-console", "--requests-per-second", "0.01")

	database := func(address string, more string) int {
		code, _, _ := ask(t, "POST", address+"/databases", strings.NewReader(`{"database":"d`+more+`"}`), nil)
		return code
	}
	require.Less(t, database(plain, ""), 300)
	require.Less(t, database(narrow, ""), 300)

	t.Run("max-body-bytes", func(t *testing.T) {
		long := func(address string) int {
			code, _, _ := ask(t, "POST", address+"/query", strings.NewReader(`{"database":"d","query":"`+strings.Repeat("long ", 500)+`"}`), nil)
			return code
		}
		assert.Equal(t, http.StatusRequestEntityTooLarge, long(narrow))
		assert.NotEqual(t, http.StatusRequestEntityTooLarge, long(plain))
	})
	t.Run("max-json-depth", func(t *testing.T) {
		deep := func(address string) string {
			_, _, body := ask(t, "POST", address+"/query", strings.NewReader(`{"database":"d","query":"x","metadata_filters":{"a":{"b":[["c"]]}}}`), nil)
			return body
		}
		assert.Contains(t, deep(narrow), "deep")
		assert.NotContains(t, deep(plain), "deep")
	})
	t.Run("body-timeout", func(t *testing.T) {
		slow := func(address string, patience time.Duration) string {
			c, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(address, "http://"))
			require.NoError(t, err)
			defer func() { _ = c.Close() }()
			fmt.Fprintf(c, "POST /query HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{")
			require.NoError(t, c.SetReadDeadline(time.Now().Add(patience)))
			b := make([]byte, 32)
			k, _ := c.Read(b)
			return string(b[:k])
		}
		assert.Contains(t, slow(narrow, time.Minute), "408")
		assert.Empty(t, slow(plain, 3*time.Second), "it waits for a minute")
	})
	t.Run("no-mcp", func(t *testing.T) {
		code, _, _ := ask(t, "POST", narrow+"/mcp", strings.NewReader("{}"), nil)
		assert.Equal(t, http.StatusNotFound, code)
		code, _, _ = ask(t, "POST", plain+"/mcp", strings.NewReader("{}"), nil)
		assert.NotEqual(t, http.StatusNotFound, code)
	})
	t.Run("no-console", func(t *testing.T) {
		code, _, body := ask(t, "GET", plain+"/console/login", nil, nil)
		assert.Equal(t, http.StatusOK, code, body)
		code, _, _ = ask(t, "GET", bare+"/console/login", nil, nil)
		assert.Equal(t, http.StatusNotFound, code)
	})
	t.Run("requests-per-second", func(t *testing.T) {
		limited := func(address string) int {
			for range 10 {
				if code, _, _ := ask(t, "GET", address+"/databases", nil, nil); code == http.StatusTooManyRequests {
					return code
				}
			}
			return http.StatusOK
		}
		assert.Equal(t, http.StatusTooManyRequests, limited(bare))
		assert.Equal(t, http.StatusOK, limited(plain))
	})
	t.Run("connectors at other addresses", func(t *testing.T) {
		for _, provider := range []string{"github", "notion"} {
			before := asked.Load()
			code, _, body := ask(t, "POST", narrow+"/connectors", strings.NewReader(`{"provider":"`+provider+`","database":"d","credentials":{"token":"t"}}`), nil)
			assert.Equal(t, http.StatusBadRequest, code, body)
			assert.Greater(t, asked.Load(), before, provider)
		}
	})
	t.Run("allow-local-connectors", func(t *testing.T) {
		host, port, err := net.SplitHostPort(strings.TrimPrefix(other.URL, "http://"))
		require.NoError(t, err)
		login := func(address string) string {
			_, _, body := ask(t, "POST", address+"/connectors", strings.NewReader(`{"provider":"imap","database":"d","credentials":{"host":"`+host+`","port":`+port+`,"security":"none","user":"u","password":"p"}}`), nil)
			return body
		}
		assert.NotEqual(t, login(plain), login(narrow))
		assert.NotContains(t, login(narrow), "security")
	})
	t.Run("max-held-bytes", func(t *testing.T) {
		body := `{"tenant_id":"d","memories":[{"text":"` + strings.Repeat("x", 1500) + `"}]}`
		code, _, _ := ask(t, "POST", plain+"/memories/add_memory", strings.NewReader(body), nil)
		assert.Less(t, code, 300)
		held, _ := serving(t, t.TempDir(), "--api-keys", "secret", "--max-held-bytes", "1")
		require.Less(t, database(held, ""), 300)
		body = `{"tenant_id":"d","memories":[{"text":"` + strings.Repeat("x ", 80<<10) + `"}]}`
		code, h, _ := ask(t, "POST", held+"/memories/add_memory", strings.NewReader(body), nil)
		assert.Equal(t, http.StatusServiceUnavailable, code)
		assert.NotEmpty(t, h.Get("Retry-After"))
	})
	t.Run("trusted-proxies", func(t *testing.T) {
		link := func(address string) string {
			c, err := client.New(address, "secret", nil)
			require.NoError(t, err)
			_, err = c.Tenant("d").Sub("").AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: "f", Name: "f.txt", Data: []byte("Tea.")}}})
			require.NoError(t, err)
			_, err = c.Tenant("d").Sub("").Wait(t.Context(), "f")
			require.NoError(t, err)
			_, _, body := ask(t, "GET", address+"/context/inspect?database=d&id=f&mode=url", nil, func(h http.Header) { h.Set("X-Forwarded-Host", "memory.example") })
			return body
		}
		assert.Contains(t, link(narrow), "http://memory.example/content/")
		assert.NotContains(t, link(plain), "memory.example")
	})
	t.Run("backup-dir", func(t *testing.T) {
		write := func(address string) string {
			jar := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
			post := func(path, form string, cookies []*http.Cookie) *http.Response {
				r, err := http.NewRequestWithContext(t.Context(), "POST", address+path, strings.NewReader(form))
				require.NoError(t, err)
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				for _, c := range cookies {
					r.AddCookie(c)
				}
				res, err := jar.Do(r)
				require.NoError(t, err)
				return res
			}
			res := post("/console/login", "key=secret", nil)
			cookies := res.Cookies()
			require.NoError(t, res.Body.Close())
			require.NotEmpty(t, cookies)
			r, err := http.NewRequestWithContext(t.Context(), "GET", address+"/console/system", nil)
			require.NoError(t, err)
			for _, c := range cookies {
				r.AddCookie(c)
			}
			res, err = jar.Do(r)
			require.NoError(t, err)
			page, err := io.ReadAll(res.Body)
			require.NoError(t, errors.Join(err, res.Body.Close()))
			_, token, ok := strings.Cut(string(page), `name="csrf" value="`)
			require.True(t, ok)
			token, _, _ = strings.Cut(token, `"`)
			res = post("/console/system/backup", "csrf="+token, cookies)
			defer func() { _ = res.Body.Close() }()
			b, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			return string(b)
		}
		assert.Contains(t, write(plain), "no directory for backups")
		write(narrow)
		assert.Eventually(t, func() bool { e, err := os.ReadDir(backups); return err == nil && len(e) > 0 }, time.Minute, 20*time.Millisecond)
	})
}

// TestServeShutdown checks that a running request has --shutdown-timeout to end.
func TestServeShutdown(t *testing.T) {
	t.Parallel()
	for _, wait := range []string{"1ms", "1m"} {
		t.Run(wait, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			cmd := program(ctx, t, t.TempDir(), "serve", "--addr", "127.0.0.1:0", "--api-keys", "secret", "--shutdown-timeout", wait)
			errs, err := cmd.StderrPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			line := make([]byte, 256)
			n, err := errs.Read(line)
			require.NoError(t, err)
			_, address, ok := strings.Cut(strings.Split(string(line[:n]), "\n")[0], "ready at http://")
			require.True(t, ok, "%s", line[:n])
			c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
			require.NoError(t, err)
			body := `{"database":"d"}`
			fmt.Fprintf(c, "POST /databases HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", len(body))
			b := make([]byte, 512)
			n, err = c.Read(b) // it waits for the body: the request is under way
			require.NoError(t, err)
			require.Contains(t, string(b[:n]), "100 Continue")
			require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
			if wait == "1m" {
				for { // until it listens no more
					probe, err := new(net.Dialer).DialContext(ctx, "tcp", address)
					if err != nil {
						break
					}
					_ = probe.Close()
				}
				fmt.Fprint(c, body)
				n, err = c.Read(b)
				require.NoError(t, err)
				require.Contains(t, string(b[:n]), "HTTP/1.1 20")
			}
			rest, _ := io.ReadAll(errs)
			err = cmd.Wait()
			require.NoError(t, c.Close())
			if wait == "1m" {
				require.NoError(t, err, "%s", rest)
			} else {
				require.Error(t, err)
				require.Contains(t, string(rest), "were cut off")
			}
			cancel()
		})
	}
}

// TestVerifyDamage checks that verify exits with code 1 and names the damage, as text and as JSON, and exits with 0 for
// an undamaged directory.
func TestVerifyDamage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := "The quick lighthouse keeper counts seventeen herons before breakfast."
	require.Zero(t, inProcess(t, dir, "", "add", "--id", "herons", "-s", "alice", text).code)
	require.Zero(t, inProcess(t, dir, "", "ingest", "demo").code)
	well := inProcess(t, dir, "", "verify", "--json")
	require.Zero(t, well.code, well.err)
	require.Contains(t, well.out, `"ok":true`)

	changed := 0
	require.NoError(t, filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if !strings.HasSuffix(name, ".db") || !bytes.Contains(b, []byte("lighthouse keeper")) {
			return nil
		}
		changed++
		return os.WriteFile(name, bytes.ReplaceAll(b, []byte("lighthouse keeper"), []byte("lighthouse reaper")), 0o600)
	}))
	require.Positive(t, changed)
	c := inProcess(t, dir, "", "verify")
	require.Equal(t, exitFailure, c.code, c.out)
	require.Contains(t, c.out, "damaged: main\t")
	require.Contains(t, c.out, "alice\therons")
	require.Contains(t, c.err, "something is damaged")
	require.NotContains(t, c.out+c.err, "reaper")
	c = inProcess(t, dir, "", "verify", "--json")
	require.Equal(t, exitFailure, c.code)
	var said struct {
		OK       bool
		Problems []problem
	}
	require.NoError(t, json.Unmarshal([]byte(c.out), &said), c.out)
	require.False(t, said.OK)
	require.Equal(t, "herons", said.Problems[0].ID)
	require.Contains(t, inProcess(t, dir, "", "recall", "-s", "", "who has allergens?").out, "\t", "what is whole is found")
}

// TestJSON checks that with --json every command with output prints only JSON.
func TestJSON(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	without := map[string]string{"serve": "serves", "mcp": "speaks MCP", "proxy": "serves", "man": "writes pages", "help": "for people", "flags": "for people", "completion bash": "a script", "completion zsh": "a script",
		"completion fish": "a script", "completion powershell": "a script"}
	foreign, backup, ours := filepath.Join(dir, "mem0.json"), filepath.Join(dir, "backup"), filepath.Join(dir, "main.jsonl")
	require.NoError(t, os.WriteFile(foreign, []byte(`{"results":[{"id":"1","memory":"Prefers green tea.","user_id":"alice"}]}`), 0o600))
	set := filepath.Join("..", "..", "eval", "testdata")
	entries, err := os.ReadDir(set)
	require.NoError(t, err)
	for _, e := range entries {
		if strings.Contains(e.Name(), ".json") {
			set = filepath.Join(set, e.Name())
			break
		}
	}
	var key string
	shown := map[string]bool{"migrate": true} // by TestServerMoves
	for _, x := range []struct {
		words string
		args  []string
	}{
		{"add", []string{"--id", "m1", "I live in Lisbon.", "--infer"}}, {"ingest", []string{"demo"}}, {"recall", []string{"where do I live?"}}, {"facts", nil}, {"ls", nil}, {"show", []string{"m1"}},
		{"add", []string{"--id", "m1", "I live in Lima."}}, {"show", []string{"--history", "m1"}}, {"revert", []string{"m1", "1"}},
		{"tenants", nil}, {"tenants create", []string{"other"}}, {"tenants rm", []string{"other"}}, {"keys create", nil}, {"keys", nil}, {"keys rm", []string{"KEY"}},
		{"export", []string{"-o", ours}}, {"import", []string{"-t", "copy", "--dry-run", ours}}, {"import", []string{"-t", "copy", ours}}, {"import", []string{"--dry-run", foreign}}, {"import", []string{foreign}},
		{"backup", []string{backup}}, {"restore", []string{backup, "--data", filepath.Join(dir, "moved")}}, {"verify", nil}, {"reembed", nil}, {"eval", []string{set}}, {"doctor", nil}, {"demo", nil}, {"rm", []string{"m1"}}, {"erase", []string{"nobody"}},
	} {
		t.Run(x.words, func(t *testing.T) {
			args := append(strings.Fields(x.words), x.args...)
			for i, a := range args {
				if a == "KEY" {
					args[i] = key
				}
			}
			c := inProcess(t, data, "", append(args, "--json")...)
			require.Zero(t, c.code, "%v: %s", args, c.err)
			require.Empty(t, c.err, "%v", args)
			var v any
			require.NoError(t, json.Unmarshal([]byte(c.out), &v), "%v: %s", args, c.out)
			if m, ok := v.(map[string]any); ok && x.words == "keys create" {
				key, _ = m["id"].(string)
				require.NotEmpty(t, key)
			}
			shown[x.words] = true
		})
	}
	for words := range commands(newRoot(&app{streams: streams{env: func(string) string { return "" }}})) {
		if words == "contextmem" || words == "completion" {
			continue
		}
		require.NotEqual(t, shown[words], without[words] != "", "%s: does it speak JSON?", words)
	}
}

// TestImportOfOurs checks that the dry run of an export prints its content and creates nothing, and that a truncated
// export is refused before anything is created.
func TestImportOfOurs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, file := filepath.Join(dir, "data"), filepath.Join(dir, "a.jsonl")
	do := func(args ...string) call { t.Helper(); return inProcess(t, data, "", args...) }
	require.Zero(t, do("add", "-s", "alice", "Alice takes her coffee black.").code)
	require.Zero(t, do("ingest", "demo").code)
	c := do("export", "-o", file)
	require.Zero(t, c.code, c.err)
	require.Contains(t, c.out, "wrote ")
	c = do("import", "-t", "copy", "--dry-run", file)
	require.Zero(t, c.code, c.err)
	require.Contains(t, c.out, "contextmem: would take in 1 memories and 5 documents into 2 sub-tenants, 0 failed")
	require.NotContains(t, do("tenants").out, "copy")
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	cut := filepath.Join(dir, "cut.jsonl")
	require.NoError(t, os.WriteFile(cut, b[:bytes.LastIndex(b, []byte(`{"end"`))], 0o600))
	c = do("import", "-t", "copy", cut)
	require.Equal(t, exitFailure, c.code)
	require.Contains(t, c.err, "cut off")
	require.NotContains(t, do("tenants").out, "copy")
	c = do("import", "-t", "copy", file)
	require.Zero(t, c.code, c.err)
	require.Contains(t, c.out, "contextmem: took in 1 memories and 5 documents")
	require.Contains(t, do("recall", "-t", "copy", "-s", "alice", "how does Alice drink coffee?").out, "black")
	again := filepath.Join(dir, "b.jsonl")
	require.Zero(t, do("export", "-t", "copy", "-o", again).code)
	require.Contains(t, do("import", "--dry-run", "-t", "third", again).out, "would take in 1 memories and 5 documents into 2 sub-tenants")
}

// TestCompletionInShells checks that the requests of the completion scripts return flags and their values, and that
// bash and the reader of manual pages accept the output of the program.
func TestCompletionInShells(t *testing.T) {
	t.Parallel()
	require.Contains(t, inProcess(t, t.TempDir(), "", "__complete", "rec").out, "recall\t")
	require.Contains(t, inProcess(t, t.TempDir(), "", "__complete", "recall", "--cl").out, "--class\t")
	dir := t.TempDir()
	require.Zero(t, inProcess(t, dir, "", "man", dir).code)
	if bash, err := exec.LookPath("bash"); err == nil {
		cmd := exec.CommandContext(t.Context(), bash, "-c", `source /dev/stdin && complete -p contextmem`)
		cmd.Stdin = strings.NewReader(inProcess(t, dir, "", "completion", "bash").out)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "__start_contextmem")
	}
	if man, err := exec.LookPath("man"); err == nil {
		cmd := exec.CommandContext(t.Context(), man, "--warnings", "-l", filepath.Join(dir, "contextmem.1"))
		cmd.Env = append(os.Environ(), "MANPAGER=cat", "PAGER=cat")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "Context memory for AI agents")
		require.NotContains(t, string(out), "warning")
	}
}
