package sqlite

import (
	"context"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

func (s *store) Finish(ctx context.Context, items []backend.Finished) ([]bool, error) {
	ok, _, err := s.FinishAndReport(ctx, items)
	return ok, err
}

// FinishAndReport implements [backend.FinishReporter].
func (s *store) FinishAndReport(ctx context.Context, items []backend.Finished) (ok []bool, placed *backend.Placement, err error) {
	ahead := keysAhead{items: items}
	ok, err = changeHeld(ctx, s, "finish", items, func(x *backend.Finished) (int64, string, []backend.Blob) { return x.Num, x.Token, x.Blobs },
		func(t *tx, v *head, f *backend.Finished) error {
			if placed == nil {
				placed = &backend.Placement{After: uint64(t.led.Seq) << storerules.SeqShift}
			}
			if err := ahead.load(t, v, f); err != nil {
				return err
			}
			if err := t.Finish(v, f); err != nil {
				return err
			}
			if t.texts.drop(v.Num); v.SeqGraph != t.led.Seq {
				return nil
			}
			part, err := t.partName(v.Part)
			placed.Changes = append(placed.Changes, backend.Change{Seq: uint64(v.SeqGraph) << storerules.SeqShift, Kind: backend.PutGraph, Part: part,
				Source: v.Num, SourceID: v.ID, Title: v.Title, Time: v.Time, Session: v.Session, Mentions: t.Mentioned})
			return err
		}, func(t *tx) error {
			// Merges of this call may concern the changes to return.
			if err := t.flush(); err != nil {
				return err
			}
			if err := t.Settle(); err != nil || placed == nil {
				return err
			}
			if added := uint64(len(placed.Changes)) + uint64(t.Reput); t.Unfolded || placed.After+added<<storerules.SeqShift != uint64(t.led.Seq)<<storerules.SeqShift {
				placed = nil
				return nil
			}
			placed.Changes = append(placed.Changes, t.Folded...)
			return nil
		})
	if err != nil {
		return nil, nil, err
	}
	return ok, placed, nil
}

// keysAhead looks up the entities of several small graphs together.
type keysAhead struct {
	items  []backend.Finished
	at     int // index of the current item
	loaded int // number of items whose keys were looked up, or are not to be
}

// keysOfGraphs is the most keys that are looked up for several graphs. Those of a larger graph are looked up for it alone.
const keysOfGraphs = 1024

// load looks up the keys of the items from f on, whose version is v, unless it has done so. It ends at an item of another partition.
func (a *keysAhead) load(t *tx, v *head, f *backend.Finished) error {
	for a.items[a.at].Num != f.Num { // items whose claims were lost
		a.at++
	}
	if a.at < a.loaded {
		return nil
	}
	var keys []string
	at := a.at
	for ; at < len(a.items); at++ {
		x := &a.items[at]
		if len(keys)+len(x.Mentions)+2*len(x.Relations) > keysOfGraphs || x.Num != v.Num && t.aheadIn(x.Num) != v.Part {
			break
		}
		for i := range x.Mentions {
			keys = append(keys, x.Mentions[i].Key)
		}
		for i := range x.Relations {
			keys = append(keys, storerules.Ends(x.Relations[i].FromKey, x.Relations[i].ToKey)...)
		}
	}
	a.loaded = at
	return rows{t}.LoadEntities(v.Part, len(keys), func(i int) string { return keys[i] })
}

func (s *store) Events(ctx context.Context, limit int) (out []backend.Event, err error) {
	err = s.readSettled(ctx, func(c *conn) error {
		return c.each(ctx, `SELECT seq, class, sub, item, source, status, error_code, error_message, at, epoch
			FROM events ORDER BY seq LIMIT ?`, func(r *row) error {
			out = append(out, backend.Event{
				Seq: r.int(0), Part: backend.Partition{Class: backend.Class(r.int(1)), Sub: r.str(2)}, ItemID: r.str(3),
				Source: r.int(4), Status: backend.State(r.int(5)), ErrorCode: r.str(6), ErrorMessage: r.str(7), At: r.time(8),
				Epoch: uint64(r.int(9)),
			})
			return nil
		}, max(limit, 0))
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (s *store) Acknowledge(ctx context.Context, seq int64) error {
	return s.change(ctx, func(t *tx) error { return t.c.do("DELETE FROM events WHERE seq <= ?", seq) })
}
