package contextmem

import (
	"context"
	"errors"
	"strings"

	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/fault"
)

// Memories is the interface to one partition of a tenant, independent of where the deployment runs: in the same process
// ([Sub], [Tenant]), in another process on the same machine (package shared), or behind REST (package client). A request field
// that REST does not support is refused with ErrInvalid, never ignored. Implementations are safe for concurrent use.
type Memories interface {
	// AddMemories accepts memories; see [Sub.AddMemories].
	AddMemories(ctx context.Context, b MemoryBatch) (*IngestResult, error)
	// AddKnowledge accepts files and app items; see [Sub.AddKnowledge].
	AddKnowledge(ctx context.Context, b KnowledgeBatch) (*IngestResult, error)
	// Recall searches; see [Sub.Recall].
	Recall(ctx context.Context, q Recall) (*Result, error)
	// List returns a page of items; see [Sub.List].
	List(ctx context.Context, r ListRequest) (*SourcePage, error)
	// Fetch returns the original of an item; see [Sub.Fetch].
	Fetch(ctx context.Context, r FetchRequest) (*Fetched, error)
	// Status returns the states of items by id; see [Sub.Status].
	Status(ctx context.Context, ids ...string) ([]ItemStatus, error)
	// Wait waits until items have a final state; see [Sub.Wait].
	Wait(ctx context.Context, ids ...string) ([]ItemStatus, error)
	// Retry processes an errored item again; see [Sub.Retry].
	Retry(ctx context.Context, class Class, id string) error
	// History returns the versions of an item; see [Sub.History].
	History(ctx context.Context, r content.HistoryRequest) (*content.History, error)
	// RestoreVersion stores an earlier version of an item as a new one; see [Sub.RestoreVersion].
	RestoreVersion(ctx context.Context, r content.RestoreVersionRequest) (*IngestItem, error)
	// DeleteItems removes items; see [Sub.DeleteItems].
	DeleteItems(ctx context.Context, r DeleteItemsRequest) (*DeleteItemsResult, error)
	// Facts returns a page of facts; see [Sub.Facts].
	Facts(ctx context.Context, r facts.Request) (*facts.Page, error)
	// Profile returns the current facts about a subject; see [Sub.Profile].
	Profile(ctx context.Context, r facts.ProfileRequest) (*facts.Profile, error)
}

var (
	_ Memories = Sub{}
	_ Memories = Tenant{}
)

// Settled waits until the accepted items of res, the result of an addition to m, can be recalled. The returned error joins the errors of the
// items that were not accepted with those of the items whose processing failed: id, name of the file, code and message.
func Settled(ctx context.Context, m Memories, res *IngestResult) error {
	if res == nil {
		return nil
	}
	errs, files := []error(nil), map[string]string{}
	for _, it := range res.Items {
		errs, files[it.ID] = append(errs, it.Err), fault.ShortID(it.Filename)
	}
	ids := res.IDs()
	if len(ids) == 0 {
		return errors.Join(errs...)
	}
	st, err := m.Wait(ctx, ids...)
	for _, s := range st {
		if s.Status == StatusErrored {
			errs = append(errs, &fault.Error{Op: "settled", Kind: fault.KindUnprocessed, Resource: fault.Source, ID: fault.ShortID(s.ID), Err: errors.New(strings.TrimPrefix(files[s.ID]+": ", ": ") + s.ErrorCode + " " + s.ErrorMessage)})
		}
	}
	return errors.Join(append(errs, err)...)
}
