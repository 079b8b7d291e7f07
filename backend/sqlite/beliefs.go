package sqlite

import (
	"errors"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

const factCols = "num, source, from_id, to_id, ord, flags, predicate, object, superseded_by, known_from, known_to"

const factWidth = 11 // columns of factCols

func readFact(r *row) storerules.Fact {
	return storerules.Fact{
		Num: r.int(0), Source: r.int(1), From: r.int(2), To: r.int(3), Ord: r.int(4), Flags: r.int(5), Predicate: r.str(6), Object: r.str(7),
		SupersededBy: r.int(8), KnownFrom: r.learnt(9, 4), KnownTo: r.vals[10],
	}
}

// readSound is readFact that reports whether the fact is not damaged. One that is damaged retires nothing and is not retired.
func readSound(r *row) (storerules.Fact, bool) {
	f := readFact(r)
	if errors.Is(r.err, backend.ErrCorrupt) {
		r.err = nil
		return f, false
	}
	return f, true
}

// facts adds the relations that a condition selects.
func (x rows) facts(out *[]storerules.Fact, where string, args ...any) error {
	return x.t.c.each(bg, "SELECT "+factCols+" FROM relations "+where, func(r *row) error {
		if f, ok := readSound(r); ok {
			*out = append(*out, f)
		}
		return nil
	}, args...)
}

func (x rows) RetiredBy(nums []int64) (out []storerules.Fact, err error) {
	for _, num := range nums {
		if err := x.facts(&out, "INDEXED BY relations_retired WHERE superseded_by = ? AND superseded_by <> 0", num); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (x rows) FactsAt(g storerules.Group) (out []storerules.Fact, err error) {
	for _, entity := range g {
		err := x.facts(&out, `WHERE num IN (
			SELECT num FROM relations INDEXED BY relations_from WHERE from_id = ?1
			UNION SELECT num FROM relations INDEXED BY relations_to WHERE to_id = ?1 AND to_id <> 0)`, entity)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (x rows) FunctionalBefore(g storerules.Group, f *storerules.Fact) (out []storerules.Fact, err error) {
	for _, from := range g {
		err := x.facts(&out, `INDEXED BY relations_functional
			WHERE flags = 1 AND from_id = ? AND predicate = ? AND (ord, source, num) < (?, ?, ?)
			ORDER BY ord DESC, source DESC, num DESC LIMIT 1`, from, f.Predicate, f.Ord, f.Source, f.Num)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (x rows) FunctionalAfter(g storerules.Group, f *storerules.Fact) (next *storerules.Fact, err error) {
	for _, from := range g {
		_, err := x.t.c.one(bg, "SELECT "+factCols+` FROM relations INDEXED BY relations_functional
			WHERE flags = 1 AND from_id = ? AND predicate = ? AND (ord, source, num) > (?, ?, ?)
			ORDER BY ord, source, num LIMIT 1`, func(r *row) error {
			if found, ok := readSound(r); ok && (next == nil || found.Before(next)) {
				next = &found
			}
			return nil
		}, from, f.Predicate, f.Ord, f.Source, f.Num)
		if err != nil {
			return nil, err
		}
	}
	return next, nil
}

func (x rows) Retraction(g, objects storerules.Group, f *storerules.Fact, back bool) (near *storerules.Fact, err error) {
	where := "(ord, source, num) > (?, ?, ?) ORDER BY ord, source, num LIMIT 1"
	if back {
		where = "(ord, source, num) < (?, ?, ?) ORDER BY ord DESC, source DESC, num DESC LIMIT 1"
	}
	for _, from := range g {
		may, err := x.t.retracts(from)
		if err != nil {
			return nil, err
		}
		for _, object := range objects {
			if !may {
				break
			}
			_, err := x.t.c.one(bg, "SELECT "+factCols+` FROM relations INDEXED BY relations_retracting
				WHERE flags > 1 AND from_id = ? AND predicate = ? AND to_id = ? AND object = ? AND `+where, func(r *row) error {
				if found, ok := readSound(r); ok && (near == nil || back && near.Before(&found) || !back && found.Before(near)) {
					near = &found
				}
				return nil
			}, from, f.Predicate, object, f.Object, f.Ord, f.Source, f.Num)
			if err != nil {
				return nil, err
			}
		}
	}
	return near, nil
}

func (x rows) Retractable(g storerules.Group, f, since *storerules.Fact) (out []storerules.Fact, err error) {
	for _, from := range g {
		err := x.facts(&out, `INDEXED BY relations_from
			WHERE from_id = ? AND predicate = ? AND (ord, source, num) >= (?, ?, ?) AND (ord, source, num) < (?, ?, ?)
			AND object = ? AND flags < 2`, from, f.Predicate, since.Ord, since.Source, since.Num, f.Ord, f.Source, f.Num, f.Object)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (x rows) SetRetired(num int64, knownTo any, by int64) error {
	return x.t.c.do("UPDATE relations SET known_to = ?, superseded_by = ? WHERE num = ?", knownTo, by, num)
}
