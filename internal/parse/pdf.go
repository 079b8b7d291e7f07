package parse

import (
	"context"
	"errors"
	"strings"

	"github.com/contextmem/contextmem/internal/parse/pdf"
)

// PDFTool is another reader of PDF text, such as [PDFToText]. Pages are separated by form feeds. It is called from
// several goroutines at once.
type PDFTool interface {
	Text(ctx context.Context, data []byte) (string, error)
}

// pdfParser reads PDF documents with the bundled reader. A tool, where one is set, gives the text instead, unless it
// fails; a document without text goes to OCR, where that is set.
type pdfParser struct{ registry *Registry }

// Parse reads one PDF document.
func (p pdfParser) Parse(ctx context.Context, in Input, lim Limits) (*Document, error) {
	res, err := pdf.Parse(ctx, in.Data, pdf.Limits{
		MaxDecodedBytes: lim.MaxExpanded,
		MaxOutputBytes:  int(min(lim.MaxOutput, 1<<30)),
	})
	if res == nil {
		res = &pdf.Result{}
	}
	doc := &Document{Title: res.Title, Author: res.Author, Created: res.Created, Modified: res.Modified,
		Text: res.Text, Markdown: true, Partial: res.Partial}
	for _, pg := range res.Pages {
		doc.Pages = append(doc.Pages, Page{Number: pg.Number, Start: pg.Start})
	}
	ocr, tool := p.registry.hooks()
	if tool != nil && ctx.Err() == nil {
		if text, toolErr := tool.Text(ctx, in.Data); toolErr == nil && strings.TrimSpace(text) != "" {
			doc.pageText(text)
			return doc, nil
		}
	}
	switch {
	case err == nil:
		return titled(doc), nil
	case !errors.Is(err, pdf.ErrNoText):
		return nil, pdfError(err)
	case ocr != nil:
		return doc.recognise(ctx, ocr, in.Data)
	case res.Images:
		return nil, noText("the PDF holds images of pages and no text: a scan needs OCR")
	}
	return nil, noText("the PDF holds no text")
}

// recognise reads the pages of a scan through the hook. What was read before it failed is kept.
func (d *Document) recognise(ctx context.Context, o OCR, data []byte) (*Document, error) {
	text, err := o.Recognise(ctx, data, typePDF)
	if strings.TrimSpace(text) == "" {
		if err == nil {
			return nil, noText("no text was recognised in the scanned PDF")
		}
		return nil, NewError(NoText, "the text of the scanned PDF could not be recognised", err)
	}
	pages, read := len(d.Pages), strings.Count(text, "\f")+1
	d.pageText(text)
	switch {
	case read > 1 && read < pages, err != nil && read < pages:
		d.addPartial("the text of the first " + itoa(read) + " of " + itoa(pages) + " scanned pages was recognised")
	case err != nil:
		d.addPartial("the text of the scan was not recognised completely")
	}
	return d, nil
}

// pageText replaces the text by plain text whose pages are separated by form feeds.
func (d *Document) pageText(text string) {
	d.Markdown, d.Partial, d.Pages = false, "", nil
	var b strings.Builder
	for i, page := range strings.Split(strings.TrimRight(text, "\f\n "), "\f") {
		page = strings.Trim(cleanText(page), "\n")
		if b.Len() > 0 && page != "" {
			b.WriteString("\n\n")
		}
		d.Pages = append(d.Pages, Page{Number: i + 1, Start: b.Len()})
		b.WriteString(page)
	}
	d.Text = b.String()
}

// pdfError translates the errors of the reader.
func pdfError(err error) error {
	switch {
	case errors.Is(err, pdf.ErrEncrypted):
		return NewError(Encrypted, "the PDF needs a password", err)
	case errors.Is(err, pdf.ErrLimit):
		return NewError(LimitExceeded, "the PDF is beyond the limits", err)
	case errors.Is(err, pdf.ErrMalformed):
		return NewError(Malformed, "the PDF is damaged", err)
	}
	return err
}
