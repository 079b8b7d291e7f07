package parse

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/document"
)

// TestTruncatedFilesAreReported checks that a truncated file gives an error or is partial, and that a whole file does neither.
func TestTruncatedFilesAreReported(t *testing.T) {
	t.Parallel()
	for name, whole := range map[string]string{
		"a.html":    "<html><body><div><p>The walled garden lies south.</p></div></body></html>",
		"text.html": "<!doctype html><html><head><title>x</title></head><body><p>The walled garden lies south of the kitchen.</p></body></html>",
		"a.csv":     "bed,plant\nnorth,\"peas, late\"\nsouth,\"beans, early\"",
		"a.xml":     "<garden><bed>north</bed></garden>",
		"a.json":    `{"bed":"north","rows":[1,2]}`,
		"a.rtf":     sampleRTF,
		"a.eml":     sampleMail,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Empty(t, mustParse(t, name, "", []byte(whole)).Partial, "the whole file")
			for _, at := range []int{len(whole) * 2 / 3, len(whole) * 5 / 6, len(whole) - 12} {
				doc, err := New().Parse(t.Context(), document.Input{Name: name, Data: []byte(whole[:at])}, document.Limits{})
				assert.True(t, err != nil || doc.Partial != "", "cut at %d: %q", at, whole[at-10:at])
			}
		})
	}
	for name, whole := range map[string]string{
		"end tags that may be omitted": "<html><body><p>The walled garden<p>lies south\n",
		"a fragment":                   "<div><p>The walled garden",
		"no body":                      "<title>x</title><h1>Beds</h1><ul><li>peas<li>beans</ul><table><tr><td>a<td>b<tr><td>1<td>2</table>",
	} {
		t.Run(name, func(t *testing.T) {
			assert.Empty(t, mustParse(t, "a.html", "", []byte(whole)).Partial, name)
		})
	}
	beds := strings.Repeat("The beds of the north wall are dug over. ", 10)
	for name, data := range map[string]string{
		"comment.html": "<p>The walled garden lies south.</p><!-- an open comment <p>" + beds + "</p>",
		"group.rtf":    `{\rtf1\ansi The walled garden lies south.\par}` + beds + "}",
	} {
		t.Run(name, func(t *testing.T) {
			assert.NotEmpty(t, mustParse(t, name, "", []byte(data)).Partial)
		})
	}
	for name, data := range map[string]string{
		"comment.html": "<p>The walled garden lies south.</p><!-- a comment of some words -->",
		"tail.rtf":     "{\\rtf1\\ansi The walled garden lies south.\\par}\r\n\x00",
	} {
		t.Run(name, func(t *testing.T) {
			assert.Empty(t, mustParse(t, name, "", []byte(data)).Partial)
		})
	}
	assert.NotEmpty(t, mustParse(t, "a.txt", "text/plain; charset=utf-8", []byte("north gem\xfcse, and many more words that are as they should be: Gemüse, Möhren, Rüben, Kürbisse, Äpfel, Öl, über, für, grün, "+strings.Repeat("schön, früh, ", 20))).Partial)
}

// TestTruncatedOldOfficeFiles checks that an old office document that is cut off is called damaged, not a format that is not read, also where the
// directory at its end is missing.
func TestTruncatedOldOfficeFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ferry.doc", "tables.doc", "energy.xls", "depots.xls", "old.ppt"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole, err := os.ReadFile(filepath.Join("testdata", "made", name))
			require.NoError(t, err)
			for i := range 9 {
				data := whole[:max(512, len(whole)*(i+1)/10)]
				doc, err := New().Parse(t.Context(), document.Input{Name: name, Data: data}, document.Limits{})
				if err == nil {
					assert.NotEmpty(t, doc.Partial, "%d tenths", i+1)
					continue
				}
				var e *document.Error
				require.ErrorAs(t, err, &e)
				assert.NotContains(t, e.Message(), "save it as", "%d tenths", i+1)
				assert.Contains(t, e.Message(), "send it again", "%d tenths", i+1)
			}
		})
	}
	_, err := New().Parse(t.Context(), document.Input{Name: "plan.mpp", Data: []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + strings.Repeat("\x00", 600))}, document.Limits{})
	require.ErrorContains(t, err, "save it as", "a format that is not read, damaged or not")
}
