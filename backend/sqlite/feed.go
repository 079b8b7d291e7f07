package sqlite

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

// nextPlaced numbers a new version that comes with n chunks. Its number is that of the entry
// of the feed that puts them too, so that the entry needs no row.
func (t *tx) nextPlaced(n int64) (int64, error) {
	t.led.seq = max(t.led.seq, t.led.source)
	num, err := t.next()
	if err == nil {
		t.led.place(num, t.led.chunk+n)
	}
	return num, err
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
	return t.c.do("INSERT INTO changes (seq, kind, source) VALUES (?, ?, ?)", *seq, int64(kind), source)
}

func (t *tx) takeBack(seq *int64) error {
	if *seq == 0 {
		return nil
	}
	err := t.c.do("DELETE FROM changes WHERE seq = ?", *seq)
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
	return t.c.do("INSERT INTO changes (seq, kind, source, class, sub, id) VALUES (?, ?, ?, ?, ?, ?)",
		seq, int64(backend.Drop), v.num, int64(p.Class), p.Sub, v.id)
}

// dropSub adds the tombstone of a sub-tenant, which stands for those of its versions.
func (t *tx) dropSub(sub string) error {
	if err := t.c.do("DELETE FROM changes WHERE sub = ? AND sub IS NOT NULL AND kind <> ?", sub, int64(backend.DropVectors)); err != nil {
		return err
	}
	seq, err := t.next()
	if err != nil {
		return err
	}
	return t.c.do("INSERT INTO changes (seq, kind, source, class, sub, id) VALUES (?, ?, 0, 0, ?, '')",
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
		var old []int64
		err := t.c.each(bg, "SELECT seq FROM changes INDEXED BY changes_gone WHERE sub IS NOT NULL AND seq <= ? ORDER BY seq LIMIT ?",
			func(r *row) error {
				old = append(old, r.int(0))
				return nil
			}, min(int64(seq>>seqShift), t.led.seq), max(limit, 0))
		if err != nil || len(old) == 0 {
			return err
		}
		for _, seq := range old {
			if err := t.c.do("DELETE FROM changes WHERE seq = ?", seq); err != nil {
				return err
			}
		}
		n, t.led.feedStart = len(old), old[len(old)-1]
		return nil
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

func (s *store) Changes(ctx context.Context, after uint64, limit int) (out []backend.Change, err error) {
	err = s.read(ctx, func(c *conn) error {
		l, err := readLedger(c)
		if err != nil {
			return err
		}
		start := l.feedStart
		if after >= s.LastSeq() {
			return nil
		}
		from, ok := entryOf(after, start)
		if !ok {
			return fmt.Errorf("changes after %d: tombstones up to %d were dropped: %w", after, uint64(start)<<seqShift, backend.ErrFeedGone)
		}
		entries, err := feedEntries(ctx, c, from, start, l.placed, limit)
		if err != nil {
			return err
		}
		size := 0
		roots, err := newRoots(c)
		if err != nil {
			return err
		}
		var lost losses
		for i := range entries {
			e := &entries[i]
			if len(out) > 0 && size >= limit {
				break
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := e.load(c, roots, &lost); err != nil {
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

// feedEntries reads the entries of the feed that can fit into limit. A put that its version
// stands for may, in a file of an earlier schema, have a row as well.
func feedEntries(ctx context.Context, c *conn, after, start, placed int64, limit int) (out []feedEntry, err error) {
	size := int64(0)
	err = c.each(ctx, `SELECT f.seq, f.kind, f.source, f.class, f.sub, f.id,
		p.class, p.sub, s.id, s.title, s.time, s.session, s.tags, s.first_chunk, s.chunks, s.lane
		FROM (SELECT seq, kind, source, class, sub, id FROM changes WHERE seq > ?1
			UNION SELECT num, 1, num, NULL, NULL, NULL FROM sources WHERE num > ?1 AND num <= ?2 AND seq_chunks = num
			ORDER BY seq LIMIT ?3) f
		LEFT JOIN sources s ON s.num = f.source AND f.sub IS NULL LEFT JOIN parts p ON p.id = s.part ORDER BY f.seq`, func(r *row) error {
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
				tags, err := unpackTags(r.blob(12))
				if err != nil {
					return err
				}
				e.Tags = tags
			}
			if e.Kind == backend.PutChunks || e.Kind == backend.PutVectors {
				size += e.chunks
			}
		}
		out = append(out, e)
		return nil
	}, after, placed, max(limit, 1))
	return out, err
}

// load reads the content of a put, but for what is damaged: recall of all else goes on.
func (e *feedEntry) load(c *conn, roots *roots, lost *losses) error {
	switch e.Kind {
	case backend.PutChunks:
		return eachChunk(c, e.first, e.chunks, true, e.Lane, lost, func(ch *backend.Chunk) {
			e.Rows = append(e.Rows, backend.Row{
				Chunk: ch.Num, Ordinal: ch.Ordinal, Key: ch.Key, Text: ch.Text, Heading: ch.Heading,
				Vector: ch.Vector, Extra: ch.Extra,
			})
		})
	case backend.PutVectors:
		return eachVector(c, e.first, e.chunks, e.Lane, lost, func(chunk int64, ordinal int, vector []float32) {
			e.Rows = append(e.Rows, backend.Row{Chunk: chunk, Ordinal: ordinal, Vector: vector})
		})
	case backend.PutGraph:
		ms, err := readMentions(c, e.Source)
		if errors.Is(err, backend.ErrCorrupt) {
			lost.note(err)
			return nil
		}
		if err != nil {
			return err
		}
		for _, m := range ms {
			root, err := roots.of(m.entity)
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
