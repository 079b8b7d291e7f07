// Package testtool finds programs that tests have judge what they made.
package testtool

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// EnvCI is set to true where tests run on every change: there a missing program fails a test instead of skipping it.
const EnvCI = "CI"

// EnvCache names the folder of what was built for tests; without it that is the user's cache.
const EnvCache = "CONTEXTMEM_TEST_CACHE"

// cacheDir is the folder of what was built for tests.
func cacheDir() (string, error) {
	if dir := os.Getenv(EnvCache); dir != "" {
		return dir, nil
	}
	return os.UserCacheDir()
}

// Find returns where a program is. Where it is missing the test is skipped, or fails in CI. hint says what installs it.
func Find(t testing.TB, name, hint string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, name+" ("+hint+")")
	}
	return path
}

// Missing skips a test that lacks what, or fails it in CI.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv(EnvCI) == "true" {
		t.Fatalf("%s is missing, and in CI nothing is skipped", what)
	}
	t.Skipf("%s is missing", what)
}

// Promtool has promtool judge metrics in the Prometheus text format: it must find nothing to say.
func Promtool(t *testing.T, text string) {
	t.Helper()
	t.Run("promtool", func(t *testing.T) {
		cmd := exec.CommandContext(t.Context(), Find(t, "promtool", "Debian: prometheus"), "check", "metrics")
		cmd.Stdin = strings.NewReader(text)
		out, err := cmd.CombinedOutput()
		if err != nil || len(out) > 0 {
			t.Errorf("promtool: %v\n%s", err, out)
		}
	})
}
