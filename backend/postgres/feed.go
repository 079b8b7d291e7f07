package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// ChangesAfter implements [backend.FeedCounter].
func (s *store) ChangesAfter(after uint64) uint64 {
	return storerules.EntriesBehind(after, s.LastSeq())
}

func (s *store) CompactFeed(ctx context.Context, seq uint64, limit int) (n int, err error) {
	err = s.change(ctx, func(t *tx) error {
		n, err = t.CompactFeed(seq, limit)
		return err
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

func (x rows) AddChange(seq int64, kind backend.ChangeKind, source int64) error {
	return x.t.c.do("INSERT INTO changes (ws, seq, kind, source) VALUES ($1, $2, $3, $4)", seq, int64(kind), source)
}

func (x rows) RemoveChange(seq int64) error {
	return x.t.c.do("DELETE FROM changes WHERE ws = $1 AND seq = $2", seq)
}

func (x rows) AddTombstone(seq int64, kind backend.ChangeKind, source, class int64, sub, id string) error {
	return x.t.c.do("INSERT INTO changes (ws, seq, kind, source, class, sub, id) VALUES ($1, $2, $3, $4, $5, $6, $7)", seq, int64(kind), source, class, sub, id)
}

func (x rows) RemoveTombstones(sub string) error {
	return x.t.c.do("DELETE FROM changes WHERE ws = $1 AND sub IS NOT NULL AND sub = $2 AND kind <> $3", sub, int64(backend.DropVectors))
}

func (x rows) RemoveLaneTombstone(lane backend.Lane) error {
	return x.t.c.do("DELETE FROM changes WHERE ws = $1 AND sub = '' AND kind = $2 AND class = $3", int64(backend.DropVectors), int64(lane))
}

func (x rows) Tombstones(until int64, limit int) (seqs []int64, err error) {
	err = x.t.c.each(bg, "SELECT seq FROM changes WHERE ws = $1 AND sub IS NOT NULL AND seq <= $2 ORDER BY seq LIMIT $3",
		func(r *row) error {
			seqs = append(seqs, r.int(0))
			return nil
		}, until, limit)
	return seqs, err
}

func (x rows) RemoveChanges(seqs []int64) error {
	return x.t.c.do("DELETE FROM changes WHERE ws = $1 AND seq = ANY($2)", seqs)
}

// wentBack returns the error for a feed that ends before the last entry known to this process. The server has lost commits, as
// after the promotion of a standby that had not received them. An index that has applied lost entries must be rebuilt. Other indexes must
// not record a position among the lost entries, because new changes get the same numbers.
func (s *store) wentBack(known, last, after uint64) error {
	s.lastSeq.CompareAndSwap(known, last)
	if after > last {
		return fmt.Errorf("the database has lost changes up to %d: %w", after, backend.ErrFeedGone)
	}
	return fmt.Errorf("the database has lost changes up to %d: %w", known, backend.ErrUnavailable)
}

func (s *store) Changes(ctx context.Context, after uint64, limit int) (out []backend.Change, err error) {
	err = s.readKeys(ctx, func(c *conn) error {
		out = nil
		known := s.lastSeq.Load()
		var l ledger
		found, err := c.one(ctx, "SELECT "+ledgerCols+" FROM ledgers WHERE ws = $1", func(r *row) error {
			l.read(r)
			return nil
		})
		if err == nil && !found {
			err = fmt.Errorf("the workspace was removed: %w", backend.ErrClosed)
		}
		if err != nil {
			return err
		}
		if last := uint64(l.Seq) << storerules.SeqShift; last < known {
			return s.wentBack(known, last, after)
		}
		if err := s.epochs.read(ctx, c, l.epoch); err != nil { // needed even if the index is up to date, since the epoch may be another process's
			return err
		}
		if after >= uint64(l.Seq)<<storerules.SeqShift {
			return nil
		}
		from, ok := storerules.EntryOf(after, l.FeedStart)
		if !ok {
			return fmt.Errorf("changes after %d: tombstones up to %d were dropped: %w", after, uint64(l.FeedStart)<<storerules.SeqShift, backend.ErrFeedGone)
		}
		entries, err := feedEntries(ctx, c, from, l.FeedStart, limit)
		if err != nil {
			return err
		}
		rs, err := newRoots(ctx, c)
		if err != nil {
			return err
		}
		out, err = storerules.ReadFeed(ctx, &feedRows{c: c, roots: rs}, entries, limit)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// feedEntries reads feed entries until limit is reached.
func feedEntries(ctx context.Context, c *conn, after, start int64, limit int) (out []storerules.FeedEntry, err error) {
	size := int64(0)
	err = c.each(ctx, `SELECT f.seq, f.kind, f.source, f.class, f.sub, f.id,
		p.class, p.sub, s.id, s.title, s.time, s.session, s.tags, s.first_chunk, s.chunks, s.lane
		FROM (SELECT * FROM changes WHERE ws = $1 AND seq > $2 ORDER BY seq LIMIT $3) f
		LEFT JOIN LATERAL (SELECT * FROM sources s WHERE s.ws = $1 AND s.num = f.source AND f.sub IS NULL OFFSET 0) s ON true
		LEFT JOIN LATERAL (SELECT * FROM parts p WHERE p.ws = $1 AND p.id = s.part OFFSET 0) p ON true ORDER BY f.seq`, func(r *row) error {
		if len(out) > 0 && size >= int64(limit) {
			return nil // the size limit is reached; skip the remaining rows
		}
		e := storerules.NewEntry(r.int(0), r.int(1), r.int(2), start)
		switch {
		case e.Kind == backend.DropVectors:
			e.Lane = backend.Lane(r.int(3))
		case !r.null(4):
			e.Part, e.SourceID = backend.Partition{Class: backend.Class(r.int(3)), Sub: r.str(4)}, r.str(5)
		case r.null(6) || !knownClass(r.int(6)) || r.null(8): // its version or the partition is missing or damaged
			e.Damaged(backend.Partition{}, false)
		default:
			e.Part = backend.Partition{Class: backend.Class(r.int(6)), Sub: r.str(7)}
			e.SourceID, e.Title, e.Time, e.Session = r.str(8), r.str(9), r.time(10), r.str(11)
			e.SetVersion(r.int(13), r.int(14), backend.Lane(r.int(15)), r.tags(12))
		}
		size += e.Size()
		out = append(out, e)
		return nil
	}, after, max(limit, 1))
	return out, err
}

// feedRows reads the content of feed entries. It leaves out damaged rows, so that all other rows stay searchable.
type feedRows struct {
	c     *conn
	roots *roots
	lost  losses
}

func (f *feedRows) Chunks(ctx context.Context, e *storerules.FeedEntry, add func(*backend.Chunk)) error {
	return eachChunk(ctx, f.c, e.First, e.Chunks, true, e.Lane, &f.lost, add)
}

func (f *feedRows) Vectors(ctx context.Context, e *storerules.FeedEntry, add func(chunk int64, ordinal int, vector []float32)) error {
	return eachVector(ctx, f.c, e.First, e.Chunks, e.Lane, &f.lost, add)
}

func (f *feedRows) Mentions(ctx context.Context, e *storerules.FeedEntry, add func(m storerules.Mention, root int64)) error {
	ms, err := readMentions(ctx, f.c, e.Source)
	if errors.Is(err, backend.ErrCorrupt) {
		f.lost.Note(err)
		return nil
	}
	if err != nil {
		return err
	}
	entities := make([]int64, len(ms))
	for i := range ms {
		entities[i] = ms[i].Entity
	}
	if err := f.roots.meet(ctx, entities); err != nil {
		return err
	}
	for _, m := range ms {
		root, err := f.roots.of(ctx, m.Entity)
		if f.lost.Skips(err) {
			continue
		}
		if err != nil {
			return err
		}
		add(m, root)
	}
	return nil
}
