// Package document is the contract between contextmem and the parsers that turn files into text.
//
// A [Parser] gets an [Input] (a file's bytes, name and declared type) and [Limits], and returns a [Document]: clean
// text with its title, author, dates and pages. To read a format that contextmem does not know, or to read one
// better, write a Parser and pass it in contextmem.Options.Parsers under its media type:
//
//	parsers := map[string]document.Parser{
//		"application/x-note": document.ParserFunc(func(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
//			if len(in.Data) == 0 {
//				return nil, document.NewError(document.NoText, "the note is empty", nil)
//			}
//			return &document.Document{Text: string(in.Data)}, nil
//		}),
//	}
//
// A parser reports a faulty document with an [*Error]. The failed item carries the code of the error.
//
// [OCR] and [PDFTool] are hooks that read what the bundled parsers cannot. [Tesseract] and [PDFToText] implement them
// with programs that are installed on the machine; each run has bounded memory, time and output.
package document
