package parse

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/document"
)

var updateMade = flag.Bool("made.update", false, "write the texts that TestMadeFiles compares with")

// TestMadeFiles compares the texts of files that real programs wrote with the NAME.want files beside them.
func TestMadeFiles(t *testing.T) {
	t.Parallel()
	wants, err := filepath.Glob(filepath.Join("testdata", "made", "*.want"))
	require.NoError(t, err)
	require.NotEmpty(t, wants)
	for _, want := range wants {
		name := strings.TrimSuffix(filepath.Base(want), ".want")
		t.Run(name, func(t *testing.T) {
			doc := made(t, name)
			got := "type: " + doc.MediaType + "\ntitle: " + doc.Title + "\npartial: " + doc.Partial + "\n\n" + doc.Text + "\n"
			if *updateMade {
				require.NoError(t, os.WriteFile(want, []byte(got), 0o600))
			}
			text, err := os.ReadFile(want)
			require.NoError(t, err)
			assert.Equal(t, string(text), got)
		})
	}
}

// made parses a file that a real program wrote.
func made(t *testing.T, name string) *document.Document {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "made", name))
	require.NoError(t, err)
	return mustParse(t, name, "", data)
}

func TestNumberFormatsAndHiddenSheets(t *testing.T) {
	t.Parallel()
	doc := made(t, "formats.xlsx")
	assert.Equal(t, `## Yield

| bed | share | price | grams | sown | small | count |
| --- | --- | --- | --- | --- | --- | --- |
| north | 8.4% | 1234.5 € | 2.35 g | 2026-04-02 | 0.00004 | $12 |
| south | -25.0% | -4 € | 0.0000001 | 2026-05-03 07:30 | 0.5 | $3 |

## Old prices (hidden)

| secret leek | 5 |
| --- | --- |`, doc.Text)
	assert.Equal(t, []document.Page{{Number: 1, Label: "Yield"}, {Number: 2, Label: "Old prices", Start: strings.Index(doc.Text, "## Old")}}, doc.Pages)
}

func TestTableInATable(t *testing.T) {
	t.Parallel()
	assert.Equal(t, `Before.

| Bed | Plants |
| --- | --- |
| North | These: Pea, 5; Leek, 8 and more. |
| South | none |

After.`, made(t, "nested.docx").Text)
}

func TestWebArchiveHasNoStyles(t *testing.T) {
	t.Parallel()
	doc := mustParse(t, "a.mhtml", "", []byte("From: <Saved by Blink>\r\nSubject: Beds\r\nMIME-Version: 1.0\r\nDate: Thu, 9 Apr 2026 07:30:00 +0000\r\n"+
		"Content-Type: multipart/related; type=\"text/html\"; boundary=\"b\"\r\n\r\n--b\r\nContent-Type: text/html\r\nContent-Location: https://garden.example/\r\n\r\n<h1>Beds</h1><p>Leeks.</p>\r\n"+
		"--b\r\nContent-Type: text/css\r\nContent-Location: https://garden.example/a.css\r\n\r\n.bed { color: green }\r\n--b\r\nContent-Type: text/javascript\r\n\r\nalert(1)\r\n--b--\r\n"))
	assert.Contains(t, doc.Text, "Leeks.")
	assert.NotContains(t, doc.Text, "color")
	assert.NotContains(t, doc.Text, "alert")
}

func TestXMLWithoutEmbeddedFiles(t *testing.T) {
	t.Parallel()
	picture := strings.Repeat("iVBORw0KGgoAAAANSUhEUgAA", 100)
	text := mustParse(t, "a.xml", "", []byte(`<note><title>Beds</title><icon href="data:image/png;base64,`+picture+`"/><resource>`+picture+`</resource><p>Leeks.</p></note>`)).Text
	assert.Equal(t, "note:\n  title: Beds\n  p: Leeks.", text)
}
