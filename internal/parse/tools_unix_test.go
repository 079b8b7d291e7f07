//go:build unix

package parse

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/testtool"
)

// program writes a shell script in place of an installed program.
func program(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	testtool.Script(t, path, script)
	return path
}

// TestScanKeepsEarlierPages checks that the text of earlier pages is kept when time runs out, or when a page cannot be rendered.
func TestScanKeepsEarlierPages(t *testing.T) {
	t.Parallel()
	o := document.Tesseract{
		Program: program(t, `printf 'text of '; cat`),
		Drawer:  program(t, `[ "$5" -le 2 ] || exit 1; printf 'page %s' "$5"`),
	}
	r := New()
	r.SetOCR(o)
	doc, err := r.Parse(t.Context(), document.Input{Data: pdfFile("", "", "")}, document.Limits{})
	require.NoError(t, err)
	assert.Equal(t, "text of page 1\n\ntext of page 2", doc.Text)
	assert.Equal(t, "the text of the first 2 of 3 scanned pages was recognised", doc.Partial)

	o.MaxPages = 2
	r.SetOCR(o)
	doc, err = r.Parse(t.Context(), document.Input{Data: pdfFile("", "", "")}, document.Limits{})
	require.NoError(t, err)
	assert.Equal(t, "the text of the first 2 of 3 scanned pages was recognised", doc.Partial)
	doc, err = r.Parse(t.Context(), document.Input{Data: pdfFile("", "")}, document.Limits{})
	require.NoError(t, err)
	assert.Empty(t, doc.Partial)

	o.Drawer = program(t, `[ "$5" -le 1 ] || exec sleep 60; printf 'page %s' "$5"`)
	r.SetOCR(o)
	doc, err = r.Parse(t.Context(), document.Input{Data: pdfFile("", "", "")}, document.Limits{Timeout: 2 * time.Second})
	require.NoError(t, err)
	assert.Equal(t, "text of page 1", doc.Text)
	assert.Equal(t, "the text of the first 1 of 3 scanned pages was recognised", doc.Partial)
}

// installed skips a test whose programs are not installed.
func installed(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("NOT TESTED with the real program: %s is not installed", p)
		}
	}
}

// draw renders a document with pdftoppm.
func draw(t *testing.T, data []byte, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "pdftoppm", append(args, "-r", "150", "-")...)
	cmd.Stdin = bytes.NewReader(data)
	out, err := cmd.Output()
	require.NoError(t, err)
	return out
}

// scanOf renders the pages of a document and makes a PDF of the pictures.
func scanOf(t *testing.T, data []byte, pages int) []byte {
	t.Helper()
	var images []string
	for i := range pages {
		page := strconv.Itoa(i + 1)
		drawn := draw(t, data, "-gray", "-f", page, "-l", page)
		var w, h, most int
		n, err := fmt.Fscanf(bytes.NewReader(drawn), "P5\n%d %d\n%d\n", &w, &h, &most)
		require.NoError(t, err)
		require.Equal(t, 3, n)
		images = append(images, fmt.Sprintf("<</Type/XObject/Subtype/Image/Width %d/Height %d/BitsPerComponent 8/ColorSpace/DeviceGray/Length %d>>\nstream\n%s\nendstream",
			w, h, w*h, drawn[len(drawn)-w*h:]))
	}
	return pdfImages(images...)
}

func TestInstalledTesseract(t *testing.T) {
	t.Parallel()
	installed(t, "tesseract", "pdftoppm")
	scan := scanOf(t, pdfFile("The walled garden lies south of the kitchen.", "Bees were introduced in the year 1987."), 2)
	assert.Equal(t, document.NoText, parseKind(t, document.Input{Name: "scan.pdf", Data: scan}, document.Limits{}))
	r := New()
	r.SetOCR(document.Tesseract{})
	doc, err := r.Parse(t.Context(), document.Input{Name: "scan.pdf", Data: scan}, document.Limits{Timeout: 2 * time.Minute})
	require.NoError(t, err)
	assert.Equal(t, "The walled garden lies south of the kitchen.\n\nBees were introduced in the year 1987.", doc.Text)
	assert.Empty(t, doc.Partial)
	require.Len(t, doc.Pages, 2)
	assert.True(t, strings.HasPrefix(doc.Text[doc.Pages[1].Start:], "Bees"))

	picture := draw(t, pdfFile("A sign on a gate."), "-png")
	doc, err = r.Parse(t.Context(), document.Input{Name: "sign.png", Data: picture}, document.Limits{Timeout: 2 * time.Minute})
	require.NoError(t, err)
	assert.Equal(t, "A sign on a gate.", doc.Text)
	assert.Equal(t, "image/png", doc.MediaType)

	r.SetOCR(document.Tesseract{Languages: "no-such-language"})
	_, err = r.Parse(t.Context(), document.Input{Name: "sign.png", Data: picture}, document.Limits{Timeout: 2 * time.Minute})
	var e *document.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, document.NoText, e.Kind)
}

func TestInstalledPDFToText(t *testing.T) {
	t.Parallel()
	installed(t, "pdftotext")
	r := New()
	r.SetPDFTool(document.PDFToText{})
	doc, err := r.Parse(t.Context(), document.Input{Name: "a.pdf", Data: pdfFile("The walled garden", "lies south")}, document.Limits{})
	require.NoError(t, err)
	assert.Equal(t, "The walled garden\n\nlies south", doc.Text)
	require.Len(t, doc.Pages, 2)
	assert.False(t, doc.Markdown)
	for _, data := range [][]byte{pdfFile(""), []byte("%PDF-1.4\nnothing of use")} { // the result of the bundled reader counts if the tool has none
		_, err = r.Parse(t.Context(), document.Input{Name: "a.pdf", Data: data}, document.Limits{})
		assert.Error(t, err)
	}
}
