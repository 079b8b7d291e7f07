// Package sdkcheck runs the public TypeScript SDK and the public command line against `contextmem serve`.
package sdkcheck

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	testKey    = "key-of-the-sdk-check"
	commandKey = "key-of-the-command-line-check"
)

// patience bounds each of: the installation, the server's start, and the script.
const patience = 2 * time.Minute

// TestServed drives `contextmem serve` with its defaults by the public SDK and the public command line, unchanged. Each has an
// organisation of its own.
func TestServed(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("the clients come from the npm registry and from PyPI: left out with -short")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
	t.Cleanup(cancel)
	address := startServer(ctx, t, t.TempDir())
	t.Run("TypeScript SDK", func(t *testing.T) { t.Parallel(); runSDK(ctx, t, address) })
	t.Run("command line", func(t *testing.T) { t.Parallel(); runCommandLine(ctx, t, address) })
}

func runSDK(ctx context.Context, t *testing.T, address string) {
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			leaveOut(t, "the SDK check needs %s, which is not installed", tool)
		}
	}
	dir := t.TempDir()
	for _, name := range []string{"package.json", "check.mjs"} {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
	}
	install(ctx, t, dir)
	check := exec.CommandContext(ctx, "node", "check.mjs", address, testKey)
	check.Dir = dir
	out, err := check.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Logf("%s", out)
}

// install runs npm; without a registry the test is left out.
func install(ctx context.Context, t *testing.T, dir string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", "--fetch-retries=1", "--loglevel=error")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil && (ctx.Err() != nil || unreachable.Match(out)) {
		leaveOut(t, "the SDK check needs the npm registry, which can't be reached: %v", err)
	}
	require.NoError(t, err, "%s", out)
}

// unreachable are the codes with which npm says that there is no network.
var unreachable = regexp.MustCompile(`\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|E401|E403|E407|E5\d\d)\b`)

var readyLine = regexp.MustCompile(`contextmem is ready at (http://\S+)`)

// startServer builds the program, lets it serve on a free port and returns its address.
func startServer(ctx context.Context, t *testing.T, dir string) string {
	t.Helper()
	bin := filepath.Join(dir, "contextmem")
	if runtime.GOOS == "windows" {
		bin += ".exe"
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", bin, "../../cmd/contextmem")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	srv := exec.CommandContext(ctx, bin, "serve", "--addr", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--api-keys", testKey+"=sdk,"+commandKey+"=line", "--allow-local-webhooks")
	srv.Dir = dir
	srv.WaitDelay = 5 * time.Second
	logs, err := srv.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, srv.Start())
	ready := make(chan string, 1)
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		defer close(ready)
		for s, told := bufio.NewScanner(logs), false; s.Scan(); {
			if m := readyLine.FindStringSubmatch(s.Text()); m != nil && !told {
				ready <- m[1]
				told = true
			}
		}
	}()
	t.Cleanup(func() {
		_ = srv.Process.Kill()
		<-drained
		_ = srv.Wait() // killed: the error says so and nothing more
	})
	select {
	case addr, ok := <-ready:
		require.True(t, ok, "the server ended before it was ready")
		return addr
	case <-time.After(patience):
		require.Fail(t, "the server did not become ready")
		return ""
	}
}
