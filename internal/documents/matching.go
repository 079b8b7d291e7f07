package documents

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/cas"
	"github.com/contextmem/contextmem/internal/metadata"
	"github.com/contextmem/contextmem/internal/workspace"
)

// deleteBatch is the number of items that DeleteMatching deletes in one transaction.
const deleteBatch = 500

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
	part, total := backend.Partition{Class: backend.Class(r.Class), Sub: sub}, 0
	var damage *backend.DamageError
	q := backend.SessionQuery{Part: part, Session: r.Session, Limit: deleteBatch}
	for {
		var srcs []*backend.Source
		if q.Now = time.Now(); r.Session != "" {
			srcs, err = ref.Store.SessionSources(ctx, q)
		} else {
			srcs, _, err = ref.Store.List(ctx, backend.ListQuery{Part: part, Filter: filter, Limit: deleteBatch, Now: q.Now})
		}
		read := len(srcs)
		if errors.As(err, &damage) {
			read += damage.Rows
		} else if err != nil {
			return total, fault.Wrap(op, fault.Source, "", err)
		}
		for _, src := range srcs {
			q.AfterTime, q.AfterNum = src.Time, src.Num
		}
		gone, err := deleteMatches(ctx, ref.Store, part, srcs, func(src *backend.Source) bool {
			return (r.Session == "" || src.Session == r.Session) && filter.Matches(src.Tags)
		})
		if total += gone; gone > 0 {
			ref.StateChanged()
			e.Deleted(ref.UID)
		}
		if err != nil {
			return total, fault.Wrap(op, fault.Source, "", err)
		}
		if read < deleteBatch || len(srcs) == 0 || r.Session == "" && gone == 0 {
			break
		}
	}
	if total > 0 {
		if err := ref.Follower.Sync(ctx); err != nil && ctx.Err() == nil {
			e.Logger.Warn("indexes could not follow a delete; the next search tries again", "err", err)
		}
	}
	if damage != nil {
		return total, fault.Wrap(op, fault.Source, "", damage)
	}
	return total, nil
}

// deleteMatches deletes those of the items that match, and returns their number. An item that changes after it was read, as each does
// that is being indexed, is read again and deleted if it still matches.
func deleteMatches(ctx context.Context, st backend.Store, part backend.Partition, srcs []*backend.Source, matches func(*backend.Source) bool) (gone int, err error) {
	err = cas.Retry(ctx, func() error {
		var ids []string
		var expect []backend.Version
		for _, src := range srcs {
			if src != nil && matches(src) {
				ids, expect = append(ids, src.ID), append(expect, src.Version())
			}
		}
		if len(ids) == 0 {
			return nil
		}
		res, err := st.Delete(ctx, part, ids, backend.DeleteOptions{Expect: expect})
		if err != nil {
			return err
		}
		var again []string
		for i, d := range res {
			switch {
			case d.Conflict:
				again = append(again, ids[i])
			case d.Found:
				gone++
			}
		}
		if len(again) == 0 {
			return nil
		}
		if srcs, err = st.Sources(ctx, part, again); backend.Undamaged(err) != nil {
			return err
		}
		return backend.ErrConflict
	})
	return gone, err
}
