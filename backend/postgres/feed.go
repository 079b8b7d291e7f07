package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/contextmem/contextmem/backend"
)

// The feed counts its entries from 1; feedStart is the last tombstone that was
// compacted away. What indexes see is made of that: entry n is n<<32, but entries up to
// feedStart, which only an index that starts from zero may still be told, are numbers
// between (feedStart-1)<<32 and feedStart<<32. So an index in the middle of starting again
// can be told from one that missed a tombstone, although both have come as far.
const seqShift = 32

// maxEntries is how many entries a feed can have over its life.
const maxEntries = 1<<32 - 1

// seqOf is the sequence number of an entry.
func seqOf(entry, start int64) uint64 {
	if entry > start {
		return uint64(entry) << seqShift
	}
	return uint64(start-1)<<seqShift | uint64(entry)
}

// entryOf is the entry that an index has come to; ok is false when it missed a tombstone.
func entryOf(seq uint64, start int64) (entry int64, ok bool) {
	n, sub := int64(seq>>seqShift), int64(seq&maxEntries)
	switch {
	case seq == 0:
		return 0, true
	case sub == 0:
		return n, n >= start
	}
	return sub, n == start-1
}

// next numbers a new entry.
func (t *tx) next() (int64, error) {
	if t.led.seq >= maxEntries {
		return 0, fmt.Errorf("the change feed is full after %d changes: %w", t.led.seq, backend.ErrUnavailable)
	}
	t.led.seq++
	return t.led.seq, nil
}

// put adds a change of a version to the feed and takes an earlier one of the kind,
// at *seq, back.
func (t *tx) put(source int64, kind backend.ChangeKind, seq *int64) error {
	if err := t.takeBack(seq); err != nil {
		return err
	}
	var err error
	if *seq, err = t.next(); err != nil {
		return err
	}
	return t.c.do("INSERT INTO changes (ws, seq, kind, source) VALUES ($1, $2, $3, $4)", *seq, int64(kind), source)
}

func (t *tx) takeBack(seq *int64) error {
	if *seq == 0 {
		return nil
	}
	err := t.c.do("DELETE FROM changes WHERE ws = $1 AND seq = $2", *seq)
	*seq = 0
	return err
}

// drop adds the tombstone of a version.
func (t *tx) drop(v *head) error {
	p, err := t.partName(v.part)
	if err != nil {
		return err
	}
	seq, err := t.next()
	if err != nil {
		return err
	}
	t.dropped = append(t.dropped, backend.Change{Seq: uint64(seq) << seqShift, Kind: backend.Drop, Part: p, Source: v.num, SourceID: v.id})
	return t.c.do("INSERT INTO changes (ws, seq, kind, source, class, sub, id) VALUES ($1, $2, $3, $4, $5, $6, $7)",
		seq, int64(backend.Drop), v.num, int64(p.Class), p.Sub, v.id)
}

// dropSub adds the tombstone of a sub-tenant, which stands for those of its versions.
func (t *tx) dropSub(sub string) error {
	if err := t.c.do("DELETE FROM changes WHERE ws = $1 AND sub IS NOT NULL AND sub = $2 AND kind <> $3", sub, int64(backend.DropVectors)); err != nil {
		return err
	}
	seq, err := t.next()
	if err != nil {
		return err
	}
	return t.c.do("INSERT INTO changes (ws, seq, kind, source, class, sub, id) VALUES ($1, $2, $3, 0, 0, $4, '')",
		seq, int64(backend.DropSub), sub)
}

// ChangesAfter implements [backend.FeedCounter].
func (s *store) ChangesAfter(after uint64) uint64 {
	entry, last := after>>seqShift, s.LastSeq()>>seqShift
	if sub := after & maxEntries; sub > 0 { // an index that starts again
		entry = sub
	}
	return last - min(entry, last)
}

func (s *store) CompactFeed(ctx context.Context, seq uint64, limit int) (n int, err error) {
	err = s.change(ctx, func(t *tx) error {
		n = 0
		var old []int64
		err := t.c.each(bg, "SELECT seq FROM changes WHERE ws = $1 AND sub IS NOT NULL AND seq <= $2 ORDER BY seq LIMIT $3",
			func(r *row) error {
				old = append(old, r.int(0))
				return nil
			}, min(int64(seq>>seqShift), t.led.seq), max(limit, 0))
		if err != nil || len(old) == 0 {
			return err
		}
		n, t.led.feedStart = len(old), old[len(old)-1]
		return t.c.do("DELETE FROM changes WHERE ws = $1 AND seq = ANY($2)", old)
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// feedEntry is a row of the feed; what a put says is read from its version.
type feedEntry struct {
	backend.Change
	first, chunks int64
}

// wentBack is what is said of a feed that ends before what this process knew of it, before it asked: whoever knew was told of commits that the
// server has lost, as a standby has that was promoted and had not received them. An index that has applied some of them starts again; none may note that it has come
// as far as what is lost, since other changes get these numbers.
func (s *store) wentBack(known, last, after uint64) error {
	s.lastSeq.CompareAndSwap(known, last)
	if after > last {
		return fmt.Errorf("the database has lost changes up to %d: %w", after, backend.ErrFeedGone)
	}
	return fmt.Errorf("the database has lost changes up to %d: %w", known, backend.ErrUnavailable)
}

func (s *store) Changes(ctx context.Context, after uint64, limit int) (out []backend.Change, err error) {
	err = s.read(ctx, func(c *conn) error {
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
		if last := uint64(l.seq) << seqShift; last < known {
			return s.wentBack(known, last, after)
		} else if after >= last {
			return nil
		}
		if err := s.epochs.read(ctx, c, l.epoch); err != nil {
			return err
		}
		from, ok := entryOf(after, l.feedStart)
		if !ok {
			return fmt.Errorf("changes after %d: tombstones up to %d were dropped: %w", after, uint64(l.feedStart)<<seqShift, backend.ErrFeedGone)
		}
		entries, err := feedEntries(ctx, c, from, l.feedStart, limit)
		if err != nil {
			return err
		}
		rs, err := newRoots(ctx, c)
		if err != nil {
			return err
		}
		size := 0
		var lost losses
		for i := range entries {
			e := &entries[i]
			if len(out) > 0 && size >= limit {
				break
			}
			if err := e.load(ctx, c, rs, &lost); err != nil {
				return err
			}
			size += 1 + len(e.Rows) + len(e.Mentions)
			out = append(out, e.Change)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// feedEntries reads the entries of the feed that can fit into limit.
func feedEntries(ctx context.Context, c *conn, after, start int64, limit int) (out []feedEntry, err error) {
	size := int64(0)
	err = c.each(ctx, `SELECT f.seq, f.kind, f.source, f.class, f.sub, f.id,
		p.class, p.sub, s.id, s.title, s.time, s.session, s.tags, s.first_chunk, s.chunks, s.lane
		FROM (SELECT * FROM changes WHERE ws = $1 AND seq > $2 ORDER BY seq LIMIT $3) f
		LEFT JOIN sources s ON s.ws = f.ws AND s.num = f.source AND f.sub IS NULL LEFT JOIN parts p ON p.ws = s.ws AND p.id = s.part ORDER BY f.seq`, func(r *row) error {
		if len(out) > 0 && size >= int64(limit) {
			return nil // the last few rows of the LIMIT
		}
		e := feedEntry{Change: backend.Change{
			Seq: seqOf(r.int(0), start), Kind: backend.ChangeKind(r.int(1) % kindLane), Source: r.int(2), Lane: backend.Lane(r.int(1) / kindLane),
		}}
		size++
		switch {
		case e.Kind == backend.DropVectors:
			e.Lane = backend.Lane(r.int(3))
		case !r.null(4):
			e.Part, e.SourceID = backend.Partition{Class: backend.Class(r.int(3)), Sub: r.str(4)}, r.str(5)
		case r.null(6):
			return fmt.Errorf("feed entry %d without its version: %w", e.Seq, backend.ErrCorrupt)
		default:
			e.Part = backend.Partition{Class: backend.Class(r.int(6)), Sub: r.str(7)}
			e.SourceID, e.Title, e.Time, e.Session = r.str(8), r.str(9), r.time(10), r.str(11)
			e.first, e.chunks = r.int(13), r.int(14)
			if e.Kind == backend.PutChunks {
				e.Lane = backend.Lane(r.int(15))
			}
			if e.Kind == backend.PutChunks || e.Kind == backend.PutTags || e.Kind == backend.PutVectors {
				e.Tags = r.tags(12)
			}
			if e.Kind == backend.PutChunks || e.Kind == backend.PutVectors {
				size += e.chunks
			}
		}
		out = append(out, e)
		return nil
	}, after, max(limit, 1))
	return out, err
}

// load reads the content of a put, but for what is damaged: recall of all else goes on.
func (e *feedEntry) load(ctx context.Context, c *conn, rs *roots, lost *losses) error {
	switch e.Kind {
	case backend.PutChunks:
		return eachChunk(ctx, c, e.first, e.chunks, true, e.Lane, lost, func(ch *backend.Chunk) {
			e.Rows = append(e.Rows, backend.Row{
				Chunk: ch.Num, Ordinal: ch.Ordinal, Key: ch.Key, Text: ch.Text, Heading: ch.Heading,
				Vector: ch.Vector, Extra: ch.Extra,
			})
		})
	case backend.PutVectors:
		return eachVector(ctx, c, e.first, e.chunks, e.Lane, lost, func(chunk int64, ordinal int, vector []float32) {
			e.Rows = append(e.Rows, backend.Row{Chunk: chunk, Ordinal: ordinal, Vector: vector})
		})
	case backend.PutGraph:
		ms, err := readMentions(ctx, c, e.Source)
		if errors.Is(err, backend.ErrCorrupt) {
			lost.note(err)
			return nil
		}
		if err != nil {
			return err
		}
		entities := make([]int64, len(ms))
		for i := range ms {
			entities[i] = ms[i].entity
		}
		if err := rs.meet(ctx, entities); err != nil {
			return err
		}
		for _, m := range ms {
			root, err := rs.of(ctx, m.entity)
			if err != nil {
				return err
			}
			e.Mentions = append(e.Mentions, backend.MentionRef{
				Chunk: e.first + m.chunk, Entity: root, Key: m.key, Weight: m.weight,
			})
		}
	}
	return nil
}
