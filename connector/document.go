package connector

import "github.com/contextmem/contextmem/document"

type (
	// ParseInput is a part of an object to read: its name, its media type, its bytes.
	ParseInput = document.Input
	// Document is the text of a part and what its format says about it.
	Document = document.Document
)
