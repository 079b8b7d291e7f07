package convert

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFilesOfThePrograms reads files written by the programs themselves, in the versions in their names.
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
		"mem0-2.2.1-get-all.json":            {"mem0", []string{"Lives in Bergen.", "I drink green tea in the morning.", "Noted: green tea.", "Rides a red bicycle to work."}},
		"zep-cloud-4.0.1-edges.json":         {"zep", []string{"Ann works at Acme", "Ann lived in Oslo (until 4 March 2021)."}},
		"zep-cloud-4.0.1-messages.json":      {"zep", []string{"Where did I leave the ladder?|Behind the shed.", "Thanks.|"}},
		"chromem-go-0.7.0-export.gob":        {"chromem", []string{"recipes: bun: Buns rise twice.", "recipes: scone: Scones need cold butter.", "rota: 1: Ines opens on Mondays."}},
		"chromem-go-0.7.0-export.gob.gz":     {"chromem", []string{"recipes: bun: Buns rise twice.", "recipes: scone: Scones need cold butter.", "rota: 1: Ines opens on Mondays."}},
		"chromem-go-0.7.0-db":                {"chromem", []string{"rota: 1: Ines opens on Mondays.", "recipes: bun: Buns rise twice.", "recipes: scone: Scones need cold butter."}},
		"chromem-go-0.7.0-db-gz":             {"chromem", []string{"rota: 1: Ines opens on Mondays.", "recipes: bun: Buns rise twice.", "recipes: scone: Scones need cold butter."}},
		"chatgpt": {"chatgpt", []string{"How far is it from Bergen to Oslo by train?|About 470 kilometres, six and a half hours.", "What is on this ticket?|Seat 14 in coach 3.",
			"Remind me to bring my blue coat.|Your blue coat, noted.", "Which day is the market?|Saturday."}},
		"claude": {"claude", []string{"Read this contract, please.|Let me look.\nThe rent is due on the fifth.", "Thanks. My landlord is called Mr Berg.|",
			": contract.pdf: The rent is 900 euros, due on the fifth of each month.", "Which tea did I like?|The jasmine one."}},
	} {
		t.Run(file, func(t *testing.T) {
			name := filepath.Join("testdata", file)
			items, format, err := Read(name, "", func() (io.ReadCloser, error) { return os.Open(name) })
			require.NoError(t, err, file)
			require.Equal(t, want.format, format, file)
			ids := map[string]bool{}
			var texts []string
			for _, it := range items {
				if it.File != nil {
					ids[it.File.ID] = true
					texts = append(texts, it.Owner+": "+it.File.Title+": "+string(it.File.Data))
					continue
				}
				ids[it.Memory.ID] = true
				s := it.Memory.Text
				for _, p := range it.Memory.Pairs {
					s += p.User + "|" + p.Assistant
				}
				texts = append(texts, s)
			}
			require.Len(t, ids, len(items), file)
			require.Equal(t, want.texts, texts, file)
		})
	}
}

// TestExportsInArchives checks that the ZIP archives of ChatGPT and Claude are read as they come, with the
// conversations in one file or in several, and that other archives are refused.
func TestExportsInArchives(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join("testdata", "chatgpt", "conversations.json"))
	require.NoError(t, err)
	var chats []json.RawMessage
	require.NoError(t, json.Unmarshal(b, &chats))
	part := func(list ...json.RawMessage) []byte {
		b, err := json.Marshal(list)
		require.NoError(t, err)
		return b
	}
	archive := func(files map[string][]byte) func() (io.ReadCloser, error) {
		var buf bytes.Buffer
		z := zip.NewWriter(&buf)
		for name, text := range files {
			w, err := z.Create(name)
			require.NoError(t, err)
			_, err = w.Write(text)
			require.NoError(t, err)
		}
		require.NoError(t, z.Close())
		return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(buf.Bytes())), nil }
	}
	whole, format, err := Read("", "", archive(map[string][]byte{"conversations.json": b, "user.json": []byte("{}"), "chat.html": []byte("<html>"), "__MACOSX/conversations.json": []byte("x")}))
	require.NoError(t, err)
	require.Equal(t, "chatgpt", format)
	require.Len(t, whole, 4)
	parts, _, err := Read("", "", archive(map[string][]byte{"export/conversations-000.json": part(chats[0]), "export/conversations-001.json": part(chats[1], chats[2])}))
	require.NoError(t, err)
	require.Equal(t, whole, parts)
	_, _, err = Read("", "", archive(map[string][]byte{"notes.txt": b}))
	require.Error(t, err)
	_, _, err = Read("", "", func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("PK\x03\x04sesame")), nil })
	require.ErrorContains(t, err, "damaged ZIP")
	_, _, err = Read(t.TempDir(), "", nil)
	require.ErrorIs(t, err, ErrUnknown, "an empty directory")
	name := filepath.Join("testdata", "chromem-go-0.7.0-encrypted.gob.enc")
	_, _, err = Read(name, "chromem", func() (io.ReadCloser, error) { return os.Open(name) })
	require.ErrorContains(t, err, "encrypted")
}
