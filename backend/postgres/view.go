package postgres

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"strings"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/move"
	"github.com/contextmem/contextmem/internal/storerules"
)

// viewPage is the number of rows read at once.
const viewPage = 1000

// emptyView is the view of a workspace that is not stored.
type emptyView struct{}

// Each implements move.View.
func (emptyView) Each(_ context.Context, t *move.Table) iter.Seq2[move.Row, error] {
	return func(yield func(move.Row, error) bool) {
		if t == move.Ledger {
			r := make(move.Row, len(t.Cols))
			for i := range r {
				r[i] = int64(0)
			}
			yield(r, nil)
		}
	}
}

// Owned implements move.View.
func (emptyView) Owned(context.Context, []move.Row) (map[int64][]move.Owned, error) { return nil, nil }

// view reads a workspace or the registry. query calls its function with a connection and may call the function again.
type view struct {
	scope scope
	query func(ctx context.Context, f func(c *conn) error) error
}

// hashes lists the columns that are hashes of other columns. Package move does not transfer them.
var hashes = map[*move.Table][][2]string{
	move.Parts: {{"sub_hash", "sub"}}, move.Sources: {{"id_hash", "id"}}, move.Values: {{"name_hash", "name"}}, move.Entities: {{"key_hash", "key"}},
	move.Aliases: {{"key_hash", "key"}}, move.Merges: {{"from_hash", "from_key"}}, move.Relations: {{"predicate_hash", "predicate"}},
	move.Stated:  {{"from_hash", "from_key"}, {"into_hash", "into_key"}},
	move.Tenants: {{"org_hash", "org"}, {"id_hash", "id"}}, move.Records: {{"kind_hash", "kind"}, {"org_hash", "org"}, {"id_hash", "id"}},
	move.Sending: {{"id_hash", "id"}, {"org_hash", "org"}, {"url_hash", "url"}},
}

// names are the column names of a table.
func names(t *move.Table) string {
	list := make([]string, len(t.Cols))
	for i, c := range t.Cols {
		list[i] = c.Name
	}
	return strings.Join(list, ", ")
}

// order returns the columns by which the rows of a table are sorted, and their values in a row.
func order(t *move.Table, last move.Row) (cols []string, vals []any) {
	for i := range t.Keys {
		name, val := t.Cols[i].Name, any(nil)
		if last != nil {
			val = last[i]
		}
		for _, h := range hashes[t] {
			if h[1] == name {
				name = h[0]
				if b, ok := val.([]byte); ok {
					val = hashOf(string(b))
				}
			}
		}
		if b, ok := val.([]byte); ok && t.Cols[i].Kind == move.Word {
			val = plain(b)
		}
		cols, vals = append(cols, name), append(vals, val)
	}
	return cols, vals
}

// rowOf converts a query row to a row of package move.
func rowOf(t *move.Table, r *row) move.Row {
	out := make(move.Row, len(t.Cols))
	for i, c := range t.Cols {
		switch {
		case r.null(i):
		case t == move.Sources && i == sourceTags:
			out[i] = storerules.PackTags(r.tags(i))
		case c.Kind == move.Bool:
			n := int64(0)
			if r.bool(i) {
				n = 1
			}
			out[i] = n
		case c.Kind == move.Float:
			out[i] = r.float(i)
		case c.Kind == move.Word:
			out[i] = []byte(r.str(i))
		case c.Kind == move.Text || c.Kind == move.MaybeTxt || c.Kind == move.Bytes:
			out[i] = r.blob(i)
		default:
			out[i] = r.int(i)
		}
	}
	return out
}

// stored converts a row of package move to columns and arguments for the server.
func stored(t *move.Table, r move.Row) (cols []string, args []any) {
	for i, c := range t.Cols {
		v := r[i]
		switch b, isBytes := v.([]byte); {
		case v == nil:
		case t == move.Sources && i == sourceTags:
			tags := make([]int64, len(b)/8)
			for j := range tags {
				tags[j] = int64(binary.LittleEndian.Uint64(b[8*j:]))
			}
			v = tags
		case c.Kind == move.Bool:
			v = v.(int64) != 0
		case c.Kind == move.Word && isBytes:
			v = plain(b)
		}
		cols, args = append(cols, c.Name), append(args, v)
	}
	for _, h := range hashes[t] {
		b, _ := r[t.At(h[1])].([]byte)
		cols, args = append(cols, h[0]), append(args, hashOf(string(b)))
	}
	return cols, args
}

// Each implements move.View.
func (v *view) Each(ctx context.Context, t *move.Table) iter.Seq2[move.Row, error] {
	return func(yield func(move.Row, error) bool) {
		for last := move.Row(nil); ; {
			page, err := v.page(ctx, t, last)
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
			last = page[len(page)-1]
		}
	}
}

func (v *view) page(ctx context.Context, t *move.Table, last move.Row) (page []move.Row, err error) {
	own := len(v.scope.args) > 0
	sql, args := "SELECT "+names(t)+" FROM "+t.Name, []any(nil)
	if t == move.Ledger {
		sql = "SELECT 0::bigint, " + names(t)[len("key, "):] + " FROM ledgers WHERE ws = $1"
	} else {
		at := 0
		var conds []string
		if own {
			at = 1
			conds = append(conds, "ws = $1")
		}
		cols, vals := order(t, last)
		list := strings.Join(cols, ", ")
		if last != nil {
			places := make([]string, len(vals))
			for i := range places {
				at++
				places[i] = fmt.Sprintf("$%d", at)
			}
			conds = append(conds, "("+list+") > ("+strings.Join(places, ", ")+")")
			args = vals
		}
		if len(conds) > 0 {
			sql += " WHERE " + strings.Join(conds, " AND ")
		}
		sql += fmt.Sprintf(" ORDER BY %s LIMIT %d", list, viewPage)
	}
	err = v.query(ctx, func(c *conn) error {
		page = nil
		return c.each(ctx, sql, func(r *row) error {
			m := rowOf(t, r)
			if t == move.Values && m[0] == nil {
				return fmt.Errorf("a value was written by a release that kept no names: set it again: %w", backend.ErrNewerSchema)
			}
			page = append(page, m)
			return nil
		}, args...)
	})
	return page, err
}

// Owned implements move.View.
func (v *view) Owned(ctx context.Context, sources []move.Row) (out map[int64][]move.Owned, err error) {
	var nums, firsts, lasts []int64
	for _, s := range sources {
		num, first, last := move.Range(s)
		if nums = append(nums, num); last >= first {
			firsts, lasts = append(firsts, first), append(lasts, last)
		}
	}
	whose := move.NewWhose(sources)
	err = v.query(ctx, func(c *conn) error {
		out = make(map[int64][]move.Owned, len(sources))
		add := func(num int64, t *move.Table, r move.Row) { out[num] = append(out[num], move.Owned{Table: t, Row: r}) }
		var damage error
		err := readBlobs(ctx, c, nums, 0, func(num int64, b backend.Blob, err error) {
			if err != nil {
				damage = err
			}
			add(num, move.Blobs, move.Row{num, int64(b.Kind), int64(storerules.Checksum(b.Data)), b.Data})
		})
		if err == nil {
			err = damage
		}
		for _, q := range [...]struct {
			t    *move.Table
			by   string
			args []any
			of   func(move.Row) int64
		}{
			{move.Chunks, "num", []any{firsts, lasts}, func(r move.Row) int64 { return r[1].(int64) }},
			{move.Vectors, "chunk", []any{firsts, lasts}, func(r move.Row) int64 { return whose.Chunk(r[0].(int64)) }},
			{move.Mentions, "", []any{nums}, func(r move.Row) int64 { return r[0].(int64) }},
			{move.Edges, "", []any{nums}, func(r move.Row) int64 { return r[1].(int64) }},
			{move.Stated, "", []any{nums}, func(r move.Row) int64 { return r[4].(int64) }},
		} {
			if err != nil {
				return err
			}
			sql := "SELECT " + names(q.t) + " FROM " + q.t.Name + " WHERE ws = $1 AND source = ANY($2)"
			if q.by != "" {
				sql = "SELECT " + names(q.t) + " FROM unnest($2::bigint[], $3::bigint[]) x (low, high) JOIN " + q.t.Name + " ON ws = $1 AND " + q.by + " BETWEEN x.low AND x.high"
			}
			err = c.each(ctx, sql, func(r *row) error {
				m := rowOf(q.t, r)
				add(q.of(m), q.t, m)
				return nil
			}, q.args...)
		}
		return err
	})
	return out, err
}

var (
	sourceTags, sourceWait = move.Sources.At("tags"), move.Sources.At("not_before")
	sourceNewest           = move.Sources.At("newest")
)

// spot writes a workspace or the registry.
type spot struct {
	view
	d *DB
}

// Close implements move.Place.
func (s *spot) Close() error { return nil }

// Apply implements move.Place. It is idempotent.
func (s *spot) Apply(ctx context.Context, ops []move.Op) error {
	return s.d.write(ctx, s.scope, func(c *conn) error {
		for i := range ops {
			if err := s.apply(c, &ops[i]); err != nil {
				return fmt.Errorf("%s: %w", ops[i].Table.Name, err)
			}
		}
		return nil
	})
}

func (s *spot) apply(c *conn, op *move.Op) error {
	if op.Old != nil && op.Table != move.Ledger {
		if op.Table == move.Sources {
			if err := dropOwned(c, op.Old); err != nil {
				return err
			}
		}
		cols, vals := order(op.Table, op.Old)
		conds, at := []string{}, len(s.scope.args)
		if at > 0 {
			conds = append(conds, "ws = $1")
		}
		for i, col := range cols {
			conds = append(conds, fmt.Sprintf("%s = $%d", col, at+i+1))
		}
		if err := c.do("DELETE FROM "+op.Table.Name+" WHERE "+strings.Join(conds, " AND "), vals...); err != nil {
			return err
		}
	}
	switch {
	case op.New == nil:
		return nil
	case op.Table == move.Ledger:
		return putLedger(c, op.New)
	case op.Table == move.Sources:
		return s.putSource(c, op)
	case op.Table == move.Values:
		data, _ := op.New[1].([]byte)
		return s.insert(c, op.Table, op.New, "crc", int64(storerules.Checksum(data)))
	case op.Table == move.Sending:
		if err := s.insert(c, op.Table, op.New); err != nil {
			return err
		}
		return c.do("SELECT setval(pg_get_serial_sequence('deliveries', 'num'), greatest($1, (SELECT last_value FROM deliveries_num_seq)))", op.New[0])
	}
	return s.insert(c, op.Table, op.New)
}

// insert stores a row, with additional columns given by name and value. If the row exists, an earlier run of Apply has stored it.
func (s *spot) insert(c *conn, t *move.Table, r move.Row, more ...any) error {
	cols, args := stored(t, r)
	for i := 0; i < len(more); i += 2 {
		cols, args = append(cols, more[i].(string)), append(args, more[i+1])
	}
	if len(s.scope.args) > 0 {
		cols = append([]string{"ws"}, cols...)
	}
	places := make([]string, len(cols))
	for i := range places {
		places[i] = fmt.Sprintf("$%d", i+1)
	}
	own := ""
	if t == move.Sending {
		own = " OVERRIDING SYSTEM VALUE"
	}
	return c.do("INSERT INTO "+t.Name+" ("+strings.Join(cols, ", ")+")"+own+" VALUES ("+strings.Join(places, ", ")+") ON CONFLICT DO NOTHING", args...)
}

func dropOwned(c *conn, old move.Row) error {
	num, first, last := move.Range(old)
	_, args := stored(move.Sources, old)
	if tags, ok := args[sourceTags].([]int64); ok && len(tags) > 0 {
		if err := c.do("DELETE FROM tags WHERE ws = $1 AND part = $2 AND tag = ANY($3) AND source = $4", old[1], tags, num); err != nil {
			return err
		}
	}
	for _, t := range []string{"blobs", "blob_parts", "mentions", "entity_sources", "stated_aliases"} {
		if err := c.do("DELETE FROM "+t+" WHERE ws = $1 AND source = $2", num); err != nil {
			return err
		}
	}
	if err := c.do("DELETE FROM chunks WHERE ws = $1 AND num BETWEEN $2 AND $3", first, last); err != nil {
		return err
	}
	return c.do("DELETE FROM vectors WHERE ws = $1 AND chunk BETWEEN $2 AND $3", first, last)
}

func (s *spot) putSource(c *conn, op *move.Op) error {
	r := op.New
	num, part, id := r[0].(int64), r[1].(int64), string(r[2].([]byte))
	due := int64(0)
	if at, ok := r[sourceWait].(int64); ok {
		due = max(at, 1)
	}
	if err := s.insert(c, move.Sources, r, "due", due); err != nil {
		return err
	}
	if r[sourceNewest].(int64) == 1 {
		var lead []int64
		packed, _ := r[sourceTags].([]byte)
		for ; len(packed) >= 8; packed = packed[8:] {
			if tag := binary.LittleEndian.Uint64(packed); tag != backend.IDTag(id) && storerules.Leads(backend.Class(op.Class), tag) {
				lead = append(lead, int64(tag))
			}
		}
		if len(lead) > 0 {
			if err := c.do("INSERT INTO tags (ws, part, tag, source) SELECT $1, $2, x.tag, $4 FROM unnest($3::bigint[]) x (tag) ON CONFLICT DO NOTHING", part, lead, num); err != nil {
				return err
			}
		}
	}
	for _, o := range op.Owned {
		var err error
		switch o.Table {
		case move.Blobs:
			data, _ := o.Row[3].([]byte)
			err = (&tx{c: c}).storeBlobs(num, []backend.Blob{{Kind: backend.ContentKind(o.Row[1].(int64)), Data: data}}, true)
		case move.Chunks:
			err = s.insert(c, o.Table, o.Row, "key_hash", keyHash(part, string(o.Row[4].([]byte))))
		default:
			err = s.insert(c, o.Table, o.Row)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", o.Table.Name, err)
		}
	}
	return nil
}

func putLedger(c *conn, r move.Row) error {
	return c.do(`UPDATE ledgers SET rev = rev + 1, source = $2, chunk = $3, entity = $4, relation = $5, merge_no = $6, event = $7, part = $8, succession = $9, seq = $10,
		feed_start = $11, completed = $12, errored = $13, retractions = $14,
		epoch = coalesce((SELECT e.epoch FROM epochs e WHERE e.ws = ledgers.ws ORDER BY e.num DESC LIMIT 1), 0) WHERE ws = $1`, r[1:]...)
}
