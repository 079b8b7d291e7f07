package contextmem

import (
	"context"
	"io"
	"iter"
	"time"
)

// FetchMode says what Fetch returns.
type FetchMode string

// Fetch modes.
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
	ParsedText bool          // for binary files fill Text with the parsed text too
	Principals []string
}

// Fetched is the original of a source.
type Fetched struct {
	ID          string
	Class       Class
	Text        string // text kinds; memories: the stored text, pairs rendered as turns
	Data        []byte // binary kinds
	Binary      bool
	Inferred    string // inferred statements, one a line
	URL         string // presigned; empty when not asked for, and for memories
	ContentType string
	SizeBytes   int64
	Filename    string
	Title       string
	Status      Status
	Usage       *ModelUsage // nil when the extractor asked no model
	Warnings    []Warning   // as in ItemStatus
}

// ModelUsage is what a model cost that read an item, see Options.Extractor.
type ModelUsage struct {
	Model                          string
	PromptTokens, CompletionTokens int    // as the endpoint reported them; of a shared request the item's share
	Calls                          int    // requests, retries included
	Fallback                       string // why the rules answered instead, one word such as "timeout"; empty: the model did
}

// Fetch returns the original of a source. ErrNotFound when it is not in this scope.
func (s Sub) Fetch(ctx context.Context, r FetchRequest) (*Fetched, error) {
	return s.svc.fetch(ctx, s, r)
}

// OpenPresigned serves a presigned URL's path and query values: it returns the
// original when token is genuine and not expired, else ErrForbidden or ErrNotFound.
func (s *Service) OpenPresigned(ctx context.Context, token string) (*Fetched, error) {
	return s.openPresigned(ctx, token)
}

// ListRequest asks for a page of items, newest first, then by id.
type ListRequest struct {
	Class      Class    // default ClassKnowledge
	IDs        []string // only these, at most 100; nil: all
	Page       int      // from 1; default 1
	PageSize   int      // 1 to 100; default 50
	Filters    Filters  // lists are not allowed
	Fields     SourceFilter
	Content    bool // fill SourceInfo.Content and Inferred
	Principals []string
}

// SourceFilter matches fields of a source by equality; empty fields match all.
type SourceFilter struct {
	Title, Kind, Description, URL, Timestamp                 string
	AppKind, AppProvider, AppExternalID, AppParentExternalID string
}

// SourcePage is a page of items.
type SourcePage struct {
	Sources        []SourceInfo
	Total          int
	Page, PageSize int
	Warnings       []Warning
}

// Pages is the number of pages.
func (p *SourcePage) Pages() int { return (p.Total + p.PageSize - 1) / p.PageSize }

// List returns a page of items.
func (s Sub) List(ctx context.Context, r ListRequest) (*SourcePage, error) {
	return s.svc.list(ctx, s, r)
}

// Sources yields all items that fit r, page by page; r.Page is ignored.
func (s Sub) Sources(ctx context.Context, r ListRequest) iter.Seq2[SourceInfo, error] {
	return func(yield func(SourceInfo, error) bool) {
		if r.PageSize == 0 {
			r.PageSize = 100
		}
		for r.Page = 1; ; r.Page++ {
			p, err := s.List(ctx, r)
			if err != nil {
				yield(SourceInfo{}, err)
				return
			}
			for _, x := range p.Sources {
				if !yield(x, nil) {
					return
				}
			}
			if r.Page >= p.Pages() {
				return
			}
		}
	}
}

// DeleteRequest names items to delete.
type DeleteRequest struct {
	IDs          []string // 1 to 1000
	Class        Class    // 0: knowledge, then memory
	KeepIndexing bool     // leave items alone that are still being indexed; their error is ErrProcessing
}

// DeleteItem is the fate of one id.
type DeleteItem struct {
	ID      string
	Deleted bool
	Err     error // ErrNotFound, ErrProcessing
}

// DeleteResult is what Delete returns, in input order.
type DeleteResult struct {
	Items   []DeleteItem
	Deleted int
}

// DeleteItems removes items with their chunks, vectors and graph. Deleted items are gone
// from every read when it returns. An item that is being indexed is cancelled.
func (s Sub) DeleteItems(ctx context.Context, r DeleteRequest) (*DeleteResult, error) {
	return s.svc.deleteItems(ctx, s, r)
}

// EditRequest merges metadata onto a source without ingesting it again. Given
// keys overwrite, a nil value removes the key.
type EditRequest struct {
	ID                   string
	Class                Class // 0: knowledge, then memory
	Metadata, Additional map[string]any
}

// EditResult is the outcome of an edit.
type EditResult struct {
	ID                             string
	Class                          Class
	MetadataKeys, AdditionalKeys   []string // written or removed
	Metadata, Additional           map[string]any
	Chunks                         int  // chunks that carry the metadata
	Updated, Reembedded, Reindexed bool // Reembedded: an embedding field changed
}

// EditMetadata changes the metadata of a source in one transaction; filters see
// it at once.
func (s Sub) EditMetadata(ctx context.Context, r EditRequest) (*EditResult, error) {
	return s.svc.editMetadata(ctx, s, r)
}

// Relations lists the relations of a source or sub-tenant, with evidence.
func (s Sub) Relations(ctx context.Context, r RelationsRequest) (*RelationsPage, error) {
	return s.svc.relations(ctx, s, r)
}

// Subgraph walks from a source along its links.
func (s Sub) Subgraph(ctx context.Context, r SubgraphRequest) (*Subgraph, error) {
	return s.svc.subgraph(ctx, s, r)
}

// ReadAll reads the whole of a fetched original, as an io.Reader.
func (f *Fetched) Reader() io.Reader { return f.reader() }
