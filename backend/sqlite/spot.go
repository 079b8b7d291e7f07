package sqlite

import (
	"context"
	"fmt"
	"strings"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/move"
	"github.com/contextmem/contextmem/internal/storerules"
)

var (
	sourceTags, sourceWait = move.Sources.At("tags"), move.Sources.At("not_before")
	sourceNewest           = move.Sources.At("newest")
	chunkText              = move.Chunks.At("text")
)

// spot implements move.Place: it writes a workspace or the registry.
type spot struct{ view }

// Close implements move.Place.
func (s *spot) Close() error { return s.c.close() }

// Apply implements move.Place.
func (s *spot) Apply(ctx context.Context, ops []move.Op) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.c.do("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	var err error
	for i := range ops {
		if err = s.apply(&ops[i]); err != nil {
			err = fmt.Errorf("%s: %w", ops[i].Table.Name, err)
			break
		}
	}
	if err == nil {
		err = s.c.do("COMMIT")
	}
	if err != nil && inTransaction(s.c.dc) {
		_ = s.c.do("ROLLBACK") // the first error is enough
	}
	return err
}

func (s *spot) apply(op *move.Op) error {
	if op.Old != nil {
		if err := s.drop(op.Table, op.Old, op.Class); err != nil {
			return err
		}
	}
	if op.New == nil {
		return nil
	}
	switch op.Table {
	case move.Sources:
		return s.putSource(op)
	case move.Ledger:
		return s.putLedger(op.New)
	case move.Parts:
		r := stored(op.Table, op.New)
		if err := s.c.do("INSERT OR REPLACE INTO counters (id, items, chunks) VALUES (?, ?, ?)", r[0], r[3], r[4]); err != nil {
			return err
		}
		return s.c.do("INSERT INTO parts (id, class, sub) VALUES (?, ?, ?)", r[:3]...)
	case move.Values:
		data, _ := op.New[1].([]byte)
		return s.insert(op.Table, op.New, "crc", storerules.Checksum(data))
	case move.Entities:
		r := stored(op.Table, op.New)
		return s.insert(op.Table, op.New, "crc", entitySum(r[6].(string), r[7].(string), r[8].(string)))
	case move.Relations:
		if err := s.insert(op.Table, op.New); err != nil {
			return err
		}
		return (&tx{c: s.c}).sealRelation(op.New[0].(int64))
	}
	return s.insert(op.Table, op.New)
}

// insert stores a row, with additional columns given by name and value.
func (s *spot) insert(t *move.Table, r move.Row, more ...any) error {
	cols, args := names(t, ""), stored(t, r)
	if err := s.shorten(t, args); err != nil {
		return err
	}
	for i := 0; i < len(more); i += 2 {
		cols += ", " + more[i].(string)
		args = append(args, more[i+1])
	}
	return s.c.do("INSERT INTO "+t.Name+" ("+cols+") VALUES (?"+strings.Repeat(", ?", len(args)-1)+")", args...)
}

// drop removes a row. With a source it removes everything that belongs to the source.
func (s *spot) drop(t *move.Table, old move.Row, class int64) error {
	switch t {
	case move.Ledger:
		return nil
	case move.Parts:
		if err := s.c.do("DELETE FROM counters WHERE id = ?", old[0]); err != nil {
			return err
		}
	case move.Sources:
		if err := s.dropOwned(old); err != nil {
			return err
		}
	}
	where := make([]string, t.Keys)
	for i := range where {
		where[i] = t.Cols[i].Name + " = ?"
	}
	return s.c.do("DELETE FROM "+t.Name+" WHERE "+strings.Join(where, " AND "), stored(t, old)[:t.Keys]...)
}

func (s *spot) dropOwned(old move.Row) error {
	num, first, last := move.Range(old)
	tags, _ := old[sourceTags].([]byte)
	unpacked, err := storerules.UnpackTags(tags)
	if err != nil {
		return err
	}
	for _, tag := range unpacked {
		if err := s.c.do("DELETE FROM tags WHERE part = ? AND tag = ? AND source = ?", old[1], int64(tag), num); err != nil {
			return err
		}
	}
	var ignored []move.Owned
	entities, err := s.mentions(bg, num, &ignored)
	if err != nil {
		return err
	}
	for _, e := range entities {
		if err := s.c.do("DELETE FROM entity_sources WHERE entity = ? AND source = ?", e, num); err != nil {
			return err
		}
	}
	if err := (&tx{c: s.c}).removeBlobs(num); err != nil {
		return err
	}
	for _, d := range [...]struct {
		sql  string
		args []any
	}{
		{"DELETE FROM chunks WHERE num BETWEEN ? AND ?", []any{first, last}},
		{"DELETE FROM vectors WHERE chunk BETWEEN ? AND ?", []any{first, last}},
		{"DELETE FROM lane_vectors WHERE id BETWEEN ? AND ?", []any{first << laneBits, last<<laneBits | int64(backend.LaneCount-1)}},
		{"DELETE FROM mentions WHERE source = ?", []any{num}},
		{"DELETE FROM stated_aliases WHERE source = ?", []any{num}},
	} {
		if err := s.c.do(d.sql, d.args...); err != nil {
			return err
		}
	}
	return nil
}

func (s *spot) putSource(op *move.Op) error {
	r := op.New
	num, part, id := r[0].(int64), r[1].(int64), string(r[2].([]byte))
	due := int64(0)
	if at, ok := r[sourceWait].(int64); ok {
		due = max(at, 1)
	}
	if err := s.insert(move.Sources, r, "hash", hashOf(0, id), "due", due); err != nil {
		return err
	}
	packed, _ := r[sourceTags].([]byte)
	tags, err := storerules.UnpackTags(packed)
	if err != nil {
		return err
	}
	newest, limited := r[sourceNewest].(int64) == 1, int64(1)
	for _, tag := range tags {
		if newest && tag == backend.Everybody {
			limited = 0
		}
		if !newest || tag == backend.IDTag(id) || !storerules.Leads(backend.Class(op.Class), tag) {
			continue
		}
		if err := s.c.do("INSERT OR IGNORE INTO tags (part, tag, source) VALUES (?, ?, ?)", part, int64(tag), num); err != nil {
			return err
		}
	}
	textless := make(map[int64]bool)
	for _, o := range op.Owned {
		var err error
		switch w := stored(o.Table, o.Row); o.Table {
		case move.Blobs:
			data, _ := w[3].([]byte)
			err = (&tx{c: s.c}).storeBlobs(num, []backend.Blob{{Kind: backend.ContentKind(w[1].(int64)), Data: data}}, false)
		case move.Chunks:
			textless[w[0].(int64)] = w[5].(string) == ""
			err = s.insert(o.Table, o.Row, "hash", hashOf(part, w[4].(string)))
		case move.Vectors:
			switch chunk, lane := w[0].(int64), w[1].(int64); {
			case lane > 0:
				err = s.c.do("INSERT INTO lane_vectors (id, crc, data) VALUES (?, ?, ?)", chunk<<laneBits|lane, w[2], w[3])
			case textless[chunk]:
				err = s.c.do("UPDATE chunks SET vector_crc = ?, vector = ? WHERE num = ?", w[2], w[3], chunk)
			default:
				err = s.c.do("INSERT INTO vectors (chunk, crc, data) VALUES (?, ?, ?)", chunk, w[2], w[3])
			}
		case move.Stated:
			err = s.insert(o.Table, o.Row, "limited", limited)
		default:
			err = s.insert(o.Table, o.Row)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", o.Table.Name, err)
		}
	}
	if err := s.keepOriginal(num, op.Owned); err != nil {
		return err
	}
	return (&tx{c: s.c}).seal(num)
}

// keepOriginal stores whether the original of a version equals its chunk. All rows of the version must be stored.
func (s *spot) keepOriginal(num int64, owned []move.Owned) error {
	var texts [][]byte
	for _, o := range owned {
		if o.Table == move.Chunks {
			text, _ := o.Row[chunkText].([]byte)
			texts = append(texts, text)
		}
	}
	if len(texts) != 1 {
		return nil
	}
	shared, err := (&tx{c: s.c}).shareOriginal(num, texts[0])
	if err != nil || !shared {
		return err
	}
	return s.c.do("UPDATE sources SET original = 1 WHERE num = ?", num)
}

// putLedger writes the counters. It counts the states of the stored sources.
func (s *spot) putLedger(r move.Row) error {
	if err := s.c.do("DELETE FROM sqlite_sequence WHERE name = 'successions'"); err != nil {
		return err
	}
	if err := s.c.do("INSERT INTO sqlite_sequence (name, seq) VALUES ('successions', ?)", r[8]); err != nil {
		return err
	}
	return s.c.do(`UPDATE counters SET source = ?1, chunk = ?2, entity = ?3, relation = ?4, merge_no = ?5, event = ?6, part = ?7, seq = ?8, feed_start = ?9,
		completed = ?10, errored = ?11, retractions = ?12, placed = 0,
		queued = (SELECT count(*) FROM sources WHERE newest = 1 AND state = 1), processing = (SELECT count(*) FROM sources WHERE newest = 1 AND state = 2),
		graph = (SELECT count(*) FROM sources WHERE newest = 1 AND state = 3) WHERE id = 0`,
		r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[9], r[10], r[11], r[12], r[13])
}
