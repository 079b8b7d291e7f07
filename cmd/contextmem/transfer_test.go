package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestImportOfOthers imports exports of other programs twice, and exports them as Markdown.
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

// TestEveryFormat takes a file of each program through the commands: a dry run that creates nothing, the import with
// its output at a terminal, recall, and exports that restore the same tenant, and Markdown.
func TestEveryFormat(t *testing.T) {
	t.Parallel()
	from := filepath.Join("internal", "convert", "testdata")
	for name, want := range map[string]struct{ says, question, answer string }{
		"chromem-go-0.7.0-export.gob.gz":     {"chromem: took in 0 memories and 3 documents", "what do scones need?", "cold butter"},
		"chromem-go-0.7.0-db":                {"chromem: took in 0 memories and 3 documents", "who opens on Mondays?", "Ines"},
		"mem0-2.2.1-get-all.json":            {"mem0: took in 4 memories", "what does she drink in the morning?", "green tea"},
		"mem0-2.2.1-history.db":              {"mem0-sqlite: took in 1 memories", "what do I like?", "coffee"},
		"graphiti-core-0.31.2.json":          {"zep: took in 2 memories", "where did Ann live?", "Oslo"},
		"zep-cloud-4.0.1-messages.json":      {"zep: took in 2 memories", "where is the ladder?", "shed"},
		"mcp-server-memory-2026.8.31.jsonl":  {"mcp: took in 3 memories", "where does Ann work?", "Acme"},
		"langchain-core-1.8.3-messages.json": {"langchain: took in 2 memories", "where is my bicycle?", "shed"},
		"chatgpt":                            {"chatgpt: took in 4 memories", "which coat should I bring?", "blue coat"},
		"claude":                             {"claude: took in 3 memories and 1 documents", "when is the rent due?", "fifth"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			data, file := filepath.Join(dir, "data"), filepath.Join(from, name)
			do := func(args ...string) (string, string) {
				t.Helper()
				var out, errs bytes.Buffer
				env := map[string]string{"CONTEXTMEM_DATA": data, "CONTEXTMEM_EMBEDDER": "static"}
				code := run(t.Context(), args, streams{in: strings.NewReader(""), out: &out, err: &errs, env: func(k string) string { return env[k] }, bar: true})
				require.Zero(t, code, "%v: %s", args, errs.String())
				return out.String(), errs.String()
			}
			out, _ := do("import", "--dry-run", file)
			require.Contains(t, out, strings.Replace(want.says, "took in", "would take in", 1))
			out, _ = do("tenants")
			require.Empty(t, out)
			out, errs := do("import", file)
			require.Contains(t, out, want.says)
			require.Contains(t, errs, "sent ")
			out, _ = do("recall", want.question, "-n", "1")
			require.Contains(t, out, want.answer)
			list, _ := do("ls")
			lines := filepath.Join(dir, "lines.jsonl")
			_, errs = do("export", "-o", lines)
			require.Contains(t, errs, "wrote ")
			_, errs = do("import", "-t", "copy", lines)
			require.Contains(t, errs, "read ")
			copied, _ := do("ls", "-t", "copy")
			require.ElementsMatch(t, ids(list), ids(copied))
			out, _ = do("recall", "-t", "copy", want.question, "-n", "1")
			require.Contains(t, out, want.answer)
			page, _ := do("export", "--format", "markdown")
			again, _ := do("export", "--format", "markdown", "-t", "copy")
			require.Contains(t, page, want.answer)
			require.ElementsMatch(t, strings.Split(page, "\n"), strings.Split(again, "\n"))
		})
	}
}

// ids returns the first words of lines.
func ids(lines string) (out []string) {
	for l := range strings.Lines(lines) {
		out = append(out, strings.Fields(l)[0])
	}
	return out
}
