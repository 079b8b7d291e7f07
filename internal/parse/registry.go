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
)

// Registry chooses the parser of a document and runs it within limits. It is safe for concurrent use.
type Registry struct {
	mu      sync.RWMutex
	parsers map[string]Parser // by media type
	exts    map[string]string // name ending to media type
	custom  map[string]bool   // media types that were registered after New
	ocr     OCR
	pdf     PDFTool
}

// New returns a registry that holds the bundled parsers and no OCR.
func New() *Registry {
	r := &Registry{parsers: map[string]Parser{}, exts: map[string]string{}, custom: map[string]bool{}}
	for mediaType, p := range r.bundled() {
		r.parsers[mediaType] = p
	}
	for mediaType, exts := range bundledExts {
		for _, e := range strings.Fields(exts) {
			r.exts[e] = mediaType
		}
	}
	return r
}

// bundled returns the parsers of this package by media type.
func (r *Registry) bundled() map[string]Parser {
	return map[string]Parser{
		typeText:     ParserFunc(parseText),
		typeMarkdown: ParserFunc(parseMarkdown),
		typeHTML:     ParserFunc(parseHTML),
		typeXHTML:    ParserFunc(parseHTML),
		typeCSV:      ParserFunc(parseCSV),
		typeTSV:      ParserFunc(parseCSV),
		typeJSON:     ParserFunc(parseJSON),
		typeJSONL:    ParserFunc(parseJSON),
		typeDOCX:     ParserFunc(parseDOCX),
		typePPTX:     ParserFunc(parsePPTX),
		typeXLSX:     ParserFunc(parseXLSX),
		typeODT:      ParserFunc(parseODF),
		typeODS:      ParserFunc(parseODF),
		typeODP:      ParserFunc(parseODF),
		typeEPUB:     ParserFunc(parseEPUB),
		typeRTF:      ParserFunc(parseRTF),
		typeXML:      ParserFunc(parseXML),
		typePDF:      pdfParser{r},
		typeEML:      mailParser{r},
		typeMBOX:     mboxParser{mailParser{r}},
	}
}

// Register adds a parser for a media type and the name endings (without the dot) that mean it, or replaces the one
// that is there. A parser registered for a type that the bundled ones refuse, such as application/msword, gets it.
// It panics when mediaType is empty or p is nil.
func (r *Registry) Register(mediaType string, exts []string, p Parser) {
	if mediaType == "" || p == nil {
		panic("parse: Register needs a media type and a parser")
	}
	mediaType, _ = mediaTypeOf(mediaType)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.parsers[mediaType] = p
	r.custom[mediaType] = true
	for _, e := range exts {
		r.exts[strings.ToLower(strings.TrimPrefix(e, "."))] = mediaType
	}
}

// SetOCR sets what reads images and PDF files without text; nil switches it off.
func (r *Registry) SetOCR(o OCR) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ocr = o
}

// SetPDFTool sets a program that reads PDF text in place of the bundled reader, which stays the fallback; nil
// switches it off.
func (r *Registry) SetPDFTool(t PDFTool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pdf = t
}

func (r *Registry) hooks() (OCR, PDFTool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.ocr, r.pdf
}

// Supported reports false only when the name or the declared type alone shows that no parser reads the document.
// True is no promise: the content decides. Both arguments may be empty.
func (r *Registry) Supported(name, contentType string) (ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	e := ext(name)
	declared, _ := mediaTypeOf(contentType)
	if _, known := r.exts[e]; known {
		return true
	}
	if what, refused := refusedExts[e]; refused {
		return (what == whatImage && r.ocr != nil) || r.custom[declared]
	}
	if _, known := r.parsers[declared]; known {
		return true
	}
	what, refused := refusedType(declared)
	return !refused || (what == whatImage && r.ocr != nil)
}

// Parse detects the type of in and returns its text. Zero fields of lim are the defaults. The error is an [*Error],
// or ctx.Err() when ctx itself ended.
func (r *Registry) Parse(ctx context.Context, in Input, lim Limits) (*Document, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	lim = lim.withDefaults(int64(len(in.Data)))
	if int64(len(in.Data)) > lim.MaxInput {
		return nil, limitExceeded("the file has %d bytes, more than the limit of %d", len(in.Data), lim.MaxInput)
	}
	if len(in.Data) == 0 {
		return nil, noText("the file is empty")
	}
	run := ctx
	if lim.Timeout > 0 {
		var cancel context.CancelFunc
		run, cancel = context.WithTimeout(ctx, lim.Timeout)
		defer cancel()
	}
	mediaType, p, err := r.choose(in)
	if err != nil {
		return nil, err
	}
	doc, err := protect(run, p, in, lim)
	if err == nil {
		err = finish(doc, mediaType, lim)
	}
	if err != nil {
		return nil, classify(ctx, run, err, lim.Timeout)
	}
	return doc, nil
}

// choose returns the type of the input and its parser, or why there is none.
func (r *Registry) choose(in Input) (string, Parser, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	sniffed := sniff(in.Data)
	declared, _ := mediaTypeOf(in.ContentType)
	e := ext(in.Name)
	byName := r.exts[e]
	source := byName == typeText && e != "txt" && e != "text" && e != "log"
	for _, t := range candidates(sniffed, declared, byName, source, r.custom) {
		if p := r.parsers[t]; p != nil {
			return t, p, nil
		}
	}
	what, refused := refusedType(sniffed.mediaType)
	if sniffed.mediaType == typeOLE {
		if sniffed.encrypted {
			return "", nil, NewError(Encrypted, "the office document needs a password", nil)
		}
		if w, ok := refusedExts[ext(in.Name)]; ok {
			what = w
		}
	}
	if what == whatImage && r.ocr != nil {
		return sniffed.mediaType, ocrParser(r.ocr, sniffed.mediaType), nil
	}
	if !refused {
		what = "a format that is not known"
		if sniffed.mediaType == typeBinary {
			what = "binary data of a format that is not known"
		}
	}
	return "", nil, NewError(Unsupported, "the file is "+what, nil)
}

// ocrParser reads an image through the hook.
func ocrParser(o OCR, mediaType string) Parser {
	return ParserFunc(func(ctx context.Context, in Input, _ Limits) (*Document, error) {
		text, err := o.Recognise(ctx, in.Data, mediaType)
		if strings.TrimSpace(text) == "" && err != nil {
			return nil, NewError(NoText, "the text of the image could not be recognised", err)
		}
		doc := &Document{Text: strings.TrimSpace(cleanText(text))}
		if err != nil {
			doc.addPartial("the text of the image was not recognised completely")
		}
		return doc, nil
	})
}

// protect runs a parser and turns a panic into an error that names neither content nor address.
func protect(ctx context.Context, p Parser, in Input, lim Limits) (doc *Document, err error) {
	defer func() {
		if v := recover(); v != nil {
			doc, err = nil, NewError(Internal, "the parser failed", panicError(v))
		}
	}()
	doc, err = p.Parse(ctx, in, lim)
	if err == nil && doc == nil {
		err = NewError(Internal, "the parser returned nothing", nil)
	}
	return doc, err
}

// panicError describes a recovered panic by its type and the function that raised it; its message may hold content.
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

// finish makes a parser's result keep the promises of Document.
func finish(doc *Document, mediaType string, lim Limits) error {
	if doc.MediaType == "" {
		doc.MediaType = mediaType
	}
	if !utf8.ValidString(doc.Text) {
		doc.Text = strings.ToValidUTF8(doc.Text, "\uFFFD")
	}
	doc.Text = blankControls(doc.Text)
	if int64(len(doc.Text)) > lim.MaxOutput {
		doc.Text = cutRune(doc.Text, int(lim.MaxOutput))
		doc.addPartial(outputLimitReason(lim.MaxOutput))
	}
	if strings.TrimSpace(doc.Text) == "" {
		if doc.Partial != "" {
			return malformed("no text could be read: %s", doc.Partial)
		}
		return noText("the file holds no text")
	}
	doc.Title, doc.Author, doc.Language = oneLine(doc.Title), oneLine(doc.Author), oneLine(doc.Language)
	for k, v := range doc.Meta {
		doc.Meta[k] = oneLine(v)
	}
	last := 0
	pages := doc.Pages[:0]
	for _, p := range doc.Pages {
		if p.Start < last || p.Start > len(doc.Text) {
			continue
		}
		p.Label = oneLine(p.Label)
		pages, last = append(pages, p), p.Start
	}
	doc.Pages = pages
	doc.Created, doc.Modified = doc.Created.UTC(), doc.Modified.UTC()
	return nil
}

// classify turns what a parser returned into the error of the document.
func classify(ctx, run context.Context, err error, timeout time.Duration) error {
	if ctxErr := ctx.Err(); ctxErr != nil {
		return ctxErr
	}
	if run.Err() != nil {
		return NewError(Timeout, fmt.Sprintf("reading the file took longer than %v", timeout), nil)
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return NewError(Internal, "the parser failed", err)
}

func outputLimitReason(limit int64) string {
	return fmt.Sprintf("the text was cut at the limit of %d bytes", limit)
}

// addPartial notes one more reason why the text may be incomplete.
func (d *Document) addPartial(reason string) {
	switch {
	case reason == "" || strings.Contains(d.Partial, reason):
	case d.Partial == "":
		d.Partial = reason
	default:
		d.Partial += "; " + reason
	}
}
