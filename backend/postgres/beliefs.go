package postgres

import "cmp"

// What is believed of a subject and a predicate is a function of the relations that
// are there, not of the order in which they came: a functional relation is retired by
// the next functional one in the order of what they speak of, any relation by the next
// retraction of its object, whichever comes first. So taking a relation away leaves what
// would be there without it. Only relations that a change can touch are weighed.

// fact is what weighing needs of a relation.
type fact struct {
	num, source, from, to, ord, flags int64
	predicateHash                     []byte
	object                            string
	supersededBy                      int64
	knownFrom, knownTo                any // nil or microseconds
}

const factCols = "num, source, from_id, to_id, ord, flags, predicate_hash, object, superseded_by, known_from, known_to"

const factWidth = 11 // columns of factCols

func readFact(r *row) fact {
	return fact{
		num: r.int(0), source: r.int(1), from: r.int(2), to: r.int(3), ord: r.int(4), flags: r.int(5), predicateHash: r.blob(6), object: r.str(7),
		supersededBy: r.int(8), knownFrom: r.optional(9), knownTo: r.optional(10),
	}
}

// before reports whether f comes before x in the order of rivals.
func (f *fact) before(x *fact) bool {
	return cmp.Or(cmp.Compare(f.ord, x.ord), cmp.Compare(f.source, x.source), cmp.Compare(f.num, x.num)) < 0
}

// ownEnd is known_to of a relation that nothing retires: a retraction is never believed.
func (f *fact) ownEnd() any {
	if f.flags&retracts == 0 {
		return nil
	}
	return f.knownFrom
}

// end is known_to of a relation that by retires, false when neither was learnt at a
// known time.
func (f *fact) end(by *fact) (any, bool) {
	a, _ := f.knownFrom.(int64)
	b, ok := by.knownFrom.(int64)
	if f.knownFrom != nil && (!ok || a > b) {
		return f.knownFrom, true
	}
	return by.knownFrom, ok
}

// group is the entities whose relations can retire one another: one entity, and those
// folded into it.
type group []int64

// groupOf returns the group of an entity that stands for itself.
func (t *tx) groupOf(part, entity int64) (group, error) {
	aliases, err := t.aliasesOf(part)
	if err != nil {
		return nil, err
	}
	if len(aliases) == 0 {
		return group{entity}, nil
	}
	// The rows of entities made by this call must be there to be found.
	if err := t.settleUses(); err != nil {
		return nil, err
	}
	return t.members(entity)
}

// rootOf is the entity that another stands for.
func (t *tx) rootOf(part, entity int64) (int64, error) {
	aliases, err := t.aliasesOf(part)
	if err != nil || len(aliases) == 0 || entity == 0 {
		return entity, err
	}
	if err := t.settleUses(); err != nil {
		return 0, err
	}
	rs, err := newRoots(bg, t.c)
	if err != nil {
		return 0, err
	}
	return rs.of(bg, entity)
}

// weighNew settles what a relation just stored retires, and what retires it.
func (t *tx) weighNew(part int64, f *fact) error {
	root, err := t.rootOf(part, f.from)
	if err != nil {
		return err
	}
	g, err := t.groupOf(part, root)
	if err != nil {
		return err
	}
	object, err := t.rootOf(part, f.to)
	if err != nil {
		return err
	}
	if f.flags != 0 {
		touched, err := t.touchedBy(part, g, object, f)
		if err != nil {
			return err
		}
		if err := t.weighAll(part, touched); err != nil {
			return err
		}
	}
	return t.weigh(part, g, object, f)
}

// touchedBy returns the relations that f may retire, which come before it: of a
// functional one the last functional one of each member, of a retraction those of its
// object back to the last retraction of that.
func (t *tx) touchedBy(part int64, g group, object int64, f *fact) (out []fact, err error) {
	if f.flags&retracts == 0 {
		err := t.c.each(bg, "SELECT DISTINCT ON (from_id) "+factCols+` FROM relations
			WHERE ws = $1 AND flags = 1 AND from_id = ANY($2) AND predicate_hash = $3 AND (ord, source, num) < ($4, $5, $6)
			ORDER BY from_id, ord DESC, source DESC, num DESC`, func(r *row) error {
			out = append(out, readFact(r))
			return nil
		}, []int64(g), f.predicateHash, f.ord, f.source, f.num)
		return out, err
	}
	last, err := t.retraction(part, g, object, f, true)
	if err != nil {
		return nil, err
	}
	since := fact{ord: never}
	if last != nil {
		since = *last
	}
	var found []fact
	err = t.c.each(bg, "SELECT "+factCols+` FROM relations
		WHERE ws = $1 AND from_id = ANY($2) AND predicate_hash = $3 AND (ord, source, num) >= ($4, $5, $6) AND (ord, source, num) < ($7, $8, $9)
		AND object = $10 AND flags < 2`, func(r *row) error {
		found = append(found, readFact(r))
		return nil
	}, []int64(g), f.predicateHash, since.ord, since.source, since.num, f.ord, f.source, f.num, f.object)
	if err != nil {
		return nil, err
	}
	for i := range found {
		to, err := t.rootOf(part, found[i].to)
		if err != nil {
			return nil, err
		}
		if to == object {
			out = append(out, found[i])
		}
	}
	return out, nil
}

// retraction finds the retraction of what f says by a group that is nearest to f: before it when back, else
// behind it. Objects count as one when they stand for one entity.
func (t *tx) retraction(part int64, g group, object int64, f *fact, back bool) (near *fact, err error) {
	if t.led.retractions == 0 {
		return nil, nil
	}
	objects := group{object}
	if object != 0 {
		if objects, err = t.groupOf(part, object); err != nil {
			return nil, err
		}
	}
	where := "(ord, source, num) > ($6, $7, $8) ORDER BY ord, source, num LIMIT 1"
	if back {
		where = "(ord, source, num) < ($6, $7, $8) ORDER BY ord DESC, source DESC, num DESC LIMIT 1"
	}
	_, err = t.c.one(bg, "SELECT "+factCols+` FROM relations
		WHERE ws = $1 AND flags > 1 AND from_id = ANY($2) AND predicate_hash = $3 AND to_id = ANY($4) AND object = $5 AND `+where, func(r *row) error {
		near = new(readFact(r))
		return nil
	}, []int64(g), f.predicateHash, []int64(objects), f.object, f.ord, f.source, f.num)
	return near, err
}

// weighAll decides again what retires each of some relations.
func (t *tx) weighAll(part int64, fs []fact) error {
	for i := range fs {
		root, err := t.rootOf(part, fs[i].from)
		if err != nil {
			return err
		}
		g, err := t.groupOf(part, root)
		if err != nil {
			return err
		}
		object, err := t.rootOf(part, fs[i].to)
		if err != nil {
			return err
		}
		if err := t.weigh(part, g, object, &fs[i]); err != nil {
			return err
		}
	}
	return nil
}

// weigh decides what retires f, which is stored.
func (t *tx) weigh(part int64, g group, object int64, f *fact) error {
	if f.flags&retracts != 0 {
		return nil
	}
	by, err := t.retraction(part, g, object, f, false)
	if err != nil {
		return err
	}
	if f.flags&functional != 0 {
		_, err := t.c.one(bg, "SELECT "+factCols+` FROM relations
			WHERE ws = $1 AND flags = 1 AND from_id = ANY($2) AND predicate_hash = $3 AND (ord, source, num) > ($4, $5, $6)
			ORDER BY ord, source, num LIMIT 1`, func(r *row) error {
			if x := readFact(r); by == nil || x.before(by) {
				by = &x
			}
			return nil
		}, []int64(g), f.predicateHash, f.ord, f.source, f.num)
		if err != nil {
			return err
		}
	}
	knownTo, num := any(nil), int64(0)
	if by != nil {
		if end, ok := f.end(by); ok {
			knownTo, num = end, by.num
		}
	}
	if f.supersededBy == num && f.knownTo == knownTo {
		return nil
	}
	f.supersededBy, f.knownTo = num, knownTo
	return t.c.do("UPDATE relations SET known_to = $2, superseded_by = $3 WHERE ws = $1 AND num = $4", knownTo, num, f.num)
}

// weighGroup decides again about all relations that a change of what an entity stands
// for can touch: those of the group, and those of which it is the object.
func (t *tx) weighGroup(part int64, g group) error {
	var fs []fact
	err := t.c.each(bg, "SELECT "+factCols+` FROM relations WHERE ws = $1 AND num IN (
		SELECT num FROM relations WHERE ws = $1 AND from_id = ANY($2)
		UNION SELECT num FROM relations WHERE ws = $1 AND to_id = ANY($2) AND to_id <> 0) ORDER BY num`, func(r *row) error {
		fs = append(fs, readFact(r))
		return nil
	}, []int64(g))
	if err != nil {
		return err
	}
	return t.weighAll(part, fs)
}
