package document

import "context"

// Parser reads documents of one type. It is called from several goroutines at once.
type Parser interface {
	// Parse returns the text of in. It stops when ctx ends, keeps within lim, whose fields are all set, and neither
	// changes nor keeps in.Data. What is wrong with the document comes as an [*Error]; any other error counts as
	// [Internal].
	Parse(ctx context.Context, in Input, lim Limits) (*Document, error)
}

// NamedParser is a [Parser] that knows the names of its files.
type NamedParser interface {
	Parser
	// Endings are the name endings that mean its type, without the dot: "parquet".
	Endings() []string
}

// ParserFunc is a function that is a [Parser].
type ParserFunc func(ctx context.Context, in Input, lim Limits) (*Document, error)

// Parse calls f.
func (f ParserFunc) Parse(ctx context.Context, in Input, lim Limits) (*Document, error) {
	return f(ctx, in, lim)
}

// OCR recognises text in images and scans. It is called from several goroutines at once. [Tesseract] is one.
type OCR interface {
	// Recognise returns the text of data. mediaType is the type of data, such as "image/png". Form feeds separate the
	// pages of "application/pdf". An implementation returns an error for a type that it cannot read. With an error,
	// Recognise may also return the text read before the error; the caller keeps it.
	Recognise(ctx context.Context, data []byte, mediaType string) (string, error)
}

// PDFTool reads the text of PDF documents in place of the bundled reader. It is called from several goroutines at
// once. [PDFToText] is one.
type PDFTool interface {
	// Text returns the text of a PDF document in reading order, its pages separated by form feeds. When it fails or
	// returns no text, the text of the bundled reader is used.
	Text(ctx context.Context, data []byte) (string, error)
}
