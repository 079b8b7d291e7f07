package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/client"
	"github.com/contextmem/contextmem/internal/testtool"
)

const programEnv = "CONTEXTMEM_TEST_IS_THE_PROGRAM"

// TestMain runs the program itself if a test starts it as one.
func TestMain(m *testing.M) {
	if os.Getenv(programEnv) != "" {
		main()
		return
	}
	os.Exit(withCaches(m.Run))
}

// withCgo skips a test in a build without cgo. The test opens no SQLite, or tries what does not depend on it, and nothing
// else of the program depends on cgo: the gate runs the test once, in the build with cgo.
func withCgo(t *testing.T) {
	t.Helper()
	info, ok := debug.ReadBuildInfo()
	require.True(t, ok)
	if slices.Contains(info.Settings, debug.BuildSetting{Key: "CGO_ENABLED", Value: "0"}) {
		t.Skip("does not depend on how SQLite is built: runs in the build with cgo")
	}
}

// withCaches runs the tests with a temporary folder for the user's caches. Cached builds of test tools stay where they
// are.
func withCaches(run func() int) int {
	if cache, err := os.UserCacheDir(); err == nil && os.Getenv(testtool.EnvCache) == "" {
		if err := os.Setenv(testtool.EnvCache, cache); err != nil {
			panic(err)
		}
	}
	dir, err := os.MkdirTemp("", "contextmem-caches")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Setenv("XDG_CACHE_HOME", dir); err != nil {
		panic(err)
	}
	return run()
}

// program returns a command that runs the built program with its own environment.
func program(ctx context.Context, t testing.TB, dir string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), programEnv+"=1", "CONTEXTMEM_DATA="+dir, "CONTEXTMEM_EMBEDDER=static")
	return cmd
}

// call is the result of a command run in this process.
type call struct {
	code     int
	out, err string
}

func inProcess(t *testing.T, dir, in string, args ...string) call {
	t.Helper()
	var out, errs bytes.Buffer
	env := map[string]string{"CONTEXTMEM_DATA": dir, "CONTEXTMEM_EMBEDDER": "static"}
	code := run(t.Context(), args, streams{in: strings.NewReader(in), out: &out, err: &errs, env: func(k string) string { return env[k] }})
	return call{code, out.String(), errs.String()}
}

// TestCommands runs the commands one after the other on one directory.
func TestCommands(t *testing.T) {
	t.Parallel()
	dir, files := filepath.Join(t.TempDir(), "data"), t.TempDir()
	do := func(args ...string) call { t.Helper(); return inProcess(t, dir, "", args...) }
	ok := func(args ...string) string {
		t.Helper()
		c := do(args...)
		require.Zero(t, c.code, "%v: %s", args, c.err)
		return c.out
	}
	write := func(name, text string) {
		t.Helper()
		p := filepath.Join(files, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o700))
		require.NoError(t, os.WriteFile(p, []byte(text), 0o600))
	}

	require.Equal(t, "coffee\n", ok("add", "--id", "coffee", "-s", "alice", "Alice takes her coffee black."))
	c := inProcess(t, dir, "Alice plays the cello.\n", "add", "-s", "alice", "--json", "--time", "2024-05-03", "-m", "team=red")
	require.Zero(t, c.code, c.err)
	var added struct{ ID, Status string }
	require.NoError(t, json.Unmarshal([]byte(c.out), &added))
	require.Equal(t, "completed", added.Status)
	require.Contains(t, strings.Split(ok("recall", "-s", "alice", "how does Alice drink coffee?"), "\n")[0], "coffee\tAlice takes her coffee black.")
	var found struct {
		Hits []struct{ ID, Text string }
	}
	require.NoError(t, json.Unmarshal([]byte(ok("recall", "--json", "-s", "alice", "-n", "1", "which instrument does she play?")), &found))
	require.Len(t, found.Hits, 1)
	require.Equal(t, added.ID, found.Hits[0].ID)

	ok("add", "--id", "bonn", "-s", "nora", "--time", "2024-01-05", "Nora lives in Bonn.")
	ok("add", "--id", "oslo", "-s", "nora", "--time", "2025-03-01", "Nora moved to Oslo and no longer lives in Bonn.")
	lines := strings.Split(ok("recall", "-s", "nora", "where does Nora live?"), "\n")
	require.Contains(t, lines[0], "oslo\tNora moved to Oslo")
	require.Contains(t, lines[1], "bonn\tNora lives in Bonn.\theld until 2025-03-01, then oslo")
	require.Contains(t, strings.Split(ok("recall", "-s", "nora", "--as-of", "2024-06-01", "where does Nora live?"), "\n")[0], "bonn\t")
	early := do("recall", "-s", "nora", "--as-of", "2023-06-01", "where does Nora live?")
	require.Contains(t, early.out, "told later, on 2024-01-05: may not have been true then")
	require.Contains(t, early.err, "no memory that was told by 2023-06-01")
	require.Contains(t, ok("facts", "-s", "nora", "--as-of", "2023-06-01"), "told later, on 2024-01-05")
	require.Empty(t, ok("facts", "-s", "nora", "--known-at", "2023-06-01"))
	require.NotContains(t, ok("recall", "-s", "nora", "--superseded", "drop", "where does Nora live?"), "bonn\t")
	require.Contains(t, ok("recall", "-s", "nora", "--explain", "where does Nora live?"), "succession")
	require.Contains(t, ok("recall", "-s", "nora", "--prompt", "100", "where does Nora live?"), "[1] 2025-03-01\nNora moved")
	block := do("recall", "-s", "nora", "--prompt", "100", "--explain", "where does Nora live?")
	require.Equal(t, ok("recall", "-s", "nora", "--prompt", "100", "where does Nora live?"), block.out)
	require.Regexp(t, `(?m)^\d\.\d{3}\toslo\n   semantic `, block.err)
	var explained struct {
		Text string
		Hits []struct{ Explain map[string]any }
	}
	require.NoError(t, json.Unmarshal([]byte(ok("recall", "--json", "-s", "nora", "--prompt", "100", "--explain", "where does Nora live?")), &explained))
	require.Equal(t, block.out, explained.Text)
	require.NotEmpty(t, explained.Hits[0].Explain)
	require.Empty(t, ok("recall", "-s", "nora", "--min-relevance", "1", "where does Nora live?"))
	require.Equal(t, exitUsage, do("recall", "--as-of", "soon", "x").code)
	require.Equal(t, exitUsage, do("recall", "--superseded", "gone", "x").code)
	var told struct {
		Hits []struct {
			ID           string
			Relevance    float64
			SupersededBy string `json:"superseded_by"`
			Until        string `json:"valid_to"`
			Explain      map[string]any
		}
	}
	require.NoError(t, json.Unmarshal([]byte(ok("recall", "--json", "--explain", "-s", "nora", "where does Nora live?")), &told))
	require.Equal(t, []string{"oslo", "2025-03-01"}, []string{told.Hits[1].SupersededBy, told.Hits[1].Until[:10]})
	require.Positive(t, told.Hits[0].Relevance)
	require.NotEmpty(t, told.Hits[0].Explain)

	write("oven.md", "# Oven\n\nThe oven is cleaned on Mondays.")
	write("sub/a,b.txt", "The flour arrives on Tuesday.")
	write("program.exe", "MZ\x00\x01")
	write("empty.txt", "")
	write(".hidden", "no")
	out := ok("ingest", files)
	require.Contains(t, out, "2 added, 0 unchanged, 1 empty, 1 unsupported, 0 failed")
	require.Contains(t, out, "unsupported: program.exe: ")
	write("oven.md", "# Oven\n\nThe oven is cleaned on Fridays.")
	require.Contains(t, ok("ingest", files), "1 added, 1 unchanged, 1 empty, 1 unsupported, 0 failed")
	require.Contains(t, ok("recall", "--class", "knowledge", "when is the oven cleaned?"), "Fridays")
	past := ok("show", "--history", "oven.md")
	require.Regexp(t, `^version 2, stored \S+\n`, past)
	require.Contains(t, past, "- The oven is cleaned on Mondays.\n+ The oven is cleaned on Fridays.\n")
	require.Contains(t, past, " by 2 (add)\n")
	require.Equal(t, exitUsage, do("show", "--history", "--raw", "oven.md").code)
	require.Equal(t, exitUsage, do("revert", "oven.md", "first").code)
	require.NotZero(t, do("revert", "oven.md", "2").code, "it is the newest")
	require.Contains(t, ok("revert", "oven.md", "1"), "says again what version 1 said")
	require.Contains(t, ok("show", "--history", "oven.md"), "version 3, stored")
	require.Zero(t, do("revert", "oven.md", "2").code)
	write("broken.pdf", "%PDF-1.7 and nothing")
	c = do("ingest", files, "--json")
	require.Equal(t, exitPartial, c.code, c.err)
	var report struct{ Failed []failedFile }
	require.NoError(t, json.Unmarshal([]byte(c.out), &report))
	require.Len(t, report.Failed, 1)
	require.Equal(t, "broken.pdf", report.Failed[0].Path)
	require.Contains(t, ok("ls", "--status", "errored"), "broken.pdf")
	require.Contains(t, ok("show", "broken.pdf"), "error:   E")
	require.Contains(t, ok("doctor"), "1 failed files")

	require.Regexp(t, regexp.MustCompile(`(?m)^oven.md +knowledge +completed`), ok("ls"))
	require.Contains(t, ok("show", "coffee", "-s", "alice"), "Alice takes her coffee black.")
	require.Equal(t, "The flour arrives on Tuesday.", ok("show", "--raw", "sub/a%2Cb.txt"))
	file := filepath.Join(t.TempDir(), "main.jsonl")
	ok("export", "-o", file)
	ok("import", "-t", "copy", file)
	require.Contains(t, ok("recall", "-t", "copy", "when is the oven cleaned?"), "Fridays")
	require.Equal(t, exitFailure, do("import", "-t", "copy", file).code)
	ok("tenants", "create", "third", "--filterable", "team")
	require.Contains(t, ok("tenants"), "third")
	ok("tenants", "rm", "third")
	ok("reembed", "-t", "copy")

	require.Contains(t, ok("add", "--infer", "-s", "facts", "I live in Lisbon."), "-")
	require.Contains(t, do("facts", "-s", "facts", "What is the capital of Norway?").err, "--slot chooses one")
	require.NotContains(t, do("facts", "-s", "facts", "where", "do", "I", "live?").err, "--slot")
	out = ok("facts", "-s", "facts", "where", "do", "I", "live?")
	require.Contains(t, out, "lives in lisbon")
	require.Contains(t, out, "I live in Lisbon.")
	ok("add", "--infer", "-s", "facts", "--id", "told-again", "My home is in Lisbon now.")
	require.Contains(t, ok("facts", "-s", "facts", "--subject", "User", "where", "do", "I", "live?"), "told-again, ", "both memories in one line")
	require.Empty(t, ok("facts", "-s", "facts", "--subject", "Nobody"))
	require.Contains(t, ok("verify"), "0 problems in 2 tenants")
	backup := filepath.Join(t.TempDir(), "backup")
	require.Contains(t, ok("backup", backup), "2 tenants copied, 0 had not changed")
	require.Eventually(t, func() bool { return strings.Contains(ok("backup", backup), "0 tenants copied, 2 had not changed") }, time.Minute, time.Millisecond, "once background work is done")
	moved := filepath.Join(t.TempDir(), "new", "place")
	require.Zero(t, inProcess(t, moved, "", "restore", backup).code)
	require.Contains(t, inProcess(t, moved, "", "recall", "when is the oven cleaned?").out, "Fridays")
	require.Equal(t, exitFailure, inProcess(t, moved, "", "restore", backup).code, "it is not empty")
	require.Equal(t, exitFailure, inProcess(t, moved, "", "backup", dir).code, "it holds something else")
	require.Equal(t, exitUsage, inProcess(t, filepath.Join(moved, "nowhere"), "", "verify").code)

	text := strings.TrimSpace(ok("keys", "create", "--owner", "bob", "--tenants", "main", "--scopes", "query"))
	require.Contains(t, text, ".")
	require.Contains(t, ok("keys"), "query in main")
	id := strings.Fields(ok("keys"))[0]
	ok("keys", "rm", id)
	require.Equal(t, exitNotFound, do("keys", "rm", id).code)

	require.Contains(t, ok("rm", "coffee", "-s", "alice"), "1 deleted")
	gone := do("rm", "coffee", "-s", "alice")
	require.Equal(t, exitNotFound, gone.code)
	require.Contains(t, gone.err, "coffee: not found")
	require.Contains(t, do("recall", "-t", "nope", "x").err, `tenant "nope" not found`)
	require.Equal(t, exitPartial, do("rm", "oven.md", "nothing").code)
	ok("rm", "--all", "-s", "alice")
	require.Contains(t, ok("demo"), "Oat biscuit")
}

// TestUsage checks that wrong calls have the documented exit code, name the mistake, and print no secret.
func TestUsage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	conf := filepath.Join(dir, "bad.yaml")
	require.NoError(t, os.WriteFile(conf, []byte("dta: x\n"), 0o600))
	for text, args := range map[string][]string{
		"unknown command":               {"nonsense"},
		"see contextmem help flags":     {"ls", "--nonsense"},
		"--dir: is --data meant?":       {"add", "--dir", "x", "text"},
		"--collection: is --sub meant?": {"add", "--collection", "x", "text"},
		"--tenent: is --tenant meant":   {"ls", "--tenent", "x"},
		"unknown shorthand flag":        {"ls", "-q"},
		"contextmem show ID":            {"show"},
		"3 arguments are too":           {"show", "a", "b", "c"},
		"recall QUESTION...":            {"recall"},
		"--class":                       {"ls", "--class", "x"},
		"name=value":                    {"add", "-m", "x", "text"},
		"there is no question":          {"recall", " "},
		"--url: must be an http":        {"ls", "--url", "nowhere"},
		"--limit: is --max meant?":      {"ls", "--limit", "3"},
		"there is no argument \"file\", usage: contextmem export": {"export", "file"},
		"--addr: can't be listened on: lookup":                    {"serve", "--api-keys", "k", "--addr", "127.0.0.1:nowhere"},
		"there is no text":                                        {"add"},
		"--time: wants a date":                                    {"add", "--time", "soon", "text"},
		"--as-of: wants a date":                                   {"facts", "--as-of", "soon"},
		"--known-at: wants":                                       {"recall", "--known-at", "soon", "text"},
		"--embedder":                                              {"ls", "--embedder", "x"},
		"--connectors":                                            {"ls", "--connectors", "x"},
		"--slack-url":                                             {"ls", "--slack-url", "nowhere"},
		"--fast-embedder":                                         {"ls", "--fast-embedder", "x"},
		"--extractor":                                             {"ls", "--extractor", "x"},
		"model is missing":                                        {"ls", "--extractor", "openai", "--extractor-url", "http://127.0.0.1:1"},
		"--judge":                                                 {"ls", "--judge", "x"},
		"model is empty":                                          {"ls", "--judge", "openai", "--judge-url", "http://127.0.0.1:1"},
		"--summarizer":                                            {"ls", "--summarizer", "x"},
		"--connector-roots":                                       {"ls", "--connector-roots", "/does/not/exist"},
		"--secret-key":                                            {"ls", "--secret-key", "sesame"},
		"--model-cache":                                           {"ls", "--model-cache", "main.go"},
		"--trusted-proxies":                                       {"serve", "--api-keys", "k", "--trusted-proxies", "nobody"},
		"--api-keys":                                              {"serve", "--api-keys", "sesame,sesame=x"},
		"--tls-cert":                                              {"serve", "--api-keys", "k", "--tls-cert", "x"},
		"--addr":                                                  {"serve", "--api-keys", "k", "--addr", "nowhere:none"},
		"there is no API key":                                     {"serve", "--addr", "127.0.0.1:0"},
		"is the name of no flag":                                  {"ls", "--config", conf},
		"http or https":                                           {"ls", "--url", "nowhere"},
		`field "MaxResults"`:                                      {"recall", "--max", "5000", "-t", "demo", "text"},
		`field "ID"`:                                              {"tenants", "create", "no/name"},
	} {
		t.Run(text, func(t *testing.T) {
			c := inProcess(t, filepath.Join(dir, "data"), "", args...)
			require.Equal(t, exitUsage, c.code, "%v: %s", args, c.err)
			require.Contains(t, c.err, text, args)
			require.NotContains(t, c.err, "sesame")
		})
	}
}

// TestConfiguration checks that a flag takes precedence over the environment, and the environment over the file.
func TestConfiguration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	conf := filepath.Join(dir, "c.yaml")
	require.NoError(t, os.WriteFile(conf, []byte("tenant: from-file\nsub: from-file\nmax: 7\napi-keys: [a, b=c]\njson: true\n"), 0o600))
	env := map[string]string{"CONTEXTMEM_CONFIG": conf, "CONTEXTMEM_SUB": "from-env", "CONTEXTMEM_TENANT": "from-env"}
	a := &app{streams: streams{env: func(k string) string { return env[k] }}}
	root := newRoot(a)
	cmd, rest, err := root.Find([]string{"serve", "--tenant", "from-flag"})
	require.NoError(t, err)
	require.NoError(t, cmd.ParseFlags(rest))
	require.NoError(t, a.configure(cmd))
	require.Equal(t, []string{"from-flag", "from-env"}, []string{a.tenant, a.sub})
	require.True(t, a.asJSON)
	keys, err := cmd.Flags().GetStringSlice("api-keys")
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b=c"}, keys)
}

// serving starts the program as a server and returns its address, and a function that stops it.
func serving(t *testing.T, dir string, args ...string) (string, func()) {
	t.Helper()
	ctx, kill := context.WithTimeout(context.Background(), 5*time.Minute)
	cmd := program(ctx, t, dir, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	errs, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line := make([]byte, 0, 256)
	for !bytes.Contains(line, []byte("\n")) {
		b := make([]byte, 256)
		n, err := errs.Read(b)
		line = append(line, b[:n]...)
		if err != nil {
			_ = cmd.Wait()
			kill()
			t.Fatalf("serve ended: %s", line)
		}
	}
	ready, _, _ := strings.Cut(string(line), "\n") // another line may be there already
	_, address, ok := strings.Cut(ready, "ready at ")
	require.True(t, ok, "%s", line)
	ended := false
	end := func() {
		if ended {
			return
		}
		ended = true
		require.NoError(t, cmd.Process.Signal(os.Interrupt))
		require.NoError(t, cmd.Wait())
		kill()
	}
	t.Cleanup(end)
	return address, end
}

// TestServe runs the built program as a server, with commands on its directory and through it, and stops it.
func TestServe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	address, end := serving(t, dir, "--api-keys", "secret")
	c, err := client.New(address, "secret", nil)
	require.NoError(t, err)
	_, err = c.Tenants(t.Context())
	require.NoError(t, err)
	require.Zero(t, inProcess(t, dir, "", "add", "-s", "bob", "--id", "b1", "Bob's cat is called Miso.").code, "the directory is shared")
	remote := inProcess(t, dir, "", "recall", "--url", address, "--key", "secret", "-s", "bob", "what is the cat called?")
	require.Zero(t, remote.code, remote.err)
	require.Contains(t, remote.out, "Miso")
	for _, args := range [][]string{{"ls"}, {"show", "b1"}, {"tenants"}, {"ingest", "demo"}, {"demo"}, {"doctor"}, {"keys", "create"}, {"rm", "b1"}} {
		x := inProcess(t, dir, "", append(args, "--url", address, "--key", "secret", "-s", "bob")...)
		require.Zero(t, x.code, "%v: %s", args, x.err)
	}
	require.Equal(t, exitForbidden, inProcess(t, dir, "", "ls", "--url", address, "--key", "wrong").code)
	require.Equal(t, exitFailure, inProcess(t, dir, "", "export", "--url", address, "--key", "secret").code)
	res, err := http.Get(address + "/databases")
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusUnauthorized, res.StatusCode)
	x := inProcess(t, dir, "", "keys", "create")
	require.Zero(t, x.code)
	c, err = client.New(address, strings.TrimSpace(x.out), nil)
	require.NoError(t, err)
	_, err = c.Tenants(t.Context())
	require.NoError(t, err, "a key that a command made counts at once")
	second := program(t.Context(), t, dir, "serve", "--api-keys", "k", "--addr", "127.0.0.1:0")
	out, err := second.CombinedOutput()
	require.Error(t, err)
	require.Equal(t, exitLater, second.ProcessState.ExitCode(), "%s", out)
	end()
	require.Zero(t, inProcess(t, dir, "", "ls", "-s", "bob").code)
}

// TestManAndCompletion checks that both are generated from the commands.
func TestManAndCompletion(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.Zero(t, inProcess(t, dir, "", "man", filepath.Join(dir, "man")).code)
	b, err := os.ReadFile(filepath.Join(dir, "man", "contextmem-recall.1"))
	require.NoError(t, err)
	require.Contains(t, string(b), "Find what answers a question")
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		t.Run(shell, func(t *testing.T) {
			c := inProcess(t, dir, "", "completion", shell)
			require.Zero(t, c.code, c.err)
			require.Contains(t, c.out, "contextmem")
		})
	}
}

// TestEval measures a small set.
func TestEval(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	set := filepath.Join("..", "..", "eval", "testdata")
	entries, err := os.ReadDir(set)
	require.NoError(t, err)
	name := ""
	for _, e := range entries {
		if strings.Contains(e.Name(), ".json") {
			name = filepath.Join(set, e.Name())
		}
	}
	require.NotEmpty(t, name, "the repository has a set of questions")
	out := filepath.Join(dir, "a.json")
	c := inProcess(t, dir, "", "eval", name, "-o", out)
	require.Zero(t, c.code, c.err)
	c = inProcess(t, dir, "", "eval", "--compare", out, out)
	require.Zero(t, c.code, fmt.Sprint(c.err))
	require.Contains(t, c.out, "+0.0000")
}
