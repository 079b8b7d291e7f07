package contextmem

import (
	"context"
	"iter"

	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/internal/documents"
	"github.com/contextmem/contextmem/internal/intake"
	"github.com/contextmem/contextmem/internal/paging"
	"github.com/contextmem/contextmem/internal/workspace"
)

// Types for reading and changing items. They are declared in package content.
type (
	// SourceInfo describes an item: content.SourceInfo.
	SourceInfo = content.SourceInfo
	// AppInfo describes the place of an app item in its application: content.AppInfo.
	AppInfo = content.AppInfo
	// ListRequest asks for a page of items: content.ListRequest.
	ListRequest = content.ListRequest
	// SourceFilter matches fields of items by equality: content.SourceFilter.
	SourceFilter = content.SourceFilter
	// SourcePage is a page of items: content.SourcePage.
	SourcePage = content.SourcePage
	// FetchMode says what Fetch returns: content.FetchMode.
	FetchMode = content.FetchMode
	// FetchRequest asks for the original of an item: content.FetchRequest.
	FetchRequest = content.FetchRequest
	// Fetched is the original of an item: content.Fetched.
	Fetched = content.Fetched
	// ModelUsage is the usage of a model for reading an item: content.ModelUsage.
	ModelUsage = content.ModelUsage
	// DeleteItemsRequest names items to delete: content.DeleteItemsRequest.
	DeleteItemsRequest = content.DeleteItemsRequest
	// DeleteItem is the outcome for one id: content.DeleteItem.
	DeleteItem = content.DeleteItem
	// DeleteItemsResult is the result of DeleteItems: content.DeleteItemsResult.
	DeleteItemsResult = content.DeleteItemsResult
	// EditMetadataRequest merges metadata onto an item: content.EditMetadataRequest.
	EditMetadataRequest = content.EditMetadataRequest
	// EditMetadataResult is the outcome of an edit: content.EditMetadataResult.
	EditMetadataResult = content.EditMetadataResult
)

// Modes of Fetch: it returns the content, a presigned URL, or both.
const (
	FetchContent = content.FetchContent
	FetchURL     = content.FetchURL
	FetchBoth    = content.FetchBoth
)

// Fetch returns the original of a source. It returns fault.ErrNotFound if the source is not in this scope.
func (s scope) Fetch(ctx context.Context, r FetchRequest) (*Fetched, error) {
	const op = "fetch"
	return entered(ctx, s, op, func(ref *workspace.Ref, name string) (*Fetched, error) {
		return s.svc().documents.Fetch(ctx, op, ref, name, r)
	})
}

// Inspect returns the stored versions and chunks of an item. It returns fault.ErrNotFound if the item is not in this scope.
func (s scope) Inspect(ctx context.Context, r content.InspectRequest) (*content.Inspection, error) {
	const op = "inspect"
	return entered(ctx, s, op, func(ref *workspace.Ref, name string) (*content.Inspection, error) {
		return s.svc().documents.Inspect(ctx, op, ref, name, r)
	})
}

// History returns the versions of an item, newest first, with their contents and the changes between them. There are up to
// Options.Versions earlier versions, of at most 256 KiB together. It returns fault.ErrNotFound if the item is not in this scope.
func (s scope) History(ctx context.Context, r content.HistoryRequest) (*content.History, error) {
	return entered(ctx, s, "history", func(ref *workspace.Ref, name string) (*content.History, error) {
		return documents.History(ctx, ref.Space, name, r)
	})
}

// RestoreVersion stores the content of an earlier version of an item as a new version. Metadata, access list and expiry do not
// change. It returns when the new version is durable. It returns fault.ErrNotFound if there is no such version, and
// fault.ErrConflict if the content of the version was too large to be kept.
func (s scope) RestoreVersion(ctx context.Context, r content.RestoreVersionRequest) (*IngestItem, error) {
	return entered(ctx, s, "restore version", func(ref *workspace.Ref, name string) (*IngestItem, error) {
		it, err := s.svc().intake.RestoreVersion(ctx, ref, name, r)
		if err != nil {
			return nil, err
		}
		return &s.ingested([]intake.Item{it}, nil).Items[0], nil
	})
}

// List returns a page of items.
func (s scope) List(ctx context.Context, r ListRequest) (*SourcePage, error) {
	const op = "list"
	return entered(ctx, s, op, func(ref *workspace.Ref, name string) (*SourcePage, error) {
		return s.svc().documents.List(ctx, op, ref, name, r)
	})
}

// Sources yields all items that match r and come after r.After. It reads them page by page and ignores r.Page and r.Before.
func (s scope) Sources(ctx context.Context, r ListRequest) iter.Seq2[SourceInfo, error] {
	if r.Page, r.Before = 0, ""; r.PageSize == 0 {
		r.PageSize = 100
	}
	return paging.All(r.After, func(after string) ([]SourceInfo, string, error) {
		r.After = after
		p, err := s.List(ctx, r)
		if err != nil {
			return nil, "", err
		}
		return p.Sources, p.Next, nil
	})
}

// DeleteItems removes items with their chunks, vectors and graph. When it returns, no read finds the deleted
// items. Processing of an item that is being indexed is cancelled.
func (s scope) DeleteItems(ctx context.Context, r DeleteItemsRequest) (*DeleteItemsResult, error) {
	const op = "delete"
	return entered(ctx, s, op, func(ref *workspace.Ref, name string) (*DeleteItemsResult, error) {
		return s.svc().documents.Delete(ctx, op, ref, name, r)
	})
}

// EditMetadata changes the metadata and the access list of a source in one transaction.
// Filters use the new values at once.
func (s scope) EditMetadata(ctx context.Context, r EditMetadataRequest) (*EditMetadataResult, error) {
	const op = "edit metadata"
	return entered(ctx, s, op, func(ref *workspace.Ref, name string) (*EditMetadataResult, error) {
		return s.svc().intake.Edit(ctx, op, ref, name, r)
	})
}
