package document

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// Tesseract is an [OCR] that runs an installed tesseract, and pdftoppm of Poppler to draw the pages of scanned PDF
// documents. The programs run in limited processes and see nothing but their standard input. The zero value works
// where both are on the search path. It is safe for concurrent use; each call runs one process at a time.
type Tesseract struct {
	// Program is the name or path of tesseract; empty means "tesseract".
	Program string
	// Drawer is the name or path of pdftoppm; empty means "pdftoppm".
	Drawer string
	// Languages are tesseract's names of the languages, joined by "+"; empty means "eng".
	Languages string
	// DPI is the resolution at which pages of a PDF are drawn, 72 to 600; zero means 200.
	DPI int
	// MaxPages bounds the pages of a PDF that are read; zero means 200.
	MaxPages int
}

// Recognise returns the text of an image, or of the pages of a PDF separated by form feeds. Pages that were read before
// ctx ended or a program failed come with the error.
func (t Tesseract) Recognise(ctx context.Context, data []byte, mediaType string) (string, error) {
	switch mediaType {
	case "image/png", "image/jpeg", "image/tiff", "image/gif", "image/bmp", "image/webp":
		return t.image(ctx, data)
	case "application/pdf":
		return t.pages(ctx, data)
	}
	return "", fmt.Errorf("tesseract does not read %s", mediaType)
}

func (t Tesseract) image(ctx context.Context, data []byte) (string, error) {
	out, err := runTool(ctx, data, cmp.Or(t.Program, "tesseract"), "stdin", "stdout", "-l", cmp.Or(t.Languages, "eng"))
	if err != nil {
		return "", err
	}
	return strings.ToValidUTF8(string(out), "\uFFFD"), nil
}

func (t Tesseract) pages(ctx context.Context, data []byte) (string, error) {
	dpi, most := t.DPI, t.MaxPages
	if dpi == 0 {
		dpi = 200
	}
	if most <= 0 {
		most = 200
	}
	dpi = max(72, min(dpi, 600))
	var texts []string
	for n := 1; n <= most; n++ {
		page := strconv.Itoa(n)
		drawn, err := runTool(ctx, data, cmp.Or(t.Drawer, "pdftoppm"), "-gray", "-r", strconv.Itoa(dpi), "-f", page, "-l", page, "-")
		if err == nil && len(drawn) == 0 || err != nil && n > 1 && behindLast(err) {
			break
		}
		text := ""
		if err == nil {
			text, err = t.image(ctx, drawn)
		}
		if err != nil {
			return strings.Join(texts, "\f"), err
		}
		texts = append(texts, strings.Trim(text, "\f\n "))
		Progress(ctx, len(texts), 0)
	}
	return strings.Join(texts, "\f"), nil
}

// behindLast reports whether the exit status of pdftoppm means that the page does not exist.
func behindLast(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode() == 99
}
