package sdkcheck

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// commandLine is the public command line for this contract, Apache-2.0.
const commandLine = "hydradb-cli==0.1.0"

// noIndex is what pip says where PyPI can't be reached.
var noIndex = regexp.MustCompile(`Failed to establish a new connection|Could not find a version|Connection refused|name resolution|ProxyError|ConnectionError|Read timed out`)

// line is the public command line in an environment of its own.
type line struct {
	ctx context.Context
	t   *testing.T
	bin string
	env []string
}

// installLine makes a virtual environment with the command line in it.
func installLine(ctx context.Context, t *testing.T, dir string) string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		leaveOut(t, "the command line needs python3, which is not installed")
	}
	if out, err := exec.CommandContext(ctx, python, "-m", "venv", dir).CombinedOutput(); err != nil {
		leaveOut(t, "the command line needs Python's venv with pip: %v: %s", err, out)
	}
	bin := filepath.Join(dir, "bin")
	if runtime.GOOS == "windows" {
		bin = filepath.Join(dir, "Scripts")
	}
	ictx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	out, err := exec.CommandContext(ictx, filepath.Join(bin, "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", commandLine).CombinedOutput()
	if err != nil && (ictx.Err() != nil || noIndex.Match(out)) {
		leaveOut(t, "the command line comes from PyPI, which can't be reached: %v", err)
	}
	require.NoError(t, err, "%s", out)
	return filepath.Join(bin, "hydradb")
}

// run runs a command. in is its standard input.
func (l line) run(in string, args ...string) (out, errs string, err error) {
	var o, e bytes.Buffer
	cmd := exec.CommandContext(l.ctx, l.bin, args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = l.env, strings.NewReader(in), &o, &e
	err = cmd.Run()
	return o.String(), e.String(), err
}

// does runs a command that must succeed, and returns what it says to people.
func (l line) does(args ...string) string {
	l.t.Helper()
	out, errs, err := l.run("", args...)
	require.NoError(l.t, err, "%v: %s%s", args, out, errs)
	return out
}

// answers runs a command that must succeed, and reads its JSON into v.
func (l line) answers(v any, args ...string) {
	l.t.Helper()
	out := l.does(append([]string{"-o", "json"}, args...)...)
	require.NoError(l.t, json.Unmarshal([]byte(out), v), "%v: %s", args, out)
}

// refuses runs a command that must fail with a text that holds what.
func (l line) refuses(what string, args ...string) {
	l.t.Helper()
	out, errs, err := l.run("", args...)
	require.Error(l.t, err, "%v: %s", args, out)
	assert.Contains(l.t, strings.Join(strings.Fields(out+errs), " "), what, "%v", args)
}

// runCommandLine calls every command that asks the service, and checks what it makes of the answers.
func runCommandLine(ctx context.Context, t *testing.T, address string) {
	home := t.TempDir()
	l := line{ctx: ctx, t: t, bin: installLine(ctx, t, filepath.Join(home, "venv")),
		env: append(os.Environ(), "HOME="+home, "USERPROFILE="+home, "HYDRA_DB_BASE_URL="+address, "HYDRA_DB_API_KEY="+commandKey, "HYDRA_DB_TENANT_ID=acme", "COLUMNS=200")}

	require.Contains(t, l.does("tenant", "create", "acme"), "Tenant acme created")
	require.Eventually(t, func() bool { _, _, err := l.run("", "tenant", "monitor"); return err == nil }, patience, 50*time.Millisecond)

	var added struct {
		Success bool `json:"success"`
		Count   int  `json:"success_count"`
		Results []struct {
			ID string `json:"source_id"`
		} `json:"results"`
	}
	l.answers(&added, "memories", "add", "--text", "Alice takes her coffee black.", "--source-id", "coffee", "--user-name", "Alice")
	require.True(t, added.Success && added.Count == 1 && added.Results[0].ID == "coffee", "%+v", added)
	out, errs, err := l.run("Carol lives in Porto and works for Acme.\n", "-o", "json", "memories", "add")
	require.NoError(t, err, errs)
	require.NoError(t, json.Unmarshal([]byte(out), &added), out)
	carol := added.Results[0].ID
	files := t.TempDir()
	pricing, manual := filepath.Join(files, "pricing.md"), filepath.Join(files, "manual.txt")
	require.NoError(t, os.WriteFile(pricing, []byte("# Pricing\n\nThe starter plan costs ten dollars a month."), 0o600))
	require.NoError(t, os.WriteFile(manual, []byte("Every pump is cleaned on Friday by the night shift."), 0o600))
	l.answers(&added, "knowledge", "upload", pricing, manual, "--upsert")
	require.Equal(t, 2, added.Count)
	ids := []string{added.Results[0].ID, added.Results[1].ID, "ticket"}
	l.answers(&added, "knowledge", "upload-text", "--text", "The printer is out of toner.", "--title", "Printer", "--source-id", "ticket")
	require.Equal(t, "ticket", added.Results[0].ID)
	completed := func(ids ...string) func() bool {
		return func() bool {
			var states struct {
				Statuses []struct {
					Status string `json:"indexing_status"`
				} `json:"statuses"`
			}
			l.answers(&states, append([]string{"knowledge", "verify"}, ids...)...)
			for _, s := range states.Statuses {
				require.NotEqual(t, "errored", s.Status)
				if s.Status != "completed" {
					return false
				}
			}
			return len(states.Statuses) == len(ids)
		}
	}
	require.Eventually(t, completed(ids...), patience, 50*time.Millisecond)
	require.Eventually(t, completed("coffee", carol), patience, 50*time.Millisecond)
	verified := l.does("knowledge", "verify", "ticket", "nothing")
	require.Contains(t, verified, "indexed")
	require.Contains(t, verified, "does not exist")

	first := func(args ...string) (id string) {
		t.Helper()
		var found struct {
			Chunks []struct {
				ID string `json:"source_id"`
			} `json:"chunks"`
		}
		l.answers(&found, append([]string{"recall"}, args...)...)
		require.NotEmpty(t, found.Chunks, "%v", args)
		return found.Chunks[0].ID
	}
	assert.Equal(t, ids[0], first("full", "what does the starter plan cost?"))
	assert.Equal(t, ids[1], first("full", "who cleans the pumps?", "--mode", "thinking", "--alpha", "0.5", "--recency-bias", "0.2", "--graph-context", "--max-results", "2", "--context", "we sell pumps"))
	assert.Equal(t, "coffee", first("preferences", "how does Alice drink coffee?"))
	assert.Equal(t, "ticket", first("keyword", "printer toner", "--operator", "and", "--search-mode", "sources"))
	assert.Equal(t, "coffee", first("keyword", "coffee black", "--operator", "phrase", "--search-mode", "memories"))
	assert.Contains(t, l.does("recall", "full", "what does the starter plan cost?"), "ten dollars a month", "for people")

	assert.Contains(t, l.does("memories", "list"), "Alice takes her coffee black.")
	assert.Contains(t, l.does("fetch", "sources", "--kind", "memories"), "Found 2")
	assert.Contains(t, l.does("fetch", "sources"), "Total: 3")
	assert.Contains(t, l.does("fetch", "sources", "--kind", "knowledge", "--page", "1", "--page-size", "1"), "Next page: --page 2")
	assert.Contains(t, l.does("fetch", "content", "ticket"), "The printer is out of toner.")
	var content struct {
		URL string `json:"presigned_url"`
	}
	l.answers(&content, "fetch", "content", ids[0], "--mode", "both")
	assert.Contains(t, content.URL, address)
	var graph struct {
		Relations []struct {
			Source, Target struct{ Name string }
		} `json:"relations"`
	}
	l.answers(&graph, "fetch", "relations", carol, "--is-memory", "--limit", "5")
	assert.NotEmpty(t, graph.Relations)
	assert.Contains(t, l.does("tenant", "list-sub-tenants"), "acme")
	assert.Contains(t, l.does("tenant", "monitor"), "memory_collection")

	l.refuses("not found", "fetch", "content", "absent")
	l.refuses("tenant not found", "tenant", "monitor", "absent")
	l.refuses("exists", "tenant", "create", "acme")
	l.refuses("memory not found", "memories", "delete", "absent", "--yes")
	stranger := l
	stranger.env = append(append([]string{}, l.env...), "HYDRA_DB_API_KEY=nobody")
	stranger.refuses("Authentication failed", "tenant", "monitor")

	l.does("memories", "delete", "coffee", "--yes")
	l.does("knowledge", "delete", "ticket", "--yes")
	assert.NotContains(t, l.does("memories", "list"), "coffee")
	l.refuses("not found", "fetch", "content", "ticket")
	assert.Contains(t, l.does("tenant", "create", "vectors", "--embeddings", "--embeddings-dimension", "8"), "created")

	require.Contains(t, l.does("login", "--api-key", commandKey, "--tenant-id", "acme", "--base-url", address), "Logged in")
	saved := l
	saved.env = append(os.Environ(), "HOME="+home, "USERPROFILE="+home, "COLUMNS=200")
	assert.Contains(t, saved.does("tenant", "monitor"), "memory_collection", "with what login saved")
	assert.Contains(t, l.does("tenant", "delete", "vectors", "--yes"), "deleted")
	assert.Contains(t, l.does("tenant", "delete", "acme", "--yes"), "deleted")
	l.refuses("tenant not found", "tenant", "monitor")
}
