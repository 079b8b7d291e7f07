package document

import (
	"cmp"
	"context"
	"strings"
)

// PDFToText is a [PDFTool] that runs an installed pdftotext of Poppler in a limited process, which sees nothing but
// its standard input. The zero value works where it is on the search path. It is safe for concurrent use.
type PDFToText struct {
	// Program is the name or path of pdftotext; empty means "pdftotext".
	Program string
}

// Text returns the text in reading order, pages separated by form feeds.
func (p PDFToText) Text(ctx context.Context, data []byte) (string, error) {
	out, err := runTool(ctx, data, cmp.Or(p.Program, "pdftotext"), "-q", "-enc", "UTF-8", "-", "-")
	if err != nil {
		return "", err
	}
	return strings.ToValidUTF8(string(out), "\uFFFD"), nil
}
