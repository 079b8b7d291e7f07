package parse

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/media"
	"github.com/contextmem/contextmem/internal/parse/output"
	"github.com/contextmem/contextmem/internal/parse/pdf"
)

// pdfParser reads PDF documents with the bundled reader. If a tool is set and succeeds, its text replaces that of the reader.
// If OCR is set, it reads the documents that have no text.
type pdfParser struct{ registry *Registry }

// Parse reads one PDF document.
func (p pdfParser) Parse(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	res, err := pdf.Parse(ctx, in.Data, pdf.Limits{
		MaxDecodedBytes: lim.MaxExpanded,
		MaxOutputBytes:  int(min(lim.MaxOutput, 1<<30)),
	})
	if res == nil {
		res = &pdf.Result{}
	}
	doc := &document.Document{Title: res.Title, Author: res.Author, Created: res.Created, Modified: res.Modified,
		Text: res.Text, Markdown: true, Partial: res.Partial}
	for _, pg := range res.Pages {
		doc.Pages = append(doc.Pages, document.Page{Number: pg.Number, Start: pg.Start})
	}
	ocr, tool := p.registry.hooks()
	if tool != nil && ctx.Err() == nil {
		if text, toolErr := tool.Text(ctx, in.Data); toolErr == nil && strings.TrimSpace(text) != "" {
			setPages(doc, text)
			doc.AddPartial(res.Scans)
			return doc, nil
		}
	}
	switch {
	case err == nil:
		doc.AddPartial(res.Scans)
		return output.Titled(doc), nil
	case !errors.Is(err, pdf.ErrNoText):
		return nil, pdfError(err)
	case ocr != nil:
		return recognise(ctx, doc, ocr, in.Data)
	case res.Images:
		return nil, document.NewError(document.NoText, "the PDF holds images of pages and no text", nil).WithHint("a scan needs OCR")
	}
	return nil, document.NewError(document.NoText, "the PDF holds no text", nil)
}

// recognise reads the pages of a scan through the OCR hook. It keeps the text that was read before an error.
func recognise(ctx context.Context, d *document.Document, o document.OCR, data []byte) (*document.Document, error) {
	text, err := o.Recognise(document.WithProgress(ctx, func(done, total int) {
		document.Progress(ctx, done, max(total, len(d.Pages)))
	}), data, media.PDF)
	if strings.TrimSpace(text) == "" {
		if err == nil {
			return nil, document.NewError(document.NoText, "no text was recognised in the scanned PDF", nil)
		}
		return nil, document.NewError(document.NoText, "the text of the scanned PDF could not be recognised", err)
	}
	pages, read := len(d.Pages), strings.Count(text, "\f")+1
	setPages(d, text)
	switch {
	case read > 1 && read < pages, err != nil && read < pages:
		d.AddPartial("the text of the first " + strconv.Itoa(read) + " of " + strconv.Itoa(pages) + " scanned pages was recognised")
	case err != nil:
		d.AddPartial("the text of the scan was not recognised completely")
	}
	return d, nil
}

// setPages replaces the text by plain text whose pages are separated by form feeds.
func setPages(d *document.Document, text string) {
	d.Markdown, d.Partial, d.Pages = false, "", nil
	var b strings.Builder
	for i, page := range strings.Split(strings.TrimRight(text, "\f\n "), "\f") {
		page = strings.Trim(clean.Text(page), "\n")
		if b.Len() > 0 && page != "" {
			b.WriteString("\n\n")
		}
		d.Pages = append(d.Pages, document.Page{Number: i + 1, Start: b.Len()})
		b.WriteString(page)
	}
	d.Text = b.String()
}

// pdfError translates the errors of the reader.
func pdfError(err error) error {
	switch {
	case errors.Is(err, pdf.ErrEncrypted):
		return document.NewError(document.Encrypted, "the PDF needs a password", err).WithHint("save it without one")
	case errors.Is(err, pdf.ErrLimit):
		return document.NewError(document.LimitExceeded, "the PDF is beyond the limits", err)
	case errors.Is(err, pdf.ErrMalformed):
		return document.NewError(document.Malformed, "the PDF is damaged", err)
	}
	return err
}
