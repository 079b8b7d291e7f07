package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

func (x rows) AddRelation(v *head, in *backend.Relation, f *storerules.Fact) error {
	f.Predicate = in.Predicate
	var sum uint32
	sum, x.t.buf = relationSum(x.t.buf, in, v.Num, v.First+in.Chunk)
	text := ""
	if in.Context != "" {
		var err error
		if text, err = x.t.textOf(v.Num, v.First+in.Chunk); err != nil {
			return err
		}
	}
	if in.Retracts {
		x.t.retracting.add(f.From)
	}
	return x.t.c.do(`INSERT INTO relations (num, part, source, chunk, from_id, to_id, ord, flags, valid_from, valid_to, known_to,
		confidence, predicate, from_key, to_key, raw, context, temporal, origin, kind, object, precision, known_from, crc)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		f.Num, v.Part, v.Num, v.First+in.Chunk, f.From, f.To, f.Ord, f.Flags, storerules.Stamp(in.ValidFrom), storerules.Stamp(in.ValidTo),
		f.KnownTo, confidence(in.Confidence), in.Predicate, in.FromKey, in.ToKey, in.Raw, shortContext(in.Context, text), in.Temporal,
		in.Origin, in.Kind, in.Object, in.Precision, shortLearnt(f.KnownFrom, f.Ord), sum)
}

// textOf returns the text of a chunk of the version whose relations are being stored.
func (t *tx) textOf(source, chunk int64) (text string, err error) {
	if t.chunkNum == chunk {
		return t.chunkText, nil
	}
	if text, ok := t.texts.of(source, chunk); ok {
		return text, nil
	}
	_, err = t.c.one(bg, "SELECT text FROM chunks WHERE num = ?", func(r *row) error {
		text = r.str(0)
		return nil
	}, chunk)
	t.chunkNum, t.chunkText = chunk, text
	return text, err
}

func (x rows) FactsOf(source int64) (fs []storerules.Fact, keys [][2]string, err error) {
	err = x.t.c.each(bg, "SELECT "+factCols+", from_key, to_key FROM relations INDEXED BY relations_source WHERE source = ?",
		func(r *row) error {
			fs = append(fs, readFact(r))
			keys = append(keys, [2]string{r.str(factWidth), r.str(factWidth + 1)})
			return nil
		}, source)
	return fs, keys, err
}

func (x rows) RemoveRelations(source int64) error {
	return x.t.c.do("DELETE FROM relations WHERE source = ?", source)
}

// confidence returns a value that SQLite can store, which has no NaN.
func confidence(c float32) float64 {
	if c != c {
		return 0
	}
	return float64(c)
}

const relationCols = `r.num, r.source, r.chunk, r.from_id, r.to_id, r.ord, r.flags, r.superseded_by, r.valid_from,
	r.valid_to, r.known_to, r.confidence, r.predicate, r.from_key, r.to_key, r.raw, r.context, r.temporal, r.origin,
	r.kind, r.object, r.precision, r.part, r.known_from, r.crc, ` + contextText

// Indexes in relationCols of the checksum and of the chunk's text.
const (
	relationCrc  = 24
	relationText = 25
)

func readRelation(r *row) backend.Relation {
	rel := backend.Relation{
		Num: r.int(0), Source: r.int(1), Chunk: r.int(2), From: r.int(3), To: r.int(4),
		SupersededBy: r.int(7), ValidFrom: r.time(8), ValidTo: r.time(9), KnownTo: r.time(10),
		Confidence: float32(r.float(11)), Predicate: r.str(12), FromKey: r.str(13), ToKey: r.str(14), Raw: r.str(15),
		Context: r.context(16, relationText), Temporal: r.str(17), Origin: r.str(18), Kind: r.str(19), Object: r.str(20), Precision: r.str(21),
		Functional: r.int(6)&storerules.Functional != 0, Retracts: r.int(6)&storerules.Retracts != 0,
	}
	if at, ok := r.learnt(23, 5).(int64); ok {
		rel.KnownFrom = time.UnixMicro(at).UTC()
	} else if !r.null(23) {
		r.wrong(23)
	}
	if ord := r.int(5); ord != storerules.Never && !rel.KnownFrom.Equal(time.UnixMicro(ord)) {
		rel.Asserted = time.UnixMicro(ord).UTC()
	}
	if r.err == nil && !r.null(relationCrc) {
		var sum uint32
		sum, r.buf = relationSum(r.buf, &rel, rel.Source, rel.Chunk)
		r.sealed(relationCrc, sum, "relation", rel.Num)
	}
	return rel
}

// readRelations reads the relations that match q from the database.
func (s *store) readRelations(ctx context.Context, q backend.RelationQuery) (out []*backend.Relation, err error) {
	err = s.readEachRelations(ctx, q.Part, []backend.RelationQuery{q}, func(_ int, rel *backend.Relation) { out = append(out, rel) })
	if !partial(err) {
		return nil, err
	}
	return out, err
}

// readEachRelations calls f with the index of each query and the relations that match it, in one snapshot. All queries are for one partition.
func (s *store) readEachRelations(ctx context.Context, part backend.Partition, qs []backend.RelationQuery, f func(i int, rel *backend.Relation)) error {
	var lost losses
	err := s.read(ctx, func(c *conn) error {
		part, err := findPart(c, part)
		if err != nil || part == 0 {
			return err
		}
		for i := range qs {
			n, limit := 0, qs[i].Limit
			if limit <= 0 {
				continue
			}
			err := selectRelations(ctx, c, part, &qs[i], &lost, func(rel *backend.Relation) bool {
				f(i, rel)
				n++
				return n < limit
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return lost.Err()
}

// selectRelations calls f with the relations that match q, by number, until f returns false.
// It uses the index for the first of these that q has: versions, chunks, entities, the
// partition.
func selectRelations(ctx context.Context, c *conn, part int64, q *backend.RelationQuery, lost *losses, f func(*backend.Relation) bool) error {
	m, err := newMatcher(ctx, c, part, q, lost)
	if err != nil {
		return err
	}
	sql, args := relationPlan(part, q)
	return eachRelationRow(ctx, c, sql, args, q, func(r *row) (enough bool, err error) {
		rel, err := m.match(r)
		return rel != nil && !f(rel), err
	})
}

// matcher reads the rows of relationCols that match a query.
type matcher struct {
	ctx   context.Context
	c     *conn
	part  int64
	q     *backend.RelationQuery
	lost  *losses
	roots *roots
}

func newMatcher(ctx context.Context, c *conn, part int64, q *backend.RelationQuery, lost *losses) (*matcher, error) {
	roots, err := newRoots(c)
	if err != nil {
		return nil, err
	}
	roots.merged = roots.merged && !q.Own
	return &matcher{ctx: ctx, c: c, part: part, q: q, lost: lost, roots: roots}, nil
}

// match returns the relation in a row, or nil if it does not match or is damaged.
func (m *matcher) match(r *row) (*backend.Relation, error) {
	q := m.q
	rel := readRelation(r)
	part := r.int(22)
	if m.lost.skip(r) {
		return nil, nil
	}
	if r.err != nil || part != m.part || !storerules.Believed(&rel, q) ||
		q.Predicates != nil && !slices.Contains(q.Predicates, rel.Predicate) ||
		q.Sources != nil && !slices.Contains(q.Sources, rel.Source) ||
		q.Chunks != nil && !slices.Contains(q.Chunks, rel.Chunk) {
		return nil, nil
	}
	if !q.AllTime && !q.AsOf.IsZero() {
		if ok, err := held(m.ctx, m.c, &rel, q); err != nil || !ok {
			return nil, m.lost.unless(err)
		}
	}
	var err error
	if rel.From, err = m.roots.of(rel.From); err != nil {
		return nil, m.lost.unless(err)
	}
	if rel.To != 0 {
		if rel.To, err = m.roots.of(rel.To); err != nil {
			return nil, m.lost.unless(err)
		}
	}
	if q.Entities != nil && !slices.Contains(q.Entities, rel.From) &&
		(rel.To == 0 || q.Predicates != nil || !slices.Contains(q.Entities, rel.To)) {
		return nil, nil
	}
	return &rel, nil
}

// eachRelationRow calls f with each row of a query for relations that match q, until f reports that it has enough. The query takes args, the
// number after which it begins, and its limit. The first column is the number. It reads page by page, so that a query with a small limit does not
// read a large partition.
func eachRelationRow(ctx context.Context, c *conn, sql string, args []any, q *backend.RelationQuery, f func(r *row) (enough bool, err error)) error {
	page := min(maxRelationPage, q.Limit+q.Limit/4+fewRelations) // mostly enough, since few relations are retired
	enough := false
	for after := q.After; ; page = min(maxRelationPage, 2*page) {
		n, last := 0, after
		err := c.each(ctx, sql, func(r *row) (err error) {
			n++
			last = r.int(0)
			if enough, err = f(r); enough && err == nil {
				err = io.EOF // ends the query
			}
			return err
		}, append(slices.Clone(args), after, page)...)
		if err != nil || enough || n < page {
			return err
		}
		after = last
	}
}

// Candidates that eachRelationRow reads with one query: those beyond the limit of the caller, and the most of all.
const (
	fewRelations    = 16
	maxRelationPage = 1024
)

// Tables of the entities in a JSON list, with and without those that were merged into them.
const (
	allMembers = `WITH members (num) AS (SELECT value FROM json_each(?1)
				UNION SELECT e.num FROM json_each(?1) j JOIN entities e ON e.root = j.value AND e.root <> e.num)`
	ownMembers = "WITH members (num) AS (SELECT value FROM json_each(?1))"
)

// ofEntities returns the end of a query for relations of the entities in a table of members. Of an entity with many relations, it keeps only as
// many numbers as the page has room for.
func ofEntities(members string) string {
	return ` FROM relations r WHERE r.num IN (
			` + members + `
			SELECT num FROM (SELECT x.num FROM members m CROSS JOIN relations x INDEXED BY relations_from ON x.from_id = m.num
				WHERE x.num > ?2 ORDER BY x.num LIMIT ?3)
			UNION SELECT num FROM (SELECT x.num FROM members m CROSS JOIN relations x INDEXED BY relations_to ON x.to_id = m.num AND x.to_id <> 0
				WHERE x.num > ?2 ORDER BY x.num LIMIT ?3)
			ORDER BY 1 LIMIT ?3) ORDER BY r.num`
}

// relationPlan returns the query that finds candidates of q. The caller adds the arguments
// after and limit.
func relationPlan(part int64, q *backend.RelationQuery) (sql string, args []any) {
	const tail = " AND r.num > ? ORDER BY r.num LIMIT ?"
	members := allMembers
	if q.Own {
		members = ownMembers
	}
	switch {
	case q.Sources != nil:
		return "SELECT " + relationCols + ` FROM relations r INDEXED BY relations_source
			WHERE r.source IN (SELECT value FROM json_each(?))` + tail, []any{jsonInts(q.Sources)}
	case q.Chunks != nil:
		return "SELECT " + relationCols + ` FROM relations r INDEXED BY relations_source WHERE r.source IN
			(SELECT c.source FROM json_each(?) j JOIN chunks c ON c.num = j.value)` + tail, []any{jsonInts(q.Chunks)}
	case q.Entities != nil && q.Predicates != nil:
		return "SELECT " + relationCols + ` FROM relations r WHERE r.num IN (
			` + members + `
			SELECT x.num FROM members m CROSS JOIN json_each(?2) k CROSS JOIN relations x INDEXED BY relations_from ON x.from_id = m.num AND x.predicate = k.value)` +
			tail, []any{jsonInts(q.Entities), jsonTexts(q.Predicates)}
	case len(q.Predicates) == 1 && q.Entities == nil:
		return "SELECT " + relationCols + " FROM relations r INDEXED BY relations_predicate WHERE r.part = ? AND r.predicate = ?" + tail, []any{part, q.Predicates[0]}
	case q.Predicates != nil && q.Entities == nil:
		return "SELECT " + relationCols + ` FROM relations r INDEXED BY relations_predicate WHERE r.part = ? AND r.predicate IN (SELECT value FROM json_each(?))` + tail,
			[]any{part, jsonTexts(q.Predicates)}
	case q.Entities != nil && q.Own:
		return "SELECT " + relationCols + ofEntities(ownMembers), []any{jsonInts(q.Entities)}
	case q.Entities != nil:
		return "SELECT " + relationCols + ofEntities(allMembers), []any{jsonInts(q.Entities)}
	}
	return "SELECT " + relationCols + " FROM relations r INDEXED BY relations_part WHERE r.part = ?" + tail, []any{part}
}

// held reports whether a relation held at q.AsOf. It must be called before the ends of the relation are replaced by their roots.
func held(ctx context.Context, c *conn, rel *backend.Relation, q *backend.RelationQuery) (bool, error) {
	return storerules.HeldAt(rel, q, func(r *backend.Relation) (bool, error) { return earliest(ctx, c, r, q.KnownAt) },
		func(num int64) (by backend.Relation, err error) {
			_, err = c.one(ctx, "SELECT "+relationCols+" FROM relations r WHERE r.num = ?", func(r *row) error {
				by = readRelation(r)
				return nil
			}, num)
			if errors.Is(err, backend.ErrCorrupt) { // ignore a damaged relation
				err = nil
			}
			return by, err
		})
}

// earliest reports whether no functional rival known at a time comes before a relation.
func earliest(ctx context.Context, c *conn, r *backend.Relation, known time.Time) (bool, error) {
	earlier, err := c.one(ctx, `SELECT 1 FROM (SELECT e.num FROM entities own JOIN entities e INDEXED BY entities_root ON e.root = own.root AND e.root <> e.num WHERE own.num = ?1
			UNION ALL SELECT root FROM entities WHERE num = ?1) m
		JOIN relations x INDEXED BY relations_functional ON x.flags = 1 AND x.from_id = m.num AND x.predicate = ?2
		WHERE (x.ord, x.source, x.num) < (?3, ?4, ?5) AND (?6 IS NULL OR coalesce(CASE x.known_from WHEN '' THEN x.ord ELSE x.known_from END, ?6) <= ?6) LIMIT 1`,
		func(*row) error { return nil }, r.From, r.Predicate, storerules.Micros(storerules.About(r)), r.Source, r.Num, storerules.Stamp(known))
	return !earlier, err
}

// jsonInts returns a list as JSON for json_each.
func jsonInts(nums []int64) string {
	b, err := json.Marshal(nums)
	if err != nil || len(nums) == 0 {
		return "[]"
	}
	return string(b)
}

// jsonTexts returns a list as JSON for json_each.
func jsonTexts(texts []string) string {
	b, err := json.Marshal(texts)
	if err != nil || len(texts) == 0 {
		return "[]"
	}
	return string(b)
}
