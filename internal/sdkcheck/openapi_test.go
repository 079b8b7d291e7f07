package sdkcheck

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/httpapi"
)

const (
	generator = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2"
	genModule = "module openapicheck\n\ngo 1.26\n\nrequire github.com/oapi-codegen/runtime v1.9.0\n"
)

// served are the documents that the handler serves, by the name of the package that is made of each.
var served = map[string]string{"v1": "/openapi.json", "v2": "/v2/openapi.json", "ext": "/ext/openapi.json"}

// noProxy is what the go command says where the module proxy can't be reached.
var noProxy = regexp.MustCompile(`dial tcp|no such host|connection refused|connection reset|i/o timeout|TLS handshake timeout|proxyconnect|407 Proxy|403 Forbidden|50[234] `)

// leaveOut skips the test, in CI it fails.
func leaveOut(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		require.Failf(t, "it must run in CI", format, args...)
	}
	t.Skipf(format, args...)
}

func TestOpenAPIDocuments(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("linter and generator come from the npm registry and the module proxy: left out with -short")
	}
	server := serve(t)
	dir := t.TempDir()
	for name, path := range served {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server+path, nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+testKey)
		res, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		b, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, http.StatusOK, res.StatusCode, path)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".json"), b, 0o600))
	}
	t.Run("redocly", func(t *testing.T) { t.Parallel(); lint(t, dir) })
	t.Run("oapi-codegen", func(t *testing.T) { t.Parallel(); generate(t, dir, server) })
}

// serve starts a server in this process and returns its address.
func serve(t *testing.T) string {
	t.Helper()
	svc, err := contextmem.New(t.Context(), inmem.New(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, svc.Close()) })
	h, err := httpapi.New(svc, httpapi.Options{Keys: map[string]string{testKey: contextmem.DefaultOrg}})
	require.NoError(t, err)
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

// lint holds the documents in docs against the linter's recommended rules; it may not even warn.
func lint(t *testing.T, docs string) {
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			leaveOut(t, "the linter needs %s, which is not installed", tool)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	dir := t.TempDir()
	b, err := os.ReadFile("testdata/openapi/package.json")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "package.json"), b, 0o600))
	npm := exec.CommandContext(ctx, "npm", "install", "--prefer-offline", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", "--fetch-retries=1", "--loglevel=error")
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); err != nil {
		if ctx.Err() != nil || unreachable.Match(out) {
			leaveOut(t, "the npm registry can't be reached: %v", err)
		}
		require.NoError(t, err, "%s", out)
	}
	for name := range served {
		cmd := exec.CommandContext(ctx, "npm", "exec", "--offline", "--", "redocly", "lint", "--format=json", filepath.Join(docs, name+".json"))
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
		out, err := cmd.Output() // its exit code says no more than the totals
		var report struct {
			Totals   *struct{ Errors, Warnings, Ignored int }
			Problems []struct{ RuleID, Message string }
		}
		require.NoError(t, json.Unmarshal(out, &report), "%v: %s", err, out)
		require.NotNil(t, report.Totals)
		require.Zero(t, *report.Totals, "%s: %v", name, report.Problems)
		require.NoError(t, err)
	}
}

// generate makes clients of the documents in docs and runs testdata/openapi/use.go.txt with them.
func generate(t *testing.T, docs, server string) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	dir := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
		out, err := cmd.CombinedOutput()
		if err != nil && !slices.Contains(args, server) && (ctx.Err() != nil || noProxy.Match(out)) {
			leaveOut(t, "the module proxy can't be reached: %s", out)
		}
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(genModule), 0o600))
	for name := range served {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		run("run", generator, "-generate", "types,client", "-package", name, "-o", filepath.Join(dir, name, name+".go"), filepath.Join(docs, name+".json"))
	}
	use, err := os.ReadFile("testdata/openapi/use.go.txt")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), use, 0o600))
	run("vet", "./...")
	require.Contains(t, run("run", ".", server, testKey), "three clients work")
}
