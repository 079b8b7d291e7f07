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
