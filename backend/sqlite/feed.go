package sqlite

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

var insertChanges = insertsOf("INSERT OR FAIL INTO changes (seq, kind, source)", 3)

func (x rows) AddChange(seq int64, kind backend.ChangeKind, source int64) error {
	return x.t.changeRows.add(x.t.c, seq, int64(kind), source)
}

func (x rows) RemoveChange(seq int64) error {
	if err := x.t.changeRows.flush(x.t.c); err != nil {
		return err
	}
	return x.t.c.do("DELETE FROM changes WHERE seq = ?", seq)
}

func (x rows) AddTombstone(seq int64, kind backend.ChangeKind, source, class int64, sub, id string) error {
	return x.t.c.do("INSERT INTO changes (seq, kind, source, class, sub, id) VALUES (?, ?, ?, ?, ?, ?)", seq, int64(kind), source, class, sub, id)
}

func (x rows) RemoveTombstones(sub string) error {
	return x.t.c.do("DELETE FROM changes WHERE sub = ? AND sub IS NOT NULL AND kind <> ?", sub, int64(backend.DropVectors))
}

func (x rows) RemoveLaneTombstone(lane backend.Lane) error {
	return x.t.c.do("DELETE FROM changes WHERE sub = '' AND kind = ? AND class = ?", int64(backend.DropVectors), int64(lane))
}

func (x rows) Tombstones(until int64, limit int) (seqs []int64, err error) {
	err = x.t.c.each(bg, "SELECT seq FROM changes INDEXED BY changes_gone WHERE sub IS NOT NULL AND seq <= ? ORDER BY seq LIMIT ?",
		func(r *row) error {
			seqs = append(seqs, r.int(0))
			return nil
		}, until, limit)
	return seqs, err
}

func (x rows) RemoveChanges(seqs []int64) error {
	for _, seq := range seqs {
		if err := x.RemoveChange(seq); err != nil {
			return err
		}
	}
	return nil
}

func (s *store) Changes(ctx context.Context, after uint64, limit int) (out []backend.Change, err error) {
	err = s.read(ctx, func(c *conn) error {
		l, err := readLedger(c)
		if err != nil {
			return err
		}
		start := l.FeedStart
		if after >= s.LastSeq() {
			return nil
		}
		from, ok := storerules.EntryOf(after, start)
		if !ok {
			return fmt.Errorf("changes after %d: tombstones up to %d were dropped: %w", after, uint64(start)<<storerules.SeqShift, backend.ErrFeedGone)
		}
		entries, err := feedEntries(ctx, c, from, start, l.placed, limit)
		if err != nil {
			return err
		}
		roots, err := newRoots(c)
		if err != nil {
			return err
		}
		out, err = storerules.ReadFeed(ctx, &feedRows{c: c, roots: roots}, entries, limit)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// feedEntries reads the entries of the feed that can fit into limit. For a placed version, the version itself is
// the entry of its put; files of earlier schemas may have a row for it as well.
func feedEntries(ctx context.Context, c *conn, after, start, placed int64, limit int) (out []storerules.FeedEntry, err error) {
	size := int64(0)
	err = c.each(ctx, `SELECT f.seq, f.kind, f.source, f.class, f.sub, f.id,
		p.class, p.sub, s.id, s.title, s.time, s.session, s.tags, s.first_chunk, s.chunks, s.lane
		FROM (SELECT seq, kind, source, class, sub, id FROM changes WHERE seq > ?1
			UNION SELECT num, 1, num, NULL, NULL, NULL FROM sources WHERE num > ?1 AND num <= ?2 AND seq_chunks = num
			ORDER BY seq LIMIT ?3) f
		LEFT JOIN sources s ON s.num = f.source AND f.sub IS NULL LEFT JOIN parts p ON p.id = s.part ORDER BY f.seq`, func(r *row) error {
		if len(out) > 0 && size >= int64(limit) {
			return nil // skip the remaining rows of the LIMIT
		}
		e := storerules.NewEntry(r.int(0), r.int(1), r.int(2), start)
		switch {
		case e.Kind == backend.DropVectors:
			e.Lane = backend.Lane(r.int(3))
		case !r.null(4):
			e.Part, e.SourceID = backend.Partition{Class: backend.Class(r.int(3)), Sub: r.str(4)}, r.str(5)
		default:
			readVersion(r, &e)
		}
		if errors.Is(r.err, backend.ErrCorrupt) {
			r.err = nil
			part := backend.Partition{}
			class, ok1 := r.vals[6].(int64)
			sub, ok2 := r.vals[7].(string)
			if ok1 && ok2 {
				part = backend.Partition{Class: backend.Class(class), Sub: sub}
			}
			e.Damaged(part, ok1 && ok2)
		}
		size += e.Size()
		out = append(out, e)
		return nil
	}, after, placed, max(limit, 1))
	return out, err
}

// readVersion reads the version of an entry from the columns after those of the entry.
func readVersion(r *row, e *storerules.FeedEntry) {
	var tags []uint64
	if e.Kind != backend.PutGraph {
		if tags, r.err = storerules.UnpackTags(r.blob(12)); r.err != nil {
			return
		}
	}
	e.Part = backend.Partition{Class: backend.Class(r.int(6)), Sub: r.str(7)}
	e.SourceID, e.Title, e.Time, e.Session = r.str(8), r.str(9), r.time(10), r.str(11)
	e.SetVersion(r.int(13), r.int(14), backend.Lane(r.int(15)), tags)
}

// feedRows reads the content of feed entries. It leaves out damaged rows, so that the rest stays searchable.
type feedRows struct {
	c     *conn
	roots *roots
	lost  losses
}

func (f *feedRows) Chunks(_ context.Context, e *storerules.FeedEntry, add func(*backend.Chunk)) error {
	return eachChunk(f.c, e.First, e.Chunks, true, e.Lane, &f.lost, add)
}

func (f *feedRows) Vectors(_ context.Context, e *storerules.FeedEntry, add func(chunk int64, ordinal int, vector []float32)) error {
	return eachVector(f.c, e.First, e.Chunks, e.Lane, &f.lost, add)
}

func (f *feedRows) Mentions(_ context.Context, e *storerules.FeedEntry, add func(m storerules.Mention, root int64)) error {
	ms, err := readMentions(f.c, e.Source)
	if errors.Is(err, backend.ErrCorrupt) {
		f.lost.Note(err)
		return nil
	}
	if err != nil {
		return err
	}
	for _, m := range ms {
		root, err := f.roots.of(m.Entity)
		if err = f.lost.unless(err); err != nil {
			return err
		}
		if root != 0 {
			add(m, root)
		}
	}
	return nil
}
