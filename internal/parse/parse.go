// Package parse turns foreign documents into clean text.
//
// A [Registry] finds out what a document is (by content first, by its declared type and its name second), runs the
// [Parser] of that type under [Limits] and returns a [Document]: Markdown-flavoured text that keeps headings, lists,
// tables, links and code, with the title, author, dates and pages that the format carries.
//
// The bundled parsers read plain text and source code in any common charset, Markdown, HTML, CSV and TSV, JSON and
// JSON Lines, XML, RTF, PDF, DOCX, PPTX, XLSX, ODT, ODS, ODP, EPUB, mails and mailboxes with their attachments. Archives,
// programs, media and the binary office formats before 2007 are refused ([Unsupported]); images are read through an
// [OCR] where one is set.
//
// All input is untrusted. Parsers never touch a file, a network or an external entity; sizes, depth, ratio and time
// are bounded; a panic ends as an [*Error] of that document alone. A document whose text is empty is an error
// ([NoText]), never a silent success, and a text that may be incomplete says why in Document.Partial.
package parse

import (
	"context"
	"time"
)

// Input is one document as it was handed in. Data is only read.
type Input struct {
	// Name is the file name, with or without folders; it may be empty.
	Name string
	// ContentType is the declared media type, such as "text/plain; charset=shift_jis"; it may be empty.
	ContentType string
	// Data is the content.
	Data []byte
}

// Page is where a page, sheet or slide begins in Document.Text.
type Page struct {
	// Number counts from 1.
	Number int
	// Label is the name of the sheet or the title of the slide or chapter; it may be empty.
	Label string
	// Start is a byte offset in Document.Text.
	Start int
}

// Document is the text of an input and what the format says about it.
type Document struct {
	// MediaType is the detected type, such as "text/html".
	MediaType string
	// Title, Author and Language come from the document's metadata, the title else from its first heading;
	// empty when unknown. Language is a BCP 47 tag as the document wrote it.
	Title, Author, Language string
	// Created and Modified are in UTC; zero when unknown.
	Created, Modified time.Time
	// Text is valid UTF-8 with "\n" line ends. When Markdown is set it is Markdown-flavoured: # headings, lists,
	// | tables | with a header row, ``` code fences, links as [text](url). Characters that Markdown would give a
	// meaning are escaped only where they would change the structure, so that the words stay searchable.
	Text string
	// Markdown says whether Text is Markdown; false means plain text.
	Markdown bool
	// Pages lists pages, sheets, slides or chapters in order of Start; nil when the format has none.
	Pages []Page
	// Partial says why the text may be incomplete; empty means complete.
	Partial string
	// Meta holds further fields of the format: from, to, cc and date of a mail, description and keywords of a page.
	Meta map[string]string
}

// Default limits, used where a field of [Limits] is zero.
const (
	// DefaultMaxInput is 128 MiB.
	DefaultMaxInput int64 = 128 << 20
	// DefaultMaxOutput is 16 MiB of text, about eight thousand printed pages; a larger input may have as much text
	// as it has bytes, up to twice that.
	DefaultMaxOutput int64 = 16 << 20
	// DefaultMaxExpanded is 256 MiB.
	DefaultMaxExpanded int64 = 256 << 20
	// DefaultMaxDepth is 200 levels.
	DefaultMaxDepth = 200
	// DefaultMaxRatio is 250: ten times what office documents usually reach, a quarter of deflate's greatest ratio.
	DefaultMaxRatio = 250
	// DefaultMaxEntries is 10,000 files in a container.
	DefaultMaxEntries = 10_000
	// DefaultTimeout is 30 seconds.
	DefaultTimeout = 30 * time.Second
)

// Limits bounds the work on one document. The zero value of a field is the default of the same name.
type Limits struct {
	// MaxInput is the greatest size of the input in bytes; beyond it the document is refused (LimitExceeded).
	MaxInput int64
	// MaxOutput is the greatest size of the text in bytes; what is beyond is cut off, and Partial says so.
	MaxOutput int64
	// MaxExpanded is the greatest sum in bytes of what is unpacked from a container.
	MaxExpanded int64
	// MaxDepth bounds nesting of elements, groups, values and mail parts.
	MaxDepth int
	// MaxRatio bounds unpacked over packed size of an entry, once 4 MiB were unpacked.
	MaxRatio int
	// MaxEntries bounds the files in a container.
	MaxEntries int
	// Timeout bounds the time; negative means no bound but the context's.
	Timeout time.Duration
}

// withDefaults replaces zero fields, for an input of size bytes.
func (l Limits) withDefaults(size int64) Limits {
	if l.MaxInput <= 0 {
		l.MaxInput = DefaultMaxInput
	}
	if l.MaxOutput <= 0 {
		l.MaxOutput = max(DefaultMaxOutput, min(size, 2*DefaultMaxOutput))
	}
	if l.MaxExpanded <= 0 {
		l.MaxExpanded = DefaultMaxExpanded
	}
	if l.MaxDepth <= 0 {
		l.MaxDepth = DefaultMaxDepth
	}
	if l.MaxRatio <= 0 {
		l.MaxRatio = DefaultMaxRatio
	}
	if l.MaxEntries <= 0 {
		l.MaxEntries = DefaultMaxEntries
	}
	if l.Timeout == 0 {
		l.Timeout = DefaultTimeout
	}
	return l
}

// Parser reads documents of one type. Parse is called from several goroutines at once. It must stop when ctx ends,
// keep within lim (whose fields are all set when a [Registry] calls), and not keep in.Data. It returns an [*Error]
// for what is wrong with the document; any other error counts as [Internal].
type Parser interface {
	Parse(ctx context.Context, in Input, lim Limits) (*Document, error)
}

// ParserFunc is a function that is a [Parser].
type ParserFunc func(ctx context.Context, in Input, lim Limits) (*Document, error)

// Parse calls f.
func (f ParserFunc) Parse(ctx context.Context, in Input, lim Limits) (*Document, error) {
	return f(ctx, in, lim)
}

// OCR recognises text in images. mediaType is that of data, such as "image/png" or "application/pdf", whose pages are
// separated by form feeds; an implementation returns an error for types that it cannot read. Text that comes with an
// error is what was read before it. It is called from several goroutines at once.
type OCR interface {
	Recognise(ctx context.Context, data []byte, mediaType string) (string, error)
}
