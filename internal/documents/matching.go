package documents

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/metadata"
	"github.com/contextmem/contextmem/internal/workspace"
)

const (
	// deleteWhole is the number of items from which on a deletion takes several transactions, and is recorded first. Other writes of the tenant wait for
	// each transaction.
	deleteWhole = 5000
	// deleteBatch is the number of items that a large deletion deletes in one transaction.
	deleteBatch = 500
)

// DeleteMatching deletes all items that match a filter and a session, and returns their number. If some are damaged, it deletes the others
// and returns an error.
func (e *Engine) DeleteMatching(ctx context.Context, ref *workspace.Ref, sub string, r content.Matching) (int, error) {
	const op = "delete"
	r.Class = cmp.Or(r.Class, content.ClassMemory)
	filters := len(r.Filters.Metadata) > 0 || len(r.Filters.Additional) > 0
	switch {
	case r.Class != content.ClassKnowledge && r.Class != content.ClassMemory:
		return 0, workspace.ClassError(op, r.Class)
	case !filters && r.Session == "":
		return 0, fault.Fieldf(op, fault.KindInvalid, "", "Filters", "is required, or a session")
	}
	r.Filters.Strict = true // an ignored condition would delete items that the caller did not name
	filter, _, err := metadata.Filter(op, ref.Record.Data.Schema, r.Filters, true)
	if err != nil {
		return 0, err
	}
	part := backend.Partition{Class: backend.Class(r.Class), Sub: sub}
	d := deletion{st: ref.Store, part: part, condition: backend.Condition{Filter: filter, Session: r.Session}}
	srcs, more, err := d.find(ctx, deleteWhole)
	switch {
	case err == nil && more:
		d.gone, d.damage, err = e.deleteLarge(ctx, ref, large{Class: part.Class, Sub: sub, Filter: filter, Session: r.Session})
	case err == nil:
		err = d.remove(ctx, srcs)
	}
	if d.gone > 0 {
		ref.StateChanged()
		e.Deleted(ref.UID)
		if err := ref.Follower.Sync(ctx); err != nil && ctx.Err() == nil {
			e.Logger.Warn("indexes could not follow a delete; the next search tries again", "err", err)
		}
	}
	if err == nil && d.damage != nil {
		err = d.damage
	}
	return d.gone, fault.Wrap(op, fault.Source, "", err)
}

// deletion is a deletion of the items of a partition that meet a condition.
type deletion struct {
	st        backend.Store
	part      backend.Partition
	condition backend.Condition
	at        backend.SessionQuery // where the next page of a session begins
	after     *backend.ListPlace   // where the next page of a list begins
	gone      int                  // items deleted
	damage    *backend.DamageError // of rows that no page has, since they do not say what they match
}

// find returns the next of at most limit items of which it reads the rows, and reports whether there may be more.
func (d *deletion) find(ctx context.Context, limit int) (srcs []*backend.Source, more bool, err error) {
	q := &d.at
	if q.Part, q.Session, q.Limit, q.Now = d.part, d.condition.Session, limit, time.Now(); q.Session == "" {
		srcs, _, err = d.st.List(ctx, backend.ListQuery{Part: d.part, Filter: d.condition.Filter, Limit: limit, Now: q.Now, After: d.after})
	} else {
		srcs, err = d.st.SessionSources(ctx, *q)
	}
	read := len(srcs)
	if errors.As(err, &d.damage) {
		read += d.damage.Rows
	} else if err != nil {
		return nil, false, err
	}
	if len(srcs) > 0 {
		last := srcs[len(srcs)-1]
		q.AfterTime, q.AfterNum = last.Time, last.Num
		d.after = &backend.ListPlace{Updated: last.UpdatedAt, ID: last.ID}
	}
	more = read >= limit && len(srcs) > 0
	return slices.DeleteFunc(srcs, func(src *backend.Source) bool { return !d.condition.Meets(src) }), more, nil
}

// remove deletes items in one transaction, except those that have changed since they were read and do not meet the condition any more.
func (d *deletion) remove(ctx context.Context, srcs []*backend.Source) error {
	if len(srcs) == 0 {
		return nil
	}
	ids, expect := make([]string, len(srcs)), make([]backend.Version, len(srcs))
	for i, src := range srcs {
		ids[i], expect[i] = src.ID, src.Version()
	}
	res, err := d.st.Delete(ctx, d.part, ids, backend.DeleteOptions{Expect: expect, Still: &d.condition})
	for _, r := range res {
		if r.Found && !r.Conflict {
			d.gone++
		}
	}
	return err
}
