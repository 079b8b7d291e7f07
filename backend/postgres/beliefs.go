package postgres

import "github.com/contextmem/contextmem/internal/storerules"

const factCols = "num, source, from_id, to_id, ord, flags, predicate_hash, object, superseded_by, known_from, known_to"

const factWidth = 11 // number of columns in factCols

func readFact(r *row) storerules.Fact {
	return storerules.Fact{
		Num: r.int(0), Source: r.int(1), From: r.int(2), To: r.int(3), Ord: r.int(4), Flags: r.int(5), Predicate: string(r.blob(6)), Object: r.str(7),
		SupersededBy: r.int(8), KnownFrom: r.optional(9), KnownTo: r.optional(10),
	}
}

// facts reads the relations selected by a query.
func (x rows) facts(sql string, args ...any) (out []storerules.Fact, err error) {
	err = x.t.c.each(bg, sql, func(r *row) error {
		out = append(out, readFact(r))
		return nil
	}, args...)
	return out, err
}

// first returns the first of the relations, or nil if there are none.
func first(fs []storerules.Fact, err error) (*storerules.Fact, error) {
	if err != nil || len(fs) == 0 {
		return nil, err
	}
	return &fs[0], nil
}

func (x rows) RetiredBy(nums []int64) ([]storerules.Fact, error) {
	return x.facts("SELECT "+factCols+" FROM relations WHERE ws = $1 AND superseded_by = ANY($2) AND superseded_by <> 0 ORDER BY num", nums)
}

func (x rows) FactsAt(g storerules.Group) ([]storerules.Fact, error) {
	return x.facts("SELECT "+factCols+` FROM relations WHERE ws = $1 AND num IN (
		SELECT num FROM relations WHERE ws = $1 AND from_id = ANY($2)
		UNION SELECT num FROM relations WHERE ws = $1 AND to_id = ANY($2) AND to_id <> 0) ORDER BY num`, []int64(g))
}

func (x rows) FunctionalBefore(g storerules.Group, f *storerules.Fact) ([]storerules.Fact, error) {
	return x.facts("SELECT DISTINCT ON (from_id) "+factCols+` FROM relations
		WHERE ws = $1 AND flags = 1 AND from_id = ANY($2) AND predicate_hash = $3 AND (ord, source, num) < ($4, $5, $6)
		ORDER BY from_id, ord DESC, source DESC, num DESC`, []int64(g), []byte(f.Predicate), f.Ord, f.Source, f.Num)
}

func (x rows) FunctionalAfter(g storerules.Group, f *storerules.Fact) (*storerules.Fact, error) {
	return first(x.facts("SELECT "+factCols+` FROM relations
		WHERE ws = $1 AND flags = 1 AND from_id = ANY($2) AND predicate_hash = $3 AND (ord, source, num) > ($4, $5, $6)
		ORDER BY ord, source, num LIMIT 1`, []int64(g), []byte(f.Predicate), f.Ord, f.Source, f.Num))
}

func (x rows) Retraction(g, objects storerules.Group, f *storerules.Fact, back bool) (*storerules.Fact, error) {
	where := "(ord, source, num) > ($6, $7, $8) ORDER BY ord, source, num LIMIT 1"
	if back {
		where = "(ord, source, num) < ($6, $7, $8) ORDER BY ord DESC, source DESC, num DESC LIMIT 1"
	}
	return first(x.facts("SELECT "+factCols+` FROM relations
		WHERE ws = $1 AND flags > 1 AND from_id = ANY($2) AND predicate_hash = $3 AND to_id = ANY($4) AND object = $5 AND `+where,
		[]int64(g), []byte(f.Predicate), []int64(objects), f.Object, f.Ord, f.Source, f.Num))
}

func (x rows) Retractable(g storerules.Group, f, since *storerules.Fact) ([]storerules.Fact, error) {
	return x.facts("SELECT "+factCols+` FROM relations
		WHERE ws = $1 AND from_id = ANY($2) AND predicate_hash = $3 AND (ord, source, num) >= ($4, $5, $6) AND (ord, source, num) < ($7, $8, $9)
		AND object = $10 AND flags < 2`, []int64(g), []byte(f.Predicate), since.Ord, since.Source, since.Num, f.Ord, f.Source, f.Num, f.Object)
}

func (x rows) SetRetired(num int64, knownTo any, by int64) error {
	return x.t.c.do("UPDATE relations SET known_to = $2, superseded_by = $3 WHERE ws = $1 AND num = $4", knownTo, by, num)
}
