package convert

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFilesOfThePrograms reads what the programs themselves wrote, in the versions that the names of the files tell.
func TestFilesOfThePrograms(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]struct {
		format string
		texts  []string
	}{
		"mem0-2.2.1-history.db":              {"mem0-sqlite", []string{"Likes coffee"}},
		"langchain-core-1.8.3-messages.json": {"langchain", []string{"Where is my bicycle?|In the shed behind the house.", "Thanks.|"}},
		"langchain-core-1.8.3-dumps.json":    {"langchain", []string{"Where is my bicycle?|In the shed behind the house.", "Thanks.|"}},
		"graphiti-core-0.31.2.json":          {"zep", []string{"Ann lived in Oslo (until 4 March 2021).", "Ann: My sister Olga moved to Porto."}},
		"mcp-server-memory-2026.8.31.jsonl":  {"mcp", []string{"Ann: Speaks Greek", "Ann: Lives in Oslo", "Ann works at Acme."}},
	} {
		name := filepath.Join("testdata", file)
		items, format, err := Read(name, "", func() (io.ReadCloser, error) { return os.Open(name) })
		require.NoError(t, err, file)
		require.Equal(t, want.format, format, file)
		var texts []string
		for _, it := range items {
			s := it.Memory.Text
			for _, p := range it.Memory.Pairs {
				s += p.User + "|" + p.Assistant
			}
			texts = append(texts, s)
		}
		require.Equal(t, want.texts, texts, file)
	}
}
