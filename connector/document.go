package connector

import "github.com/contextmem/contextmem/document"

type (
	// ParseInput is a part of an object to parse: its name, media type and bytes.
	ParseInput = document.Input
	// Document is the text of a part, with the metadata from its format.
	Document = document.Document
)
