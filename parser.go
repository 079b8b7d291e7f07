package contextmem

import "github.com/contextmem/contextmem/internal/parse"

// Parser reads documents of a media type; see [Options.Parsers]. The text of a document that it returns is untrusted like any other.
type Parser = parse.Parser

// ParseInput is a document to read.
type ParseInput = parse.Input

// ParseLimits bound the reading of one document.
type ParseLimits = parse.Limits

// Document is what a Parser made of a document.
type Document = parse.Document

// DocumentPage says where a page, sheet or slide begins in a Document's text.
type DocumentPage = parse.Page

// OCR recognises text in images and scanned PDF documents; see [Options.OCR].
type OCR = parse.OCR

// Tesseract is an OCR that runs an installed tesseract, and pdftoppm of Poppler for PDF documents, in limited
// processes. The zero value finds them on the search path. Reading is slow: [Options.ParseTimeout] bounds it.
type Tesseract = parse.Tesseract

// PDFTool is another reader of PDF text; see [Options.PDFTool].
type PDFTool = parse.PDFTool

// PDFToText is a PDFTool that runs an installed pdftotext of Poppler in a limited process. The zero value finds it on
// the search path.
type PDFToText = parse.PDFToText
