package parse

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/charset"
	"github.com/contextmem/contextmem/internal/parse/chat"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/folder"
	"github.com/contextmem/contextmem/internal/parse/light"
	"github.com/contextmem/contextmem/internal/parse/mail"
	"github.com/contextmem/contextmem/internal/parse/markup"
	"github.com/contextmem/contextmem/internal/parse/media"
	"github.com/contextmem/contextmem/internal/parse/office"
	"github.com/contextmem/contextmem/internal/parse/output"
	"github.com/contextmem/contextmem/internal/parse/text"
)

// Registry chooses the parser of a document and runs it within limits. It is safe for concurrent use.
type Registry struct {
	mu      sync.RWMutex
	parsers map[string]document.Parser // by media type
	exts    map[string]string          // name ending to media type
	custom  map[string]bool            // media types that were registered after New
	ocr     document.OCR
	pdf     document.PDFTool
	hears   document.Transcriber
}

// New returns a registry that holds the bundled parsers and no OCR.
func New() *Registry {
	r := &Registry{parsers: map[string]document.Parser{}, exts: map[string]string{}, custom: map[string]bool{}}
	for mediaType, p := range r.bundled() {
		r.parsers[mediaType] = p
	}
	for mediaType, exts := range media.Extensions {
		for _, e := range strings.Fields(exts) {
			r.exts[e] = mediaType
		}
	}
	return r
}

// bundled returns the parsers of this package by media type.
func (r *Registry) bundled() map[string]document.Parser {
	return map[string]document.Parser{
		media.Text:     document.ParserFunc(text.ParsePlain),
		media.Markdown: document.ParserFunc(text.ParseMarkdown),
		media.HTML:     document.ParserFunc(markup.ParseHTML),
		media.XHTML:    document.ParserFunc(markup.ParseHTML),
		media.CSV:      document.ParserFunc(text.ParseCSV),
		media.TSV:      document.ParserFunc(text.ParseCSV),
		media.JSON:     document.ParserFunc(chat.ParseJSON),
		media.WhatsApp: document.ParserFunc(chat.ParseWhatsApp),
		media.RST:      document.ParserFunc(light.ParseRST),
		media.AsciiDoc: document.ParserFunc(light.ParseAsciiDoc),
		media.Org:      document.ParserFunc(light.ParseOrg),
		media.LaTeX:    document.ParserFunc(light.ParseLaTeX),
		media.Man:      document.ParserFunc(light.ParseMan),
		media.ZIP:      folder.Parser{Files: r, Walk: folder.WalkZip},
		media.TAR:      folder.Parser{Files: r, Walk: folder.WalkTar},
		media.GZIP:     folder.GzipParser{Files: r},
		media.JSONL:    document.ParserFunc(text.ParseJSON),
		media.VTT:      document.ParserFunc(text.ParseSubtitles),
		media.SRT:      document.ParserFunc(text.ParseSubtitles),
		media.Notebook: document.ParserFunc(text.ParseNotebook),
		media.Calendar: document.ParserFunc(text.ParseCalendar),
		media.Contacts: document.ParserFunc(text.ParseContacts),
		media.DOC:      document.ParserFunc(office.ParseDOC),
		media.XLS:      document.ParserFunc(office.ParseXLS),
		media.PPT:      document.ParserFunc(office.ParsePPT),
		media.MSG:      mail.MSGParser{Files: r},
		media.DOCX:     document.ParserFunc(office.ParseDOCX),
		media.PPTX:     document.ParserFunc(office.ParsePPTX),
		media.XLSX:     document.ParserFunc(office.ParseXLSX),
		media.ODT:      document.ParserFunc(office.ParseODF),
		media.ODS:      document.ParserFunc(office.ParseODF),
		media.ODP:      document.ParserFunc(office.ParseODF),
		media.EPUB:     document.ParserFunc(office.ParseEPUB),
		media.RTF:      document.ParserFunc(office.ParseRTF),
		media.XML:      markup.XMLParser{FlatODF: office.ParseFlatODF},
		media.PDF:      pdfParser{r},
		media.EML:      mail.Parser{Files: r},
		media.MBOX:     mail.MboxParser{Parser: mail.Parser{Files: r}},
	}
}

// RegisterAll registers parsers by media type. The name endings come from each [document.NamedParser].
func (r *Registry) RegisterAll(parsers map[string]document.Parser) {
	for mediaType, p := range parsers {
		var exts []string
		if n, ok := p.(document.NamedParser); ok {
			exts = n.Endings()
		}
		r.Register(mediaType, exts, p)
	}
}

// Register adds a parser for a media type and its name endings, which have no dot. It replaces an existing parser of that type.
// The type may be one that the bundled parsers refuse. Register panics when mediaType is empty or p is nil.
func (r *Registry) Register(mediaType string, exts []string, p document.Parser) {
	if mediaType == "" || p == nil {
		panic("parse: Register needs a media type and a parser")
	}
	mediaType, _ = media.Of(mediaType)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.parsers[mediaType] = p
	r.custom[mediaType] = true
	for _, e := range exts {
		r.exts[strings.ToLower(strings.TrimPrefix(e, "."))] = mediaType
	}
}

// SetOCR sets the OCR that reads images and PDF files without text. nil, the default, turns OCR off.
func (r *Registry) SetOCR(o document.OCR) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ocr = o
}

// SetPDFTool sets a program that reads PDF text in place of the bundled reader. The bundled reader stays the fallback.
// nil, the default, turns the tool off.
func (r *Registry) SetPDFTool(t document.PDFTool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pdf = t
}

// SetTranscriber sets the transcriber that turns recorded speech into text. nil, the default, turns transcription off.
func (r *Registry) SetTranscriber(t document.Transcriber) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hears = t
}

func (r *Registry) hooks() (document.OCR, document.PDFTool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.ocr, r.pdf
}

// Supported reports false only when the name or the declared type alone shows that no parser reads the document.
// True is no guarantee, because Parse decides by the content. Both arguments may be empty.
func (r *Registry) Supported(name, contentType string) bool {
	return r.Refuse(name, contentType) == nil
}

// Refuse returns the error with which Parse would refuse a document because of its name or declared type alone.
// The error names the format and gives a hint. Refuse returns nil when Supported reports true.
func (r *Registry) Refuse(name, contentType string) *document.Error {
	r.mu.RLock()
	defer r.mu.RUnlock()
	e := media.Ext(name)
	declared, _ := media.Of(contentType)
	if _, known := r.exts[e]; known {
		return nil
	}
	why := media.RefusedExt(e)
	switch {
	case why != nil && r.custom[declared]:
		return nil
	case why == nil && r.parsers[declared] != nil:
		return nil
	case why == nil:
		why = media.RefusedType(declared)
	}
	if why == nil || why.Image && r.ocr != nil || why.Sound && r.hears != nil {
		return nil
	}
	return refuse(why)
}

func refuse(why *media.Refusal) *document.Error {
	e := document.NewError(document.Unsupported, "the file is "+why.What, nil).WithHint(why.Hint)
	_ = advise(e, "")
	return e
}

// Parse detects the type of in and returns its text. Zero fields of lim are the defaults. The error is an [*document.Error],
// or ctx.Err() when ctx itself ended.
func (r *Registry) Parse(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	lim = lim.WithDefaults(int64(len(in.Data)))
	if int64(len(in.Data)) > lim.MaxInput {
		return nil, advise(document.Errorf(document.LimitExceeded, "the file has %d bytes, more than the limit of %d", len(in.Data), lim.MaxInput), "")
	}
	if len(in.Data) == 0 {
		return nil, advise(document.NewError(document.NoText, "the file is empty", nil), "")
	}
	run := ctx
	if lim.Timeout > 0 {
		var cancel context.CancelFunc
		run, cancel = context.WithTimeout(ctx, lim.Timeout)
		defer cancel()
	}
	mediaType, p, err := r.choose(in)
	if err != nil {
		return nil, advise(err, mediaType)
	}
	doc, err := protect(run, p, in, lim)
	if err == nil {
		if r.misnamed(in.Name, mediaType) {
			doc.AddPartial("the file holds text or a web page and not what its name says: the download may have failed")
		}
		if media.IsText(mediaType) && charset.Overwritten(in.Data) {
			doc.AddPartial("a part of the file holds bytes that no text holds")
		}
		err = finish(doc, mediaType, lim)
	}
	if err != nil {
		return nil, advise(classify(ctx, run, err, lim.Timeout), mediaType)
	}
	return doc, nil
}

// misnamed reports whether a text or HTML file has the name ending of a format that is never text, such as PDF or DOCX.
// Endings such as .doc and .xls do not count: many programs export tables as HTML under these names.
func (r *Registry) misnamed(name, mediaType string) bool {
	switch mediaType {
	case media.HTML, media.XHTML, media.Text, media.JSON:
	default:
		return false
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	switch r.exts[media.Ext(name)] {
	case media.PDF, media.DOCX, media.PPTX, media.XLSX, media.ODT, media.ODS, media.ODP, media.EPUB:
		return true
	}
	return false
}

// choose returns the type of the input and its parser, or why there is none.
func (r *Registry) choose(in document.Input) (string, document.Parser, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	sniffed := sniff(in.Data)
	declared, _ := media.Of(in.ContentType)
	e := media.Ext(in.Name)
	byName := r.exts[e]
	source := byName == media.Text && e != "txt" && e != "text" && e != "log"
	for _, t := range candidates(sniffed, declared, byName, source, r.custom) {
		if p := r.parsers[t]; p != nil {
			return t, p, nil
		}
	}
	why := media.RefusedType(sniffed.mediaType)
	if sniffed.mediaType == media.OLE {
		if sniffed.encrypted {
			return "", nil, document.NewError(document.Encrypted, "the office document needs a password", nil).WithHint("save it without one")
		}
		if sniffed.damaged && r.parsers[byName] != nil && byName != media.Text {
			return "", nil, document.NewError(document.Malformed, "the office document is cut off or damaged", nil)
		}
		if w := media.RefusedExt(e); w != nil {
			why = w
		}
	}
	switch {
	case why != nil && why.Image && r.ocr != nil:
		return sniffed.mediaType, ocrParser(r.ocr, sniffed.mediaType), nil
	case why != nil && why.Sound && r.hears != nil:
		return sniffed.mediaType, speechParser(r.hears, sniffed.mediaType), nil
	case why == nil && sniffed.mediaType == media.Binary:
		why = &media.Refusal{What: "binary data of a format that is not known"}
	case why == nil:
		why = &media.Refusal{What: "a format that is not known"}
	}
	return "", nil, refuse(why)
}

// ocrParser reads an image through the OCR hook.
func ocrParser(o document.OCR, mediaType string) document.Parser {
	return document.ParserFunc(func(ctx context.Context, in document.Input, _ document.Limits) (*document.Document, error) {
		text, err := o.Recognise(ctx, in.Data, mediaType)
		if strings.TrimSpace(text) == "" && err != nil {
			return nil, document.NewError(document.NoText, "the text of the image could not be recognised", err)
		}
		doc := &document.Document{Text: strings.TrimSpace(clean.Text(text))}
		if err != nil {
			doc.AddPartial("the text of the image was not recognised completely")
		}
		return doc, nil
	})
}

// speechParser reads a recording through the transcriber hook.
func speechParser(t document.Transcriber, mediaType string) document.Parser {
	return document.ParserFunc(func(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
		said, err := t.Transcribe(ctx, in.Data, mediaType)
		if len(said) == 0 {
			if err != nil {
				return nil, document.NewError(document.NoText, "the recording could not be transcribed", err)
			}
			return nil, document.NewError(document.NoText, "no speech was recognised in the recording", nil)
		}
		doc := text.Speech(said, lim)
		if err != nil {
			doc.AddPartial("the recording was not transcribed to its end")
		}
		return doc, nil
	})
}

// protect runs a parser and turns a panic into an error without content or addresses.
func protect(ctx context.Context, p document.Parser, in document.Input, lim document.Limits) (doc *document.Document, err error) {
	defer func() {
		if v := recover(); v != nil {
			doc, err = nil, document.NewError(document.Internal, "the parser failed", panicError(v))
		}
	}()
	doc, err = p.Parse(ctx, in, lim)
	if err == nil && doc == nil {
		err = document.NewError(document.Internal, "the parser returned nothing", nil)
	}
	return doc, err
}

// panicError describes a recovered panic by its type and the function that raised it, because its message may have content.
func panicError(v any) error {
	at := "unknown"
	lines := strings.Split(string(debug.Stack()), "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "panic(") {
			continue
		}
		for _, l := range lines[i+1:] {
			if l != "" && !strings.HasPrefix(l, "\t") && !strings.HasPrefix(l, "runtime.") {
				at, _, _ = strings.Cut(l[strings.LastIndexByte(l, '/')+1:], "(")
				break
			}
		}
		break
	}
	return fmt.Errorf("panic (%T) in %s", v, at)
}

// finish normalises the result of a parser so that it satisfies the guarantees of Document.
func finish(doc *document.Document, mediaType string, lim document.Limits) error {
	if doc.MediaType == "" {
		doc.MediaType = mediaType
	}
	if !utf8.ValidString(doc.Text) {
		doc.Text = strings.ToValidUTF8(doc.Text, "\uFFFD")
	}
	doc.Text = clean.BlankControls(doc.Text)
	if int64(len(doc.Text)) > lim.MaxOutput {
		doc.Text = clean.Cut(doc.Text, int(lim.MaxOutput))
		doc.AddPartial(output.LimitReason(lim.MaxOutput))
	}
	if strings.TrimSpace(doc.Text) == "" {
		if doc.Partial != "" {
			return document.Errorf(document.Malformed, "no text could be read: %s", doc.Partial)
		}
		return document.NewError(document.NoText, "the file holds no text", nil)
	}
	doc.Title, doc.Author, doc.Language = clean.OneLine(doc.Title), clean.OneLine(doc.Author), clean.OneLine(doc.Language)
	for k, v := range doc.Meta {
		doc.Meta[k] = clean.OneLine(v)
	}
	last := 0
	pages := doc.Pages[:0]
	for _, p := range doc.Pages {
		if p.Start < last || p.Start > len(doc.Text) {
			continue
		}
		p.Label = clean.OneLine(p.Label)
		pages, last = append(pages, p), p.Start
	}
	doc.Pages = pages
	doc.Created, doc.Modified = doc.Created.UTC(), doc.Modified.UTC()
	return nil
}

// classify converts the error of a parser into the error of the document.
func classify(ctx, run context.Context, err error, timeout time.Duration) error {
	if ctxErr := ctx.Err(); ctxErr != nil {
		return ctxErr
	}
	if run.Err() != nil {
		return document.NewError(document.Timeout, fmt.Sprintf("reading the file took longer than %v", timeout), nil)
	}
	var e *document.Error
	if errors.As(err, &e) {
		return e
	}
	return document.NewError(document.Internal, "the parser failed", err)
}
