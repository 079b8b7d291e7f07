// Package testtool finds and runs the external programs that tests use: validators and servers.
package testtool

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// EnvCI names the variable that is true in continuous integration. With it a missing program fails a test instead of skipping it.
const EnvCI = "CI"

// EnvCache names the variable with the folder for programs built for tests. The default is the user's cache directory.
const EnvCache = "CONTEXTMEM_TEST_CACHE"

// cacheDir returns the folder for programs built for tests.
func cacheDir() (string, error) {
	if dir := os.Getenv(EnvCache); dir != "" {
		return dir, nil
	}
	return os.UserCacheDir()
}

// Find returns the path of a program. If it is missing, the test is skipped, or fails in CI. hint tells how to install it.
func Find(t testing.TB, name, hint string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, name+" ("+hint+")")
	}
	return path
}

// Missing skips the test because of a missing prerequisite, which what names. In CI it fails the test.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv(EnvCI) == "true" {
		t.Fatalf("%s is missing, and in CI nothing is skipped", what)
	}
	t.Skipf("%s is missing", what)
}

// Script writes a shell script that a test runs. No process is started meanwhile: until it executed its own program it would hold the script
// open for writing, and the system would refuse to run it ("text file busy").
func Script(t testing.TB, path, text string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// Promtool checks metrics in the Prometheus text format with promtool. Any complaint fails the test.
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
