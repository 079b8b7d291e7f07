package documents

import (
	"context"
	"errors"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/workspace"
)

// Delete names items to delete.
type Delete struct {
	IDs          []string      // 1 to 1000
	Class        content.Class // 0: knowledge, then memory
	KeepIndexing bool          // leave items alone that are still being indexed; their error is fault.ErrProcessing
}

// DeletedItem is the fate of one id.
type DeletedItem struct {
	ID      string
	Deleted bool
	Err     error // fault.ErrNotFound, fault.ErrProcessing
}

// Delete removes items of a sub-tenant, named as it is stored, and returns their fates in input order and how many are gone.
func (e *Engine) Delete(ctx context.Context, op string, ref *workspace.Ref, sub string, r Delete) ([]DeletedItem, int, error) {
	if len(r.IDs) == 0 {
		return nil, 0, fault.Fieldf(op, fault.KindUnprocessed, "", "IDs", "needs at least one id")
	}
	if len(r.IDs) > 1000 {
		return nil, 0, fault.Fieldf(op, fault.KindInvalid, "", "IDs", "%d ids are over the limit of 1000", len(r.IDs))
	}
	cs, err := workspace.Classes(op, r.Class)
	if err != nil {
		return nil, 0, err
	}
	out, deleted := make([]DeletedItem, len(r.IDs)), 0
	for i, id := range r.IDs {
		out[i] = DeletedItem{ID: id, Err: workspace.SourceError(op, r.Class, id, backend.ErrNotFound)}
	}
	for _, class := range cs {
		res, err := ref.Store.Delete(ctx, backend.Partition{Class: class, Sub: sub}, r.IDs, backend.DeleteOptions{KeepIndexing: r.KeepIndexing})
		if err != nil {
			return nil, 0, fault.Wrap(op, fault.Source, "", err)
		}
		for i, d := range res {
			it := &out[i]
			switch {
			case !d.Found || it.Deleted:
			case d.Indexing && r.KeepIndexing:
				it.Err = &fault.Error{Op: op, Kind: fault.KindProcessing, Resource: fault.Source, ID: fault.ShortID(it.ID), RetryAfter: time.Second, Err: errors.New("source is still being indexed")}
			default:
				it.Deleted, it.Err = true, nil
				deleted++
			}
		}
	}
	if deleted > 0 {
		ref.Unflushed.Add(int64(deleted))
		ref.StateChanged()
		e.Deleted(ref.UID)
		if err := ref.Follower.Sync(ctx); err != nil && ctx.Err() == nil {
			e.Logger.Warn("indexes could not follow a delete; the next search tries again", "err", err)
		}
	}
	return out, deleted, nil
}

// DeleteSub removes everything of a sub-tenant, named as it is stored; fault.ErrNotFound when it holds nothing.
func (e *Engine) DeleteSub(ctx context.Context, op string, ref *workspace.Ref, sub string) error {
	for total := 0; ; {
		n, err := ref.Store.DeleteSub(ctx, sub, 5000)
		if err != nil {
			return fault.Wrap(op, fault.Sub, sub, err)
		}
		if n > 0 {
			total += n
			continue
		}
		if total == 0 {
			return &fault.Error{Op: op, Kind: fault.KindNotFound, Resource: fault.Sub, ID: fault.ShortID(sub), Err: errors.New("collection not found")}
		}
		ref.Unflushed.Add(int64(total))
		ref.StateChanged()
		e.Deleted(ref.UID)
		return nil
	}
}
