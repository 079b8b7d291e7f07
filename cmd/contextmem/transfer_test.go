package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestImportOfOthers takes exports of other programs in, twice, and writes them as Markdown.
func TestImportOfOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "mem0.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"results":[{"id":"1","memory":"Prefers green tea in the morning.","user_id":"alice","created_at":"2024-07-01T10:00:00Z"},{"id":"2","memory":"Rides a red bicycle.","user_id":"bob"}]}`), 0o600))
	data := filepath.Join(dir, "data")
	do := func(in string, args ...string) call { t.Helper(); return inProcess(t, data, in, args...) }
	c := do("", "import", file, "--dry-run")
	require.Zero(t, c.code, c.err)
	require.Contains(t, c.out, "mem0: would take in 2 memories")
	require.Equal(t, exitNotFound, do("", "ls").code, "nothing was made")
	for range 2 {
		c = do("", "import", file, "--by-owner")
		require.Zero(t, c.code, c.err)
		require.Contains(t, c.out, "mem0: took in 2 memories and 0 documents into 2 sub-tenants, 0 failed")
	}
	require.Contains(t, do("", "recall", "-s", "alice", "what does she drink?").out, "mem0-1\tPrefers green tea")
	require.Equal(t, 1, strings.Count(do("", "ls", "-s", "bob").out, "mem0-"))

	c = do(`{"type":"entity","name":"Ann","entityType":"person","observations":["Speaks Greek"]}`+"\n"+`{"type":"relation","from":"Ann","to":"Acme","relationType":"works_at"}`, "import", "-", "-s", "graph")
	require.Zero(t, c.code, c.err)
	require.Contains(t, do("", "recall", "-s", "graph", "where does Ann work?").out, "Ann works at Acme.")
	require.Zero(t, do("", "ingest", "demo/handbook.md", "-s", "alice").code)
	c = do("", "export", "--format", "markdown", "-s", "alice")
	require.Zero(t, c.code, c.err)
	require.Contains(t, c.out, "- 2024-07-01: Prefers green tea in the morning.\n")
	require.Contains(t, c.out, "\n## Harbour Bakery handbook\n")
	require.Equal(t, exitUsage, do("", "import", filepath.Join("demo", "incidents.json")).code)
	require.Equal(t, exitUsage, do("", "import", "/does/not/exist").code)
}
