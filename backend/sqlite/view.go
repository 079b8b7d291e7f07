package sqlite

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/move"
)

// viewPage is how many rows are read at once.
const viewPage = 1000

// emptyView is a workspace that is not stored.
type emptyView struct{}

// Each implements move.View.
func (emptyView) Each(_ context.Context, t *move.Table) iter.Seq2[move.Row, error] {
	return func(yield func(move.Row, error) bool) {
		if t == move.Ledger {
			yield(zeroRow(len(t.Cols)), nil)
		}
	}
}

// Owned implements move.View.
func (emptyView) Owned(context.Context, []move.Row) (map[int64][]move.Owned, error) { return nil, nil }

func zeroRow(n int) move.Row {
	r := make(move.Row, n)
	for i := range r {
		r[i] = int64(0)
	}
	return r
}

// view reads a workspace, or the registry.
type view struct {
	c    *conn
	led  ledger // of a view of one moment
	live bool   // each page is of the moment that it is read at
}

// names are the columns of a table behind a prefix.
func names(t *move.Table, prefix string) string {
	var b strings.Builder
	for i, c := range t.Cols {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(prefix)
		b.WriteString(c.Name)
	}
	return b.String()
}

// rowOf is a row of a query as package move knows it, from column i on.
func rowOf(t *move.Table, r *row, i int) move.Row {
	out := make(move.Row, len(t.Cols))
	for j, c := range t.Cols {
		switch k := i + j; {
		case r.null(k):
		case c.Kind == move.Float:
			out[j] = r.float(k)
		case c.Kind == move.Text || c.Kind == move.Word || c.Kind == move.MaybeTxt:
			out[j] = []byte(r.str(k))
		case c.Kind == move.Bytes:
			out[j] = r.blob(k)
		default:
			out[j] = r.int(k)
		}
	}
	return out
}

// stored is a row of package move as the driver takes it.
func stored(t *move.Table, r move.Row) []any {
	out := make([]any, len(r))
	for i, c := range t.Cols {
		out[i] = r[i]
		if b, ok := r[i].([]byte); ok && c.Kind != move.Bytes {
			out[i] = string(b)
		}
	}
	return out
}

// Each implements move.View.
func (v *view) Each(ctx context.Context, t *move.Table) iter.Seq2[move.Row, error] {
	return func(yield func(move.Row, error) bool) {
		after := []any{nil}
		for {
			var page []move.Row
			err := v.page(ctx, t, after, &page)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, r := range page {
				if !yield(r, nil) {
					return
				}
			}
			if len(page) < viewPage {
				return
			}
			after = stored(t, page[len(page)-1])[:t.Keys]
		}
	}
}

// page reads the rows behind a key; nil: from the start.
func (v *view) page(ctx context.Context, t *move.Table, after []any, out *[]move.Row) error {
	add := func(r *row) error {
		*out = append(*out, rowOf(t, r, 0))
		return nil
	}
	switch t {
	case move.Ledger:
		return v.ledger(ctx, out)
	case move.Parts:
		return v.parts(ctx, after, out)
	case move.Changes:
		return v.changes(ctx, after, add)
	}
	keys := make([]string, t.Keys)
	for i := range keys {
		keys[i] = t.Cols[i].Name
	}
	list := strings.Join(keys, ", ")
	sql := "SELECT " + names(t, "") + " FROM " + t.Name
	var args []any
	if after[0] != nil {
		sql += " WHERE (" + list + ") > (?" + strings.Repeat(", ?", t.Keys-1) + ")"
		args = append(args, after...)
	}
	return v.c.each(ctx, sql+" ORDER BY "+list+" LIMIT ?", add, append(args, viewPage)...)
}

func number(after []any) int64 {
	n, _ := after[0].(int64)
	return n
}

func (v *view) parts(ctx context.Context, after []any, out *[]move.Row) error {
	late := map[int64]partSum{}
	if !v.live {
		var err error
		if late, err = behind(ctx, v.c); err != nil {
			return err
		}
	}
	return v.c.each(ctx, `SELECT p.id, p.class, p.sub, coalesce(n.items, 0), coalesce(n.chunks, 0) FROM parts p LEFT JOIN counters n ON n.id = p.id
		WHERE p.id > ? ORDER BY p.id LIMIT ?`, func(r *row) error {
		p := rowOf(move.Parts, r, 0)
		more := late[r.int(0)]
		p[3], p[4] = r.int(3)+more.items, r.int(4)+more.chunks
		*out = append(*out, p)
		return nil
	}, number(after), viewPage)
}

// changes lists the feed with the entries that versions stand for.
func (v *view) changes(ctx context.Context, after []any, add func(*row) error) error {
	l := v.led
	if v.live {
		var err error
		if l, err = fileLedger(v.c); err != nil {
			return err
		}
	}
	return v.c.each(ctx, `SELECT seq, kind, source, class, sub, id FROM changes WHERE seq > ?1
		UNION SELECT num, 1, num, NULL, NULL, NULL FROM sources WHERE num > ?1 AND num <= ?2 AND seq_chunks = num
		ORDER BY seq LIMIT ?3`, add, number(after), l.placed, viewPage)
}

// fileLedger reads the counters without what is behind them: a move writes the sources before it writes the counters.
func fileLedger(c *conn) (l ledger, err error) {
	_, err = c.one(bg, "SELECT "+ledgerCols+" FROM counters WHERE id = 0", func(r *row) error {
		for i, p := range l.fields() {
			*p = r.int(i)
		}
		return nil
	})
	return l, err
}

func (v *view) ledger(ctx context.Context, out *[]move.Row) error {
	l := v.led
	if v.live {
		var err error
		if l, err = fileLedger(v.c); err != nil {
			return err
		}
	}
	var succession int64
	_, err := v.c.one(ctx, "SELECT seq FROM sqlite_sequence WHERE name = 'successions'", func(r *row) error {
		succession = r.int(0)
		return nil
	})
	*out = append(*out, move.Row{int64(0), l.source, l.chunk, l.entity, l.relation, l.merge, l.event, l.part, succession, l.seq, l.feedStart,
		l.states[backend.Completed], l.states[backend.Errored], l.retractions})
	return err
}

// Owned implements move.View.
func (v *view) Owned(ctx context.Context, sources []move.Row) (map[int64][]move.Owned, error) {
	out := make(map[int64][]move.Owned, len(sources))
	for _, s := range sources {
		owned, err := v.owned(ctx, s)
		if err != nil {
			return nil, err
		}
		out[s[0].(int64)] = owned
	}
	return out, nil
}

func (v *view) owned(ctx context.Context, source move.Row) (out []move.Owned, err error) {
	num, first, last := move.Range(source)
	blobs, err := readBlobs(ctx, v.c, num)
	if err != nil {
		return nil, err
	}
	for _, b := range blobs {
		out = append(out, move.Owned{Table: move.Blobs, Row: move.Row{num, int64(b.Kind), int64(checksum(b.Data)), b.Data}})
	}
	if last >= first {
		var vectors []move.Owned
		n := len(move.Chunks.Cols)
		err = v.c.each(ctx, "SELECT "+names(move.Chunks, "c.")+`, coalesce(c.vector_crc, v.crc), coalesce(c.vector, v.data)
			FROM chunks c LEFT JOIN vectors v ON c.vector IS NULL AND v.chunk = c.num WHERE c.num BETWEEN ? AND ? ORDER BY c.num`, func(r *row) error {
			out = append(out, move.Owned{Table: move.Chunks, Row: rowOf(move.Chunks, r, 0)})
			if !r.null(n) {
				vectors = append(vectors, move.Owned{Table: move.Vectors, Row: move.Row{r.int(0), int64(0), r.int(n), r.blob(n + 1)}})
			}
			return nil
		}, first, last)
		if err != nil {
			return nil, err
		}
		err = v.c.each(ctx, "SELECT id >> 2, id & 3, crc, data FROM lane_vectors WHERE id BETWEEN ? AND ? ORDER BY id", func(r *row) error {
			vectors = append(vectors, move.Owned{Table: move.Vectors, Row: rowOf(move.Vectors, r, 0)})
			return nil
		}, first<<laneBits, last<<laneBits|int64(backend.LaneCount-1))
		if err != nil {
			return nil, err
		}
		out = append(out, vectors...)
	}
	entities, err := v.mentions(ctx, num, &out)
	if err != nil {
		return nil, err
	}
	for _, e := range entities {
		err := v.c.each(ctx, "SELECT "+names(move.Edges, "")+" FROM entity_sources WHERE entity = ? AND source = ?", func(r *row) error {
			out = append(out, move.Owned{Table: move.Edges, Row: rowOf(move.Edges, r, 0)})
			return nil
		}, e, num)
		if err != nil {
			return nil, err
		}
	}
	err = v.c.each(ctx, "SELECT "+names(move.Stated, "")+" FROM stated_aliases WHERE source = ?", func(r *row) error {
		out = append(out, move.Owned{Table: move.Stated, Row: rowOf(move.Stated, r, 0)})
		return nil
	}, num)
	return out, err
}

// mentions reads the row of a source's mentions and returns its entities.
func (v *view) mentions(ctx context.Context, num int64, out *[]move.Owned) (entities []int64, err error) {
	err = v.c.each(ctx, "SELECT source, crc, data FROM mentions WHERE source = ?", func(r *row) error {
		*out = append(*out, move.Owned{Table: move.Mentions, Row: rowOf(move.Mentions, r, 0)})
		ms, err := unpackMentions(r.blob(2))
		if err != nil {
			return err
		}
		seen := make(map[int64]bool, len(ms))
		for _, m := range ms {
			if !seen[m.entity] {
				seen[m.entity] = true
				entities = append(entities, m.entity)
			}
		}
		return nil
	}, num)
	return entities, err
}

var (
	sourceTags, sourceWait = move.Sources.At("tags"), move.Sources.At("not_before")
	sourceNewest           = move.Sources.At("newest")
)

// spot writes a workspace, or the registry.
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
		_ = s.c.do("ROLLBACK") // its own error says nothing that the first did not
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
		return s.insert(op.Table, op.New, "crc", checksum(data))
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

// insert stores a row, with other columns that go with it by name and value.
func (s *spot) insert(t *move.Table, r move.Row, more ...any) error {
	cols, args := names(t, ""), stored(t, r)
	for i := 0; i < len(more); i += 2 {
		cols += ", " + more[i].(string)
		args = append(args, more[i+1])
	}
	return s.c.do("INSERT INTO "+t.Name+" ("+cols+") VALUES (?"+strings.Repeat(", ?", len(args)-1)+")", args...)
}

// drop removes a row; a source goes with everything that belongs to it.
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
	unpacked, err := unpackTags(tags)
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
	tags, err := unpackTags(packed)
	if err != nil {
		return err
	}
	newest, limited := r[sourceNewest].(int64) == 1, int64(1)
	for _, tag := range tags {
		if newest && tag == backend.Everybody {
			limited = 0
		}
		if !newest || tag == backend.IDTag(id) || !leads(backend.Class(op.Class), tag) {
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
	return (&tx{c: s.c}).seal(num)
}

// putLedger writes the counters, those of states from the sources that stand there.
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
