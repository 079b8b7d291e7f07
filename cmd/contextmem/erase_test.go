package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/wire"
)

// TestEraseCommand: erased items are gone, the receipt on standard output is verified until somebody changes it, and the same goes through a server.
func TestEraseCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, where := range []string{"directory", "server"} {
		data, at := filepath.Join(dir, where), []string(nil)
		if where == "server" {
			address, stop := serving(t, data, "--api-keys", "k")
			defer stop()
			at = []string{"--url", address, "--key", "k"}
		}
		do := func(args ...string) call { return inProcess(t, data, "", append(args, at...)...) }
		ok := func(args ...string) string {
			c := do(args...)
			require.Zero(t, c.code, "%s %v: %s", where, args, c.err)
			return c.out
		}
		receipt := func(args ...string) (wire.Receipt, string) {
			out := ok(append([]string{"erase"}, args...)...)
			var r wire.Receipt
			require.NoError(t, json.Unmarshal([]byte(out), &r), out)
			path := filepath.Join(t.TempDir(), "receipt.json")
			require.NoError(t, os.WriteFile(path, []byte(out), 0o600))
			return r, path
		}
		for _, sub := range []string{"alice", "bob"} {
			ok("add", "-s", sub, "--id", "coffee", "--user-name", "Alice", "Alice takes her coffee black.")
			ok("add", "-s", sub, "--id", "tea", "Tea is at four.")
		}
		r, path := receipt("-s", "alice", "tea", "nobody")
		require.Equal(t, []any{1, "alice", []string{"tea", "nobody"}}, []any{r.Items, r.Sub, r.IDs})
		require.NotContains(t, ok("ls", "-s", "alice"), "tea")
		require.Contains(t, ok("ls", "-s", "bob"), "tea")
		require.Contains(t, ok("erase", "--verify", path), "1 erased in main")
		r.Items = 2
		changed, err := json.Marshal(r)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, changed, 0o600))
		require.NotZero(t, do("erase", "--verify", path).code)

		r, _ = receipt("--everywhere", "--user-name", "Alice")
		require.Equal(t, []any{2, ""}, []any{r.Items, r.Sub})
		require.NotContains(t, ok("ls", "-s", "bob"), "coffee")
		r, _ = receipt("-s", "bob", "--all")
		require.Equal(t, 1, r.Items)
		require.Contains(t, do("erase", "nobody").err, "0 erased")
	}
	for _, args := range [][]string{{}, {"--all"}, {"--all", "-s", "alice", "--everywhere"}, {"x", "--all", "-s", "alice"}, {"x", "--user-name", "Alice"},
		{"--all", "--user-name", "Alice", "-s", "alice"}, {"--verify", "x", "y"}, {"--verify", filepath.Join(dir, "none")}, {"--verify", "erase_test.go"}} {
		require.Equal(t, exitUsage, inProcess(t, filepath.Join(dir, "directory"), "", append([]string{"erase"}, args...)...).code, "%v", args)
	}
}
