package sqlite

import (
	"context"
	"iter"
	"strings"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/move"
	"github.com/contextmem/contextmem/internal/storerules"
)

// viewPage is the number of rows read at once.
const viewPage = 1000

// emptyView is the move.View of a workspace that does not exist.
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

// view implements move.View: it reads a workspace or the registry.
type view struct {
	c    *conn
	led  ledger // counters of a snapshot
	live bool   // the view is no snapshot: each page is read from the current state
}

// names returns the columns of a table, each with a prefix.
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

// rowOf converts the columns of a query from i on to a row of package move.
func rowOf(t *move.Table, r *row, i int) move.Row {
	out := make(move.Row, len(t.Cols))
	for j, c := range t.Cols {
		if v, ok := restored(t, r, i, j); ok {
			out[j] = v
			continue
		}
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

// stored converts a row of package move to arguments of the driver.
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

// page reads the rows after a key; nil means from the start.
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
	if t == move.Relations {
		sql = "SELECT " + names(t, "r.") + ", " + contextText + " FROM relations r"
	}
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
	late := map[int64]storerules.PartSum{}
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
		p[3], p[4] = r.int(3)+more.Items, r.int(4)+more.Chunks
		*out = append(*out, p)
		return nil
	}, number(after), viewPage)
}

// changes lists the feed, including the entries of placed versions, which have no rows.
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

// fileLedger reads the counters without their lag. During a move the sources are written before the counters.
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
	*out = append(*out, move.Row{int64(0), l.Source, l.Chunk, l.Entity, l.Relation, l.Merge, l.Event, l.Part, succession, l.Seq, l.FeedStart,
		l.states[backend.Completed], l.states[backend.Errored], l.Retractions})
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
		out = append(out, move.Owned{Table: move.Blobs, Row: move.Row{num, int64(b.Kind), int64(storerules.Checksum(b.Data)), b.Data}})
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
		ms, err := storerules.UnpackMentions(r.blob(2))
		if err != nil {
			return err
		}
		seen := make(map[int64]bool, len(ms))
		for _, m := range ms {
			if !seen[m.Entity] {
				seen[m.Entity] = true
				entities = append(entities, m.Entity)
			}
		}
		return nil
	}, num)
	return entities, err
}
