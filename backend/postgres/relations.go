package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

func (x rows) AddRelation(v *head, in *backend.Relation, f *storerules.Fact) error {
	predicate := hashOf(in.Predicate)
	f.Predicate = string(predicate)
	return x.t.c.do(`INSERT INTO relations (ws, num, part, source, chunk, from_id, to_id, ord, flags, valid_from, valid_to, known_to,
		confidence, predicate_hash, predicate, from_key, to_key, raw, context, temporal, origin, kind, object, precision, known_from)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25)`,
		f.Num, v.Part, v.Num, v.First+in.Chunk, f.From, f.To, f.Ord, f.Flags, storerules.Stamp(in.ValidFrom), storerules.Stamp(in.ValidTo),
		f.KnownTo, in.Confidence, predicate, in.Predicate, in.FromKey, in.ToKey, in.Raw, in.Context, in.Temporal,
		in.Origin, in.Kind, in.Object, in.Precision, f.KnownFrom)
}

func (x rows) FactsOf(source int64) (fs []storerules.Fact, keys [][2]string, err error) {
	err = x.t.c.each(bg, "SELECT "+factCols+", from_key, to_key FROM relations WHERE ws = $1 AND source = $2",
		func(r *row) error {
			fs = append(fs, readFact(r))
			keys = append(keys, [2]string{r.str(factWidth), r.str(factWidth + 1)})
			return nil
		}, source)
	return fs, keys, err
}

func (x rows) RemoveRelations(source int64) error {
	return x.t.c.do("DELETE FROM relations WHERE ws = $1 AND source = $2", source)
}

const relationCols = `r.num, r.source, r.chunk, r.from_id, r.to_id, r.ord, r.flags, r.superseded_by, r.valid_from,
	r.valid_to, r.known_to, r.confidence, r.predicate, r.from_key, r.to_key, r.raw, r.context, r.temporal, r.origin,
	r.kind, r.object, r.precision, r.known_from`

func readRelation(r *row) backend.Relation {
	rel := backend.Relation{
		Num: r.int(0), Source: r.int(1), Chunk: r.int(2), From: r.int(3), To: r.int(4),
		SupersededBy: r.int(7), ValidFrom: r.time(8), ValidTo: r.time(9), KnownTo: r.time(10),
		Confidence: float32(r.float(11)), Predicate: r.str(12), FromKey: r.str(13), ToKey: r.str(14), Raw: r.str(15),
		Context: r.str(16), Temporal: r.str(17), Origin: r.str(18), Kind: r.str(19), Object: r.str(20), Precision: r.str(21),
		Functional: r.int(6)&storerules.Functional != 0, Retracts: r.int(6)&storerules.Retracts != 0, KnownFrom: r.time(22),
	}
	if ord := r.int(5); ord != storerules.Never && !rel.KnownFrom.Equal(time.UnixMicro(ord)) {
		rel.Asserted = time.UnixMicro(ord).UTC()
	}
	return rel
}

// relationPage is the number of candidates read at once, so that a small limit does not read a whole partition.
const relationPage = 1024

func (s *store) Relations(ctx context.Context, q backend.RelationQuery) (out []*backend.Relation, err error) {
	var lost losses
	err = s.read(ctx, func(c *conn) error {
		out, lost = nil, losses{}
		part, err := findPart(ctx, c, q.Part)
		if err != nil || part == 0 || q.Limit <= 0 {
			return err
		}
		rs, err := newRoots(ctx, c)
		if err != nil {
			return err
		}
		rs.merged = rs.merged && !q.Own
		sql, args := relationPlan(part, &q)
		size := min(relationPage, max(q.Limit, 64))
		for after := q.After; len(out) < q.Limit; {
			var page []backend.Relation
			err := c.each(ctx, sql, func(r *row) error {
				page = append(page, readRelation(r))
				return nil
			}, append(slices.Clone(args), after, size)...)
			if err != nil {
				return err
			}
			n := len(page)
			if n > 0 {
				after = page[n-1].Num
			}
			page = slices.DeleteFunc(page, func(rel backend.Relation) bool { return !asked(&rel, &q) })
			if err := chooseRelations(ctx, c, rs, page, &q, &out, &lost); err != nil || n < size {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, lost.Err()
}

// asked reports whether a relation matches q according to the relation's own columns.
func asked(rel *backend.Relation, q *backend.RelationQuery) bool {
	return storerules.Believed(rel, q) &&
		(q.Predicates == nil || slices.Contains(q.Predicates, rel.Predicate)) &&
		(q.Sources == nil || slices.Contains(q.Sources, rel.Source)) &&
		(q.Chunks == nil || slices.Contains(q.Chunks, rel.Chunk))
}

// chooseRelations appends to out the relations of a page that held at q.AsOf and involve one of q's entities, up to q's limit. It leaves out
// those whose entity is missing.
func chooseRelations(ctx context.Context, c *conn, rs *roots, page []backend.Relation, q *backend.RelationQuery, out *[]*backend.Relation, lost *losses) error {
	var ends []int64
	for i := range page {
		ends = append(ends, page[i].From, page[i].To)
	}
	if err := rs.meet(ctx, ends); err != nil {
		return err
	}
	for i := range page {
		rel := page[i]
		if len(*out) >= q.Limit {
			return nil
		}
		if !q.AllTime && !q.AsOf.IsZero() {
			if ok, err := held(ctx, c, &rel, q); err != nil {
				return err
			} else if !ok {
				continue
			}
		}
		err := rs.ends(ctx, &rel)
		if lost.Skips(err) {
			continue
		}
		if err != nil {
			return err
		}
		if q.Entities != nil && !slices.Contains(q.Entities, rel.From) &&
			(rel.To == 0 || q.Predicates != nil || !slices.Contains(q.Entities, rel.To)) {
			continue
		}
		*out = append(*out, &rel)
	}
	return nil
}

// ends replaces the ends of a relation by their roots.
func (rs *roots) ends(ctx context.Context, rel *backend.Relation) (err error) {
	if rel.From, err = rs.of(ctx, rel.From); err == nil && rel.To != 0 {
		rel.To, err = rs.of(ctx, rel.To)
	}
	if err != nil {
		err = fmt.Errorf("relation %d: %w", rel.Num, err)
	}
	return err
}

// relationPlan returns the query for the candidates of q, to which the caller adds the cursor and the limit. The fields of q determine the
// index: versions, else chunks, else entities, else predicates, else the partition.
func relationPlan(part int64, q *backend.RelationQuery) (sql string, args []any) {
	members := `WITH members (num) AS (SELECT unnest($3::bigint[]) UNION SELECT e.num FROM entities e WHERE e.ws = $1 AND e.root = ANY($3) AND e.root <> e.num) `
	if q.Own {
		members = "WITH members (num) AS (SELECT unnest($3::bigint[])) "
	}
	where := ""
	args = []any{part}
	switch {
	case q.Sources != nil:
		where, args = "r.source = ANY($3)", append(args, q.Sources)
	case q.Chunks != nil:
		where, args = "r.source IN (SELECT c.source FROM chunks c WHERE c.ws = $1 AND c.num = ANY($3))", append(args, q.Chunks)
	case q.Entities != nil && q.Predicates != nil:
		where = "r.num IN (" + members + `SELECT x.num FROM members m JOIN relations x ON x.ws = $1 AND x.from_id = m.num AND x.predicate_hash = ANY($4))`
		args = append(args, q.Entities, hashesOf(q.Predicates))
	case q.Entities != nil:
		where = "r.num IN (" + members + `SELECT x.num FROM members m JOIN relations x ON x.ws = $1 AND x.from_id = m.num
			UNION SELECT x.num FROM members m JOIN relations x ON x.ws = $1 AND x.to_id = m.num AND x.to_id <> 0)`
		args = append(args, q.Entities)
	case q.Predicates != nil:
		where, args = "r.predicate_hash = ANY($3)", append(args, hashesOf(q.Predicates))
	default:
		where = "true"
	}
	n := len(args) + 2
	return fmt.Sprintf("SELECT %s FROM relations r WHERE r.ws = $1 AND r.part = $2 AND %s AND r.num > $%d ORDER BY r.num LIMIT $%d", relationCols, where, n, n+1), args
}

// held reports whether a relation held at q.AsOf. It must be called before the ends of the relation are replaced by their roots.
func held(ctx context.Context, c *conn, rel *backend.Relation, q *backend.RelationQuery) (bool, error) {
	return storerules.HeldAt(rel, q, func(r *backend.Relation) (bool, error) { return earliest(ctx, c, r, q.KnownAt) },
		func(num int64) (by backend.Relation, err error) {
			_, err = c.one(ctx, "SELECT "+relationCols+" FROM relations r WHERE r.ws = $1 AND r.num = $2", func(r *row) error {
				by = readRelation(r)
				return nil
			}, num)
			return by, err
		})
}

// earliest reports whether no functional rival that was known at a time precedes a relation.
func earliest(ctx context.Context, c *conn, r *backend.Relation, known time.Time) (bool, error) {
	earlier, err := c.one(ctx, `SELECT 1 FROM entities own JOIN entities e ON e.ws = $1 AND (e.num = own.root OR e.root = own.root AND e.root <> e.num)
		JOIN relations x ON x.ws = $1 AND x.flags = 1 AND x.from_id = e.num AND x.predicate_hash = $3
		WHERE own.ws = $1 AND own.num = $2 AND (x.ord, x.source, x.num) < ($4, $5, $6) AND ($7::bigint IS NULL OR coalesce(x.known_from, $7) <= $7) LIMIT 1`,
		func(*row) error { return nil }, r.From, hashOf(r.Predicate), storerules.Micros(storerules.About(r)), r.Source, r.Num, storerules.Stamp(known))
	return !earlier, err
}
