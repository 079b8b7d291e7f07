package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// Flags of a stored relation.
const (
	functional = 1
	retracts   = 2
)

// ends returns the keys that a relation uses; a fact with a literal object has one.
func ends(from, to string) []string {
	if to == "" || to == from {
		return []string{from}
	}
	return []string{from, to}
}

func (t *tx) addRelation(v *head, in *backend.Relation) error {
	t.led.relation++
	f := fact{num: t.led.relation, source: v.num, ord: micros(in.Asserted), predicate: in.Predicate, object: in.Object, knownFrom: stamp(in.KnownFrom)}
	if in.Asserted.IsZero() {
		f.ord = micros(in.KnownFrom)
	}
	from, err := t.use(v.part, in.FromKey, 0, nil)
	if err != nil {
		return err
	}
	to := place{found: true, alone: true}
	switch in.ToKey {
	case "":
	case in.FromKey:
		to = from
	default:
		if to, err = t.use(v.part, in.ToKey, 0, nil); err != nil {
			return err
		}
	}
	f.from, f.to = from.num, to.num
	if in.Functional {
		f.flags |= functional
	}
	if in.Retracts {
		f.flags |= retracts
		t.led.retractions++
	}
	var sum uint32
	sum, t.buf = relationSum(t.buf, in, v.num, v.first+in.Chunk)
	err = t.c.do(`INSERT INTO relations (num, part, source, chunk, from_id, to_id, ord, flags, valid_from, valid_to, known_to,
		confidence, predicate, from_key, to_key, raw, context, temporal, origin, kind, object, precision, known_from, crc)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		f.num, v.part, v.num, v.first+in.Chunk, f.from, f.to, f.ord, f.flags, stamp(in.ValidFrom), stamp(in.ValidTo),
		f.ownEnd(), confidence(in.Confidence), in.Predicate, in.FromKey, in.ToKey, in.Raw, in.Context, in.Temporal,
		in.Origin, in.Kind, in.Object, in.Precision, f.knownFrom, sum)
	if err != nil {
		return err
	}
	f.knownTo = f.ownEnd()
	return t.weighNew(v.part, &f, &from, &to)
}

// confidence is stored as SQLite can: it keeps no NaN.
func confidence(c float32) float64 {
	if c != c {
		return 0
	}
	return float64(c)
}

// clearRelations removes the relations of a version and gives back what they retired.
func (t *tx) clearRelations(v *head) error {
	var gone []fact
	var keys [][2]string
	err := t.c.each(bg, "SELECT "+factCols+", from_key, to_key FROM relations INDEXED BY relations_source WHERE source = ?",
		func(r *row) error {
			gone = append(gone, readFact(r))
			keys = append(keys, [2]string{r.str(factWidth), r.str(factWidth + 1)})
			return nil
		}, v.num)
	if err != nil || len(gone) == 0 {
		return err
	}
	if err := t.c.do("DELETE FROM relations WHERE source = ?", v.num); err != nil {
		return err
	}
	for i := range gone {
		if gone[i].flags&retracts != 0 {
			t.led.retractions--
		}
		var retired []fact
		err := t.c.each(bg, "SELECT "+factCols+` FROM relations INDEXED BY relations_retired
			WHERE superseded_by = ? AND superseded_by <> 0`, func(r *row) error {
			retired = append(retired, readFact(r))
			return nil
		}, gone[i].num)
		if err != nil {
			return err
		}
		if err := t.weighAll(v.part, retired); err != nil {
			return err
		}
	}
	// Only now: weighing follows entities that may go.
	for _, k := range keys {
		for _, key := range ends(k[0], k[1]) {
			if err := t.unuse(v.part, key, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

const relationCols = `r.num, r.source, r.chunk, r.from_id, r.to_id, r.ord, r.flags, r.superseded_by, r.valid_from,
	r.valid_to, r.known_to, r.confidence, r.predicate, r.from_key, r.to_key, r.raw, r.context, r.temporal, r.origin,
	r.kind, r.object, r.precision, r.part, r.known_from, r.crc`

// relationCrc is the place of the checksum in relationCols.
const relationCrc = 24

func readRelation(r *row) backend.Relation {
	rel := backend.Relation{
		Num: r.int(0), Source: r.int(1), Chunk: r.int(2), From: r.int(3), To: r.int(4),
		SupersededBy: r.int(7), ValidFrom: r.time(8), ValidTo: r.time(9), KnownTo: r.time(10),
		Confidence: float32(r.float(11)), Predicate: r.str(12), FromKey: r.str(13), ToKey: r.str(14), Raw: r.str(15),
		Context: r.str(16), Temporal: r.str(17), Origin: r.str(18), Kind: r.str(19), Object: r.str(20), Precision: r.str(21),
		Functional: r.int(6)&functional != 0, Retracts: r.int(6)&retracts != 0, KnownFrom: r.time(23),
	}
	if ord := r.int(5); ord != never && !rel.KnownFrom.Equal(time.UnixMicro(ord)) {
		rel.Asserted = time.UnixMicro(ord).UTC()
	}
	if r.err == nil && !r.null(relationCrc) {
		var sum uint32
		sum, r.buf = relationSum(r.buf, &rel, rel.Source, rel.Chunk)
		r.sealed(relationCrc, sum, "relation", rel.Num)
	}
	return rel
}

// readRelations reads what q asks for from the database.
func (s *store) readRelations(ctx context.Context, q backend.RelationQuery) (out []*backend.Relation, err error) {
	var lost losses
	err = s.read(ctx, func(c *conn) error {
		part, err := findPart(c, q.Part)
		if err != nil || part == 0 || q.Limit <= 0 {
			return err
		}
		return selectRelations(ctx, c, part, &q, &lost, func(rel *backend.Relation) bool {
			out = append(out, rel)
			return len(out) < q.Limit
		})
	})
	if err != nil {
		return nil, err
	}
	return out, lost.err()
}

// selectRelations calls f with the relations that q asks for, by number, until f has
// enough. Which index leads depends on what q names: versions, else chunks, else
// entities, else the partition.
func selectRelations(ctx context.Context, c *conn, part int64, q *backend.RelationQuery, lost *losses, f func(*backend.Relation) bool) error {
	sql, args := relationPlan(part, q)
	roots, err := newRoots(c)
	if err != nil {
		return err
	}
	if q.Own {
		roots.merged = false
	}
	enough := false
	step := func(r *row) error {
		rel := readRelation(r)
		if lost.skip(r) {
			return nil
		}
		if enough || r.err != nil || r.int(22) != part || !believed(&rel, q) ||
			q.Predicates != nil && !slices.Contains(q.Predicates, rel.Predicate) ||
			q.Sources != nil && !slices.Contains(q.Sources, rel.Source) ||
			q.Chunks != nil && !slices.Contains(q.Chunks, rel.Chunk) {
			return nil
		}
		if !q.AllTime && !q.AsOf.IsZero() {
			if ok, err := held(ctx, c, &rel, q); err != nil || !ok {
				return err
			}
		}
		var err error
		if rel.From, err = roots.of(rel.From); err != nil {
			return err
		}
		if rel.To != 0 {
			if rel.To, err = roots.of(rel.To); err != nil {
				return err
			}
		}
		if q.Entities != nil && !slices.Contains(q.Entities, rel.From) &&
			(rel.To == 0 || q.Predicates != nil || !slices.Contains(q.Entities, rel.To)) {
			return nil
		}
		enough = !f(new(rel))
		return nil
	}
	// Pages, so that a small limit never reads a large partition.
	const page = 1024
	for after := q.After; ; {
		n, last := 0, after
		err := c.each(ctx, sql, func(r *row) error {
			n++
			last = r.int(0)
			return step(r)
		}, append(slices.Clone(args), after, page)...)
		if err != nil || enough || n < page {
			return err
		}
		after = last
	}
}

// relationPlan returns the query that finds candidates of q, to which after and a
// limit are added.
func relationPlan(part int64, q *backend.RelationQuery) (sql string, args []any) {
	const tail = " AND r.num > ? ORDER BY r.num LIMIT ?"
	members := `WITH members (num) AS (SELECT value FROM json_each(?1)
				UNION SELECT e.num FROM json_each(?1) j JOIN entities e ON e.root = j.value AND e.root <> e.num)`
	if q.Own {
		members = "WITH members (num) AS (SELECT value FROM json_each(?1))"
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
	case q.Entities != nil:
		return "SELECT " + relationCols + ` FROM relations r WHERE r.num IN (
			` + members + `
			SELECT x.num FROM members m JOIN relations x INDEXED BY relations_from ON x.from_id = m.num
			UNION SELECT x.num FROM members m JOIN relations x INDEXED BY relations_to ON x.to_id = m.num AND x.to_id <> 0)` +
			tail, []any{jsonInts(q.Entities)}
	}
	return "SELECT " + relationCols + " FROM relations r INDEXED BY relations_part WHERE r.part = ?" + tail, []any{part}
}

// believed reports whether a relation is believed at the time that q asks for, and dated where q asks for that; with
// AsOf it may be retired.
func believed(r *backend.Relation, q *backend.RelationQuery) bool {
	switch {
	case q.Dated && r.ValidFrom.IsZero() && r.ValidTo.IsZero():
		return false
	case q.AllTime:
		return within(q.AsOf, r.ValidFrom, r.ValidTo)
	case r.Retracts || !q.KnownAt.IsZero() && r.KnownFrom.After(q.KnownAt):
		return false
	}
	return !q.AsOf.IsZero() || r.KnownTo.IsZero() || !q.KnownAt.IsZero() && r.KnownTo.After(q.KnownAt)
}

// held reports whether a relation held at the time that q asks for. It is called before
// its ends are replaced by what they stand for.
func held(ctx context.Context, c *conn, r *backend.Relation, q *backend.RelationQuery) (bool, error) {
	from, to := r.ValidFrom, r.ValidTo
	if from.IsZero() && r.Functional {
		first, err := first(ctx, c, r, q.KnownAt)
		if err != nil {
			return false, err
		}
		if !first {
			from = about(r)
		}
	}
	for num := r.SupersededBy; num != 0; {
		var by backend.Relation
		_, err := c.one(ctx, "SELECT "+relationCols+" FROM relations r WHERE r.num = ?", func(r *row) error {
			by = readRelation(r)
			return nil
		}, num)
		if err != nil && !errors.Is(err, backend.ErrCorrupt) { // what a damaged one says does not count
			return false, err
		}
		if num = by.SupersededBy; !q.KnownAt.IsZero() && by.KnownFrom.After(q.KnownAt) {
			continue
		}
		if began := began(&by); to.IsZero() || began.Before(to) {
			to = began
		}
		break
	}
	return within(q.AsOf, from, to), nil
}

// first reports whether no functional rival that was known at a time comes before a relation.
func first(ctx context.Context, c *conn, r *backend.Relation, known time.Time) (bool, error) {
	earlier, err := c.one(ctx, `SELECT 1 FROM (SELECT e.num FROM entities own JOIN entities e INDEXED BY entities_root ON e.root = own.root AND e.root <> e.num WHERE own.num = ?1
			UNION ALL SELECT root FROM entities WHERE num = ?1) m
		JOIN relations x INDEXED BY relations_functional ON x.flags = 1 AND x.from_id = m.num AND x.predicate = ?2
		WHERE (x.ord, x.source, x.num) < (?3, ?4, ?5) AND (?6 IS NULL OR coalesce(x.known_from, ?6) <= ?6) LIMIT 1`,
		func(*row) error { return nil }, r.From, r.Predicate, micros(about(r)), r.Source, r.Num, stamp(known))
	return !earlier, err
}

// about is the moment that a relation speaks of.
func about(r *backend.Relation) time.Time {
	if r.Asserted.IsZero() {
		return r.KnownFrom
	}
	return r.Asserted
}

// began is when a relation began to hold, or its object ceased to.
func began(r *backend.Relation) time.Time {
	switch {
	case r.Retracts && !r.ValidTo.IsZero():
		return r.ValidTo
	case !r.Retracts && !r.ValidFrom.IsZero():
		return r.ValidFrom
	}
	return about(r)
}

// within reports whether a time lies in a half-open period; the zero time does in all.
func within(at, from, to time.Time) bool {
	return at.IsZero() || !from.After(at) && (to.IsZero() || to.After(at))
}

// jsonInts is a list as json_each reads it.
func jsonInts(nums []int64) string {
	b, err := json.Marshal(nums)
	if err != nil || len(nums) == 0 {
		return "[]"
	}
	return string(b)
}

// jsonTexts is a list as json_each reads it.
func jsonTexts(texts []string) string {
	b, err := json.Marshal(texts)
	if err != nil || len(texts) == 0 {
		return "[]"
	}
	return string(b)
}
