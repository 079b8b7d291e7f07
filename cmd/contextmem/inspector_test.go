package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// noNetwork are the codes of npm for a missing network.
var noNetwork = regexp.MustCompile(`\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|E401|E403|E407|E5\d\d)\b`)

// clientTimedOut is the Inspector's message when no answer arrives within its minute. One in a test is allowed, and
// logged: it is unknown which side loses the answer, and 300 consecutive requests on a loaded machine lost none.
var clientTimedOut = regexp.MustCompile(`-32001|[Rr]equest timed out`)

// installInspector installs the Inspector and returns its program. It skips the test without Node or a registry.
func installInspector(ctx context.Context, t *testing.T) string {
	t.Helper()
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			leaveOut(t, "the Inspector needs "+tool+", which is not installed")
		}
	}
	dir := t.TempDir()
	b, err := os.ReadFile(filepath.Join("testdata", "inspector", "package.json"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "package.json"), b, 0o600))
	cmd := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", "--fetch-retries=1", "--loglevel=error")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		if ctx.Err() != nil || noNetwork.Match(out) {
			leaveOut(t, fmt.Sprint("the npm registry can't be reached: ", err))
		}
		require.NoError(t, err, "%s", out)
	}
	return filepath.Join(dir, "node_modules", ".bin", "mcp-inspector")
}

// TestInspector runs the command line of the official MCP Inspector against the program, over stdio and over HTTP.
func TestInspector(t *testing.T) {
	t.Parallel()
	withCgo(t)
	if testing.Short() {
		t.Skip("the Inspector comes from the npm registry: left out with -short")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	inspector, err := exec.LookPath("mcp-inspector") // one that is installed saves the installation
	if err != nil {
		inspector = installInspector(ctx, t)
	}
	data := t.TempDir()
	address, end := serving(t, t.TempDir(), "--api-keys", "secret")
	defer end()
	to, err := url.Parse(address)
	require.NoError(t, err)
	keyed := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { // this command line sends no headers
		r.SetURL(to)
		r.Out.Header.Set("Authorization", "Bearer secret")
	}})
	defer keyed.Close()
	for name, at := range map[string][]string{
		"stdio": {os.Args[0], "mcp"},
		"http":  {keyed.URL + "/mcp"},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			again := false // a request was sent twice: its first answer did not reach the Inspector
			ask := func(out any, args ...string) {
				t.Helper()
				var b []byte
				for {
					cmd := exec.CommandContext(ctx, inspector, slices.Concat([]string{"--cli"}, at, args)...)
					cmd.Env = append(os.Environ(), programEnv+"=1", "CONTEXTMEM_DATA="+data, "CONTEXTMEM_EMBEDDER=static")
					var said bytes.Buffer
					cmd.Stderr = &said
					b, err = cmd.Output()
					if err == nil || again || !clientTimedOut.Match(said.Bytes()) {
						require.NoError(t, err, "%s: %v: %s%s", name, args, b, said.Bytes())
						break
					}
					again = true
					t.Logf("%s: %v: asked again after: %s", name, args, said.Bytes())
				}
				require.NoError(t, json.Unmarshal(b, out), "%s: %s", name, b)
			}
			var tools struct{ Tools []struct{ Name string } }
			ask(&tools, "--method", "tools/list")
			var names []string
			for _, x := range tools.Tools {
				names = append(names, x.Name)
			}
			require.Subset(t, names, []string{"remember", "recall", "facts", "forget", "ingest", "profile", "list"}, name)
			var m struct{ StructuredContent remembered }
			ask(&m, "--method", "tools/call", "--tool-name", "remember", "--tool-arg", "text=Bob drinks green tea at noon.")
			require.True(t, m.StructuredContent.Stored || again, name)
			var r struct{ StructuredContent recalled }
			ask(&r, "--method", "tools/call", "--tool-name", "recall", "--tool-arg", "question=What does Bob drink?", "max=1")
			require.Len(t, r.StructuredContent.Passages, 1, name)
			require.Equal(t, m.StructuredContent.ID, r.StructuredContent.Passages[0].ID, name)
			var read struct{ Contents []struct{ Text string } }
			ask(&read, "--method", "resources/read", "--uri", r.StructuredContent.Passages[0].URI)
			require.Equal(t, "Bob drinks green tea at noon.", read.Contents[0].Text, name)
			var templates struct {
				ResourceTemplates []struct{ URITemplate string }
			}
			ask(&templates, "--method", "resources/templates/list")
			require.Len(t, templates.ResourceTemplates, 1, name)
			var prompts struct{ Prompts []struct{ Name string } }
			ask(&prompts, "--method", "prompts/list")
			require.Equal(t, "with_memory", prompts.Prompts[0].Name, name)
			var p struct {
				Messages []struct{ Content struct{ Text string } }
			}
			ask(&p, "--method", "prompts/get", "--prompt-name", "with_memory", "--prompt-args", "question=What does Bob drink?")
			require.Contains(t, p.Messages[0].Content.Text, "green tea", name)
		})
	}
}
