package content

import (
	"bytes"
	"io"
	"strings"
	"time"
)

// SourceInfo describes a source.
type SourceInfo struct {
	ID                string
	Sub               string
	Class             Class
	Title             string
	Kind              string // free category
	Description       string
	Note              string
	URL               string
	Timestamp         time.Time // the content's own time; zero: unknown
	CreatedAt         time.Time
	UpdatedAt         time.Time
	ExpiresAt         time.Time // zero: never
	Filename          string
	ContentType       string
	SizeBytes         int64
	Status            Status
	Metadata          map[string]any
	Additional        map[string]any
	ForcefulRelations *ForcefulRelations
	App               *AppInfo
	Infer             bool
	Content           string // only where asked for
	Inferred          string // inferred statements, one a line; only where asked for
	Partial           string // why the text may be incomplete
}

// AppInfo identifies a source in the application from which it comes.
type AppInfo struct {
	Kind        AppKind
	Provider    string
	ExternalID  string
	ParentID    string // external id of the parent
	ThreadID    string
	Attachments []map[string]any
}

// ListRequest asks for a page of items, newest first, then by id.
type ListRequest struct {
	Class      Class    // default ClassKnowledge
	IDs        []string // only these, at most 100; nil: all
	Statuses   []Status // only items in one of these states; nil: in any
	Page       int      // from 1; default 1. A Store counts its way to a page: far down a list After is faster
	PageSize   int      // 1 to 100; default 50
	After      string   // SourcePage.Next of a page: what follows it, wherever that is by now; excludes Page
	Before     string   // SourcePage.Previous of a page, to get the page before it; excludes Page and After
	Filters    Filters  // lists are not allowed
	Fields     SourceFilter
	Content    bool     // fill SourceInfo.Content and Inferred
	Principals []string // only items that one of these may see; nil: all
}

// SourceFilter matches fields of a source by equality; empty fields match all.
type SourceFilter struct {
	Title, Kind, Description, URL, Timestamp                 string
	AppKind, AppProvider, AppExternalID, AppParentExternalID string
}

// SourcePage is a page of items.
type SourcePage struct {
	Sources        []SourceInfo
	Total          int // of what matches; it may count damaged items that the page leaves out and Warnings tells of
	Page, PageSize int // Page is 0 where ListRequest.After or Before was given
	// Next and Previous are cursors of ListRequest.After and Before; empty where nothing follows, nothing precedes.
	Next, Previous string
	Warnings       []Warning
}

// Pages returns the number of pages.
func (p *SourcePage) Pages() int { return (p.Total + p.PageSize - 1) / p.PageSize }

// FetchMode selects what Fetch returns.
type FetchMode string

// What Fetch returns: the content, a presigned URL, or both.
const (
	FetchContent FetchMode = "content"
	FetchURL     FetchMode = "url"
	FetchBoth    FetchMode = "both"
)

// FetchRequest asks for the original of a source.
type FetchRequest struct {
	ID         string
	Class      Class         // 0: knowledge, then memory
	Mode       FetchMode     // default FetchContent
	Expiry     time.Duration // life of the presigned URL, 60 s to 7 days; default 1 h
	Original   bool          // no extracted text: Text is the original, of text kinds alone
	ParsedText bool          // fill Text with the extracted text for PDF files too
	Principals []string      // fault.ErrNotFound when none of these may see it; nil: no such check
}

// Fetched is the original of a source.
type Fetched struct {
	ID    string
	Class Class
	// Text is the text that was extracted from RTF, mail, JSON, office files and the like, and the original of plain text,
	// Markdown, HTML, XML and tables of text. Of PDF files it is filled when asked for. Memories: the stored text, pairs
	// rendered as turns.
	Text        string
	Data        []byte // the original of binary kinds
	Binary      bool
	Inferred    string // inferred statements, one a line
	URL         string // presigned; empty when not asked for, and for memories
	ContentType string
	SizeBytes   int64
	Filename    string
	Title       string
	Status      Status
	Partial     string      // why the extracted text may be incomplete; empty: it is whole
	Usage       *ModelUsage // nil when the extractor asked no model
	Warnings    []Warning   // as in ItemStatus
}

// Reader returns a reader of Data when Binary is set, of Text otherwise.
func (f *Fetched) Reader() io.Reader {
	if f.Binary {
		return bytes.NewReader(f.Data)
	}
	return strings.NewReader(f.Text)
}

// ModelUsage is the usage of the model that read an item, see Options.Extractor.
type ModelUsage struct {
	Model                          string
	PromptTokens, CompletionTokens int    // as the endpoint reported them; of a shared request the item's share
	Calls                          int    // requests, retries included
	Fallback                       string // why the rules answered instead, one word such as "timeout"; empty: the model did
}
