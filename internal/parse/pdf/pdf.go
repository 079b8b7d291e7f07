package pdf

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Errors of [Parse], matched with [errors.Is]. They are wrapped with a short reason that never contains content.
var (
	// ErrMalformed means that the data is not a PDF, or is damaged beyond repair.
	ErrMalformed = errors.New("malformed pdf")
	// ErrEncrypted means that the document opens only with a password or a certificate.
	ErrEncrypted = errors.New("encrypted pdf")
	// ErrLimit means that a bound of [Limits] was reached before any text was read.
	ErrLimit = errors.New("pdf limit exceeded")
	// ErrNoText means that the document is readable and has no text.
	ErrNoText = errors.New("pdf without text")
)

// Default limits, used where a field of [Limits] is zero or negative.
const (
	// DefaultMaxObjects is 1,000,000 objects in the cross-reference table.
	DefaultMaxObjects = 1_000_000
	// DefaultMaxPages is 20,000 pages.
	DefaultMaxPages = 20_000
	// DefaultMaxDepth is 64 levels of nested arrays, dictionaries, page tree nodes and forms.
	DefaultMaxDepth = 64
	// DefaultMaxStreamBytes is 32 MiB, far above any page of text.
	DefaultMaxStreamBytes int64 = 32 << 20
	// DefaultMaxDecodedBytes is 512 MiB.
	DefaultMaxDecodedBytes int64 = 512 << 20
	// DefaultMaxOutputBytes is 32 MiB of text.
	DefaultMaxOutputBytes = 32 << 20
)

// Limits bounds the work on one document. Zero or negative fields mean the default of the same name. When a limit is
// reached after some text was read, [Parse] returns that text with Result.Partial set.
type Limits struct {
	// MaxObjects is the greatest number of entries that are kept of the cross-reference table.
	MaxObjects int
	// MaxPages is the greatest number of pages that are read.
	MaxPages int
	// MaxDepth bounds the nesting of arrays, dictionaries, page tree nodes and forms.
	MaxDepth int
	// MaxStreamBytes is the greatest size in bytes of one decoded stream; the remainder is dropped.
	MaxStreamBytes int64
	// MaxDecodedBytes is the greatest sum in bytes of all decoded streams, counted each time a stream is decoded. The effective limit is at
	// most 64 MiB plus 64 times the size of the input.
	MaxDecodedBytes int64
	// MaxOutputBytes is the greatest size in bytes of the text.
	MaxOutputBytes int
}

// Page is the position of a page in Result.Text.
type Page struct {
	// Number counts from 1 in the order of the page tree.
	Number int
	// Start is a byte offset in Result.Text. A page without text starts where the next one does.
	Start int
}

// Result is the text and the metadata of a document.
type Result struct {
	// Title and Author come from the document information, else from the XMP packet. They are empty when unknown.
	Title, Author string
	// Created and Modified are in UTC. They are zero when unknown.
	Created, Modified time.Time
	// Text is valid UTF-8. Paragraphs, headings ("## ..."), lists and tables (Markdown rows) are separated by a
	// blank line.
	Text string
	// Pages lists every page that was read, in order.
	Pages []Page
	// Partial is the reason why the text may be incomplete. Empty means complete.
	Partial string
	// Scans says which pages among pages of text are images without text. Empty means none.
	Scans string
	// Images is set when the document has images and no text: it is likely a scan.
	Images bool
}

// Parse reads a document. It does not change or keep data. It returns an error that matches [ErrMalformed], [ErrEncrypted], [ErrLimit] or
// [ErrNoText], or ctx's own when ctx ends. With ErrNoText the Result has Images, Pages and the metadata; with any other error it is nil.
// Parse may be called from several goroutines at once. It needs up to 64 MB in addition to data. For files and texts of tens of megabytes
// it runs the garbage collector every few hundred pages to stay within that.
func Parse(ctx context.Context, data []byte, lim Limits) (res *Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			res, err = nil, fmt.Errorf("%w: reader failed on damaged data", ErrMalformed)
		}
	}()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	doc, err := openDocument(ctx, data, lim.withDefaults())
	if err != nil {
		return nil, err
	}
	return doc.extract()
}

// withDefaults replaces fields that are not positive by the defaults.
func (l Limits) withDefaults() Limits {
	if l.MaxObjects <= 0 {
		l.MaxObjects = DefaultMaxObjects
	}
	if l.MaxPages <= 0 {
		l.MaxPages = DefaultMaxPages
	}
	if l.MaxDepth <= 0 {
		l.MaxDepth = DefaultMaxDepth
	}
	if l.MaxStreamBytes <= 0 {
		l.MaxStreamBytes = DefaultMaxStreamBytes
	}
	if l.MaxDecodedBytes <= 0 {
		l.MaxDecodedBytes = DefaultMaxDecodedBytes
	}
	if l.MaxOutputBytes <= 0 {
		l.MaxOutputBytes = DefaultMaxOutputBytes
	}
	return l
}
