package contextmem

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/documents"
	"github.com/contextmem/contextmem/internal/intake"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/metadata"
	"github.com/contextmem/contextmem/internal/workspace"
)

// FetchMode says what Fetch returns.
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
	Partial     string          // why the extracted text may be incomplete; empty: it is whole
	Usage       *ModelUsage     // nil when the extractor asked no model
	Warnings    []fault.Warning // as in ItemStatus
}

// ModelUsage is what a model cost that read an item, see Options.Extractor.
type ModelUsage struct {
	Model                          string
	PromptTokens, CompletionTokens int    // as the endpoint reported them; of a shared request the item's share
	Calls                          int    // requests, retries included
	Fallback                       string // why the rules answered instead, one word such as "timeout"; empty: the model did
}

// Fetch returns the original of a source. fault.ErrNotFound when it is not in this scope.
func (s scope) Fetch(ctx context.Context, r FetchRequest) (*Fetched, error) {
	const op = "fetch"
	return entered(ctx, s, op, func(ref *workspace.Ref, name string) (*Fetched, error) {
		f, err := s.svc.documents.Fetch(ctx, op, ref, name, documents.Fetch{ID: r.ID, Class: r.Class, Mode: string(r.Mode), Expiry: r.Expiry, Original: r.Original, ParsedText: r.ParsedText, Principals: r.Principals})
		if err != nil {
			return nil, err
		}
		return fetched(f), nil
	})
}

func fetched(f *documents.Fetched) *Fetched {
	src := f.Source
	out := &Fetched{ID: src.ID, Class: Class(src.Part.Class), Text: f.Text, Data: f.Data, Binary: f.Binary, Inferred: f.Inferred, URL: f.URL,
		ContentType: f.ContentType, SizeBytes: src.SizeBytes, Filename: src.Filename, Title: src.Title, Status: statusOf[src.State], Partial: f.Partial, Warnings: f.Warnings}
	if f.Usage != nil {
		u := ModelUsage(*f.Usage)
		out.Usage = &u
	}
	return out
}

// OpenPresigned serves a presigned URL's path and query values: it returns the
// original when token is genuine and not expired, else fault.ErrForbidden or fault.ErrNotFound.
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
	Total          int
	Page, PageSize int
	Warnings       []fault.Warning
}

// Pages returns the number of pages.
func (p *SourcePage) Pages() int { return (p.Total + p.PageSize - 1) / p.PageSize }

// List returns a page of items.
func (s scope) List(ctx context.Context, r ListRequest) (*SourcePage, error) {
	const op = "list"
	p, err := entered(ctx, s, op, func(ref *workspace.Ref, name string) (*documents.Page, error) {
		return s.svc.documents.List(ctx, op, ref, name, documents.List{Class: r.Class, IDs: r.IDs, Page: r.Page, PageSize: r.PageSize,
			Filters: r.Filters, Fields: documents.Fields(r.Fields), Content: r.Content, Principals: r.Principals})
	})
	if err != nil {
		return nil, err
	}
	out := &SourcePage{Sources: make([]SourceInfo, 0, len(p.Sources)), Total: p.Total, Page: p.Page, PageSize: p.PageSize, Warnings: p.Warnings}
	for _, l := range p.Sources {
		i, err := sourceInfo(l.Source)
		if err != nil {
			return nil, fault.Wrap(op, fault.Source, l.ID, err)
		}
		if l.Content != nil {
			i.Content, i.Inferred = l.Content.Text, l.Content.Inferred
			if i.Title == "" {
				i.Title = item.ShortTitle(l.Content.Text)
			}
		}
		out.Sources = append(out.Sources, i)
	}
	return out, nil
}

// Sources yields all items that fit r, page by page; r.Page is ignored.
func (s scope) Sources(ctx context.Context, r ListRequest) iter.Seq2[SourceInfo, error] {
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

// DeleteItemsRequest names items to delete.
type DeleteItemsRequest struct {
	IDs          []string // 1 to 1000
	Class        Class    // 0: knowledge, then memory
	KeepIndexing bool     // leave items alone that are still being indexed; their error is fault.ErrProcessing
}

// DeleteItem is the fate of one id.
type DeleteItem struct {
	ID      string
	Deleted bool
	Err     error // fault.ErrNotFound, fault.ErrProcessing
}

// DeleteItemsResult is what DeleteItems returns, in input order.
type DeleteItemsResult struct {
	Items   []DeleteItem
	Deleted int
}

// DeleteItems removes items with their chunks, vectors and graph. Deleted items are gone
// from every read when it returns. An item that is being indexed is cancelled.
func (s scope) DeleteItems(ctx context.Context, r DeleteItemsRequest) (*DeleteItemsResult, error) {
	const op = "delete"
	return entered(ctx, s, op, func(ref *workspace.Ref, name string) (*DeleteItemsResult, error) {
		items, deleted, err := s.svc.documents.Delete(ctx, op, ref, name, documents.Delete(r))
		if err != nil {
			return nil, err
		}
		out := &DeleteItemsResult{Items: make([]DeleteItem, len(items)), Deleted: deleted}
		for i, it := range items {
			out.Items[i] = DeleteItem(it)
		}
		return out, nil
	})
}

// EditMetadataRequest merges metadata onto a source without ingesting it again. Given
// keys overwrite, a nil value removes the key. At least one of Metadata, Additional and
// ACL has to be there.
type EditMetadataRequest struct {
	ID                   string
	Class                Class // 0: knowledge, then memory
	Metadata, Additional map[string]any
	ACL                  *[]string // principals that may see it, in place of those before, at most 1000; an empty list: everybody; nil: no change
}

// EditMetadataResult is the outcome of an edit.
type EditMetadataResult struct {
	ID                             string
	Class                          Class
	MetadataKeys, AdditionalKeys   []string // written or removed
	Metadata, Additional           map[string]any
	Chunks                         int  // chunks that carry the metadata
	Updated, Reembedded, Reindexed bool // Updated: something changed; Reembedded: an embedding field did
}

// EditMetadata changes the metadata of a source and who may see it in one transaction;
// filters see it at once.
func (s scope) EditMetadata(ctx context.Context, r EditMetadataRequest) (*EditMetadataResult, error) {
	const op = "edit metadata"
	e, err := entered(ctx, s, op, func(ref *workspace.Ref, name string) (*intake.Edited, error) {
		return s.svc.intake.Edit(ctx, op, ref, name, intake.Edit(r))
	})
	if err != nil {
		return nil, err
	}
	return &EditMetadataResult{ID: e.ID, Class: e.Class, MetadataKeys: e.MetadataKeys, AdditionalKeys: e.AdditionalKeys, Metadata: e.Metadata, Additional: e.Additional,
		Chunks: e.Chunks, Updated: e.Updated, Reembedded: e.Reembedded}, nil
}

// Reader returns a reader of Data when Binary is set, of Text otherwise.
func (f *Fetched) Reader() io.Reader {
	if f.Binary {
		return bytes.NewReader(f.Data)
	}
	return strings.NewReader(f.Text)
}

// sourceInfo describes a source.
func sourceInfo(src *backend.Source) (SourceInfo, error) {
	doc, err := item.Decode(src.Doc)
	if err != nil {
		return SourceInfo{}, err
	}
	var i SourceInfo
	err = i.describe(src, doc)
	return i, err
}

// describe sets i to what a source, whose record was decoded, says.
func (i *SourceInfo) describe(src *backend.Source, doc *item.Doc) error {
	var err error
	*i = SourceInfo{ID: src.ID, Sub: src.Part.Sub, Class: Class(src.Part.Class), Title: src.Title, Kind: src.Kind, Description: doc.Description, Note: doc.Note,
		URL: doc.URL, Timestamp: src.Time, CreatedAt: src.CreatedAt, UpdatedAt: src.UpdatedAt, ExpiresAt: src.ExpiresAt, Filename: src.Filename,
		ContentType: src.MediaType, SizeBytes: src.SizeBytes, Status: statusOf[src.State], Infer: src.Infer, Partial: doc.Partial}
	if i.Metadata, err = metadata.DecodeMap(src.Metadata); err != nil {
		return err
	}
	if i.Additional, err = metadata.DecodeMap(src.Additional); err != nil {
		return err
	}
	if r := doc.Linked(); r != nil {
		i.Relations = r.Public()
	}
	if a := doc.App; a != nil {
		i.App = &AppInfo{Kind: content.AppKind(a.Kind), Provider: a.Provider, ExternalID: a.ExternalID, ParentID: a.ParentID, ThreadID: a.ThreadID}
		if len(a.Attachments) > 0 {
			if err := json.Unmarshal(a.Attachments, &i.App.Attachments); err != nil {
				return fmt.Errorf("attachments of a source: %w", backend.ErrCorrupt)
			}
		}
	}
	return nil
}
