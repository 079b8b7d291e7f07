//go:build unix

package document

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/testtool"
)

// script writes a shell script that stands for an installed program.
func script(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	testtool.Script(t, path, script)
	return path
}

func TestTesseractImage(t *testing.T) {
	t.Parallel()
	o := Tesseract{Program: script(t, `printf '%s ' "$@"; cat`)}
	text, err := o.Recognise(t.Context(), []byte("picture"), "image/png")
	require.NoError(t, err)
	assert.Equal(t, "stdin stdout -l eng picture", text)

	_, err = o.Recognise(t.Context(), []byte("picture"), "image/x-unheard-of")
	assert.Error(t, err)
	_, err = Tesseract{Program: filepath.Join(t.TempDir(), "missing")}.Recognise(t.Context(), nil, "image/png")
	assert.Error(t, err)
}

func TestTesseractPages(t *testing.T) {
	t.Parallel()
	o := Tesseract{
		Program: script(t, `printf 'text of '; cat`),
		Drawer:  script(t, `[ "$5" -le 2 ] || exit 99; printf 'page %s' "$5"`),
	}
	text, err := o.Recognise(t.Context(), []byte("%PDF-"), "application/pdf")
	require.NoError(t, err)
	assert.Equal(t, "text of page 1\ftext of page 2", text)

	o.Drawer = script(t, "exit 3")
	_, err = o.Recognise(t.Context(), []byte("%PDF-"), "application/pdf")
	assert.Error(t, err)
}

func TestToolLimits(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := runTool(ctx, nil, script(t, "exec sleep 60"))
	assert.ErrorIs(t, err, context.DeadlineExceeded)

	_, err = runTool(t.Context(), nil, script(t, "exec cat /dev/zero"))
	assert.ErrorIs(t, err, errToolOutput)

	out, err := runTool(t.Context(), nil, script(t, "ulimit -v; ulimit -t; env"))
	require.NoError(t, err)
	assert.Contains(t, string(out), "1048576\n120\n")
	assert.NotContains(t, string(out), "HOME=")
}

// TestTesseractKeepsEarlierPages: the time is over, or a page cannot be drawn, after some pages.
func TestTesseractKeepsEarlierPages(t *testing.T) {
	t.Parallel()
	o := Tesseract{
		Program: script(t, `printf 'text of '; cat`),
		Drawer:  script(t, `[ "$5" -le 2 ] || exit 1; printf 'page %s' "$5"`),
	}
	text, err := o.Recognise(t.Context(), []byte("%PDF-"), "application/pdf")
	require.Error(t, err)
	assert.Equal(t, "text of page 1\ftext of page 2", text)
}
