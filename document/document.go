package document

import (
	"strings"
	"time"
)

// Input is one document to parse. Parsers only read Data.
type Input struct {
	// Name is the file name, with or without folders; it may be empty.
	Name string
	// ContentType is the declared media type, such as "text/plain; charset=shift_jis"; it may be empty.
	ContentType string
	// Data is the content. It must not change while the Document is in use, because the Document may share its memory.
	Data []byte
}

// Page is the start of a page, sheet or slide in Document.Text.
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
	// Title, Author and Language come from the metadata of the document; empty when unknown.
	// Without a title in the metadata, Title is the first heading. Language is the BCP 47 tag as the document wrote it.
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

// AddPartial adds one more reason why the text may be incomplete to Partial.
func (d *Document) AddPartial(reason string) {
	switch {
	case reason == "" || strings.Contains(d.Partial, reason):
	case d.Partial == "":
		d.Partial = reason
	default:
		d.Partial += "; " + reason
	}
}
