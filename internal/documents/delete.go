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

// Delete deletes items of a sub-tenant, given by its stored name.
func (e *Engine) Delete(ctx context.Context, op string, ref *workspace.Ref, sub string, r content.DeleteItemsRequest) (*content.DeleteItemsResult, error) {
	if len(r.IDs) == 0 {
		return nil, fault.Fieldf(op, fault.KindUnprocessed, "", "IDs", "needs at least one id")
	}
	if len(r.IDs) > 1000 {
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "IDs", "%d ids are over the limit of 1000", len(r.IDs))
	}
	cs, err := workspace.Classes(op, r.Class)
	if err != nil {
		return nil, err
	}
	out := &content.DeleteItemsResult{Items: make([]content.DeleteItem, len(r.IDs))}
	for i, id := range r.IDs {
		out.Items[i] = content.DeleteItem{ID: id, Err: workspace.SourceError(op, r.Class, id, backend.ErrNotFound)}
	}
	var all []backend.Deletion
	for _, class := range cs {
		all = append(all, backend.Deletion{Part: backend.Partition{Class: class, Sub: sub}, IDs: r.IDs, DeleteOptions: backend.DeleteOptions{KeepIndexing: r.KeepIndexing}})
	}
	res, err := backend.DeleteJointly(ctx, ref.Store, all) // what was deleted before an error is told below
	for _, class := range res {
		for i, d := range class.Items {
			it := &out.Items[i]
			switch {
			case !d.Found || it.Deleted:
			case d.Indexing && r.KeepIndexing:
				it.Err = &fault.Error{Op: op, Kind: fault.KindProcessing, Resource: fault.Source, ID: fault.ShortID(it.ID), RetryAfter: time.Second, Err: errors.New("source is still being indexed")}
			default:
				it.Deleted, it.Err = true, nil
				out.Deleted++
			}
		}
	}
	if out.Deleted > 0 {
		ref.AddUnflushed(out.Deleted)
		ref.StateChanged()
		e.Deleted(ref.UID)
		if err := ref.Follower.Sync(ctx); err != nil && ctx.Err() == nil {
			e.Logger.Warn("indexes could not follow a delete; the next search tries again", "err", err)
		}
	}
	if err != nil {
		return nil, fault.Wrap(op, fault.Source, "", err)
	}
	return out, nil
}

// DeleteSub deletes all items of a sub-tenant, given by its stored name. It returns fault.ErrNotFound if there are none.
func (e *Engine) DeleteSub(ctx context.Context, op string, ref *workspace.Ref, sub string) error {
	total, err := e.Empty(ctx, ref, sub)
	if err != nil {
		return fault.Wrap(op, fault.Sub, sub, err)
	}
	if total == 0 {
		return &fault.Error{Op: op, Kind: fault.KindNotFound, Resource: fault.Sub, ID: fault.ShortID(sub), Err: errors.New("sub-tenant not found")}
	}
	ref.AddUnflushed(total)
	ref.StateChanged()
	e.Deleted(ref.UID)
	return nil
}

// Empty deletes all items of a sub-tenant, and returns their number, also with an error. The caller tells others of it.
func (e *Engine) Empty(ctx context.Context, ref *workspace.Ref, sub string) (total int, err error) {
	total, err = e.deleteLargeSub(ctx, ref, sub)
	for n := 1; err == nil && n > 0; total += n {
		n, err = ref.Store.DeleteSub(ctx, sub, deleteWhole)
	}
	return total, err
}

// deleteLargeSub deletes what a sub-tenant has now if that takes several transactions, and returns the number of items.
func (e *Engine) deleteLargeSub(ctx context.Context, ref *workspace.Ref, sub string) (int, error) {
	l, items := large{Sub: sub}, 0
	for _, part := range l.parts() {
		_, n, err := ref.Store.List(ctx, backend.ListQuery{Part: part, Now: time.Now()})
		if err != nil {
			return 0, err
		}
		items += n
	}
	if items < deleteWhole {
		return 0, nil
	}
	gone, _, err := e.deleteLarge(ctx, ref, l) // what is damaged goes with the sub-tenant
	return gone, err
}
