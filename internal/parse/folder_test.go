package parse

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/document"
)

// file is a file of an archive.
type file struct{ name, text string }

func zipOf(t *testing.T, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		to, err := w.Create(f.name)
		require.NoError(t, err)
		_, err = to.Write([]byte(f.text))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func tarOf(t *testing.T, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: f.name, Mode: 0o600, Size: int64(len(f.text))}))
		_, err := w.Write([]byte(f.text))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func gzipOf(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

func TestArchivesAreFolders(t *testing.T) {
	t.Parallel()
	files := []file{{"beds/", ""}, {"beds/north.md", "# North\n\nLeeks.\n\n```sh\n# a comment\n```\n"}, {"__MACOSX/beds/._north.md", "x"}, {"beds/.DS_Store", "x"},
		{"beds/south.txt", "# of beans: 5"}, {"../gate.html", "<h1>Gate</h1><p>Green.</p>"}}
	const want = "# beds/north.md\n\n## North\n\nLeeks.\n\n```sh\n# a comment\n```\n\n# beds/south.txt\n\n\\# of beans: 5\n\n# gate.html\n\n## Gate\n\nGreen."
	for name, data := range map[string][]byte{"a.zip": zipOf(t, files...), "a.tar": tarOf(t, files[1:]...), "a.tgz": gzipOf(t, tarOf(t, files[1:]...)), "a.tar.gz": gzipOf(t, tarOf(t, files[1:]...))} {
		t.Run(name, func(t *testing.T) {
			doc := mustParse(t, name, "", data)
			assert.Equal(t, want, doc.Text, name)
			assert.Empty(t, doc.Partial, name)
			require.Len(t, doc.Pages, 3, name)
			assert.Equal(t, "beds/south.txt", doc.Pages[1].Label)
			for _, p := range doc.Pages {
				assert.Equal(t, "# "+p.Label, doc.Text[p.Start:p.Start+2+len(p.Label)])
			}
		})
	}
	doc := mustParse(t, "north.md.gz", "", gzipOf(t, []byte(files[1].text)))
	assert.Equal(t, "North", doc.Title)
	assert.Equal(t, "text/markdown", doc.MediaType)

	doc = mustParse(t, "a.zip", "", zipOf(t, files[1], file{"a.exe", "MZ"}, file{"b.zip", string(zipOf(t, file{"c.txt", "Peas."}))}, file{"d.docx", "PK"}))
	assert.Contains(t, doc.Text, "# b.zip\n\n## c.txt\n\nPeas.")
	assert.Equal(t, "2 of 4 files of the archive could not be read", doc.Partial)

	doc = mustParse(t, "slack.zip", "", zipOf(t, file{"general/2024-04-09.json", `[{"type":"message","user":"U1","text":"Hello <@U2>","ts":"1712664000.000100"}]`},
		file{"users.json", `[{"id":"U1","name":"ann","profile":{"real_name":"Ann Field"}},{"id":"U2","name":"ben","real_name":"Ben"}]`}))
	assert.Equal(t, "# general/2024-04-09.json\n\n[2024-04-09 12:00:00] Ann Field: Hello Ben", doc.Text)
}

func TestHostileArchives(t *testing.T) {
	t.Parallel()
	bomb := gzipOf(t, make([]byte, 64<<20))
	deep := []byte("Peas.")
	for range 6 {
		deep = zipOf(t, file{"a.zip", string(deep)})
	}
	many := make([]file, 60)
	for i := range many {
		many[i] = file{"a.txt", "Peas."}
	}
	whole := tarOf(t, file{"a.txt", "Peas."}, file{"b.txt", string(bytes.Repeat([]byte("Beans. "), 1000))})
	for name, c := range map[string]struct {
		name string
		data []byte
		kind document.Kind
	}{
		"a bomb":               {"a.gz", bomb, document.LimitExceeded},
		"a bomb in an archive": {"a.zip", zipOf(t, file{"a.txt", "Peas."}, file{"b.gz", string(bomb)}), document.LimitExceeded},
		"too deep":             {"a.zip", deep, document.LimitExceeded},
		"nothing to read":      {"a.zip", zipOf(t, file{"a.exe", "MZ"}), document.NoText},
		"empty":                {"a.tar", tarOf(t), document.NoText},
		"no gzip":              {"a.gz", []byte("\x1f\x8b\x01"), document.Malformed},
		"too many":             {"a.tar", tarOf(t, many...), document.LimitExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New().Parse(t.Context(), document.Input{Name: c.name, Data: c.data}, document.Limits{MaxEntries: 50})
			var e *document.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, c.kind, e.Kind, e)
		})
	}
	assert.NotEmpty(t, mustParse(t, "a.tar", "", whole[:4000]).Partial)
	assert.NotEmpty(t, mustParse(t, "a.txt.gz", "", gzipOf(t, whole)[:200]).Partial)
}
