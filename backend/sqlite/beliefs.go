package sqlite

import "cmp"

// What is believed of a subject and a predicate is a function of the relations that
// are there, not of the order in which they came: a functional relation is retired by
// the next functional one in the order of what they speak of, any relation by the next
// retraction of its object, whichever comes first. So taking a relation away leaves what
// would be there without it. Only relations that a change can touch are weighed.

// fact is what weighing needs of a relation.
type fact struct {
	num, source, from, to, ord, flags int64
	predicate, object                 string
	supersededBy                      int64
	knownFrom, knownTo                any // nil or microseconds
}

const factCols = "num, source, from_id, to_id, ord, flags, predicate, object, superseded_by, known_from, known_to"

const factWidth = 11 // columns of factCols

func readFact(r *row) fact {
	return fact{
		num: r.int(0), source: r.int(1), from: r.int(2), to: r.int(3), ord: r.int(4), flags: r.int(5), predicate: r.str(6), object: r.str(7),
		supersededBy: r.int(8), knownFrom: r.vals[9], knownTo: r.vals[10],
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

// place is an end of a relation.
type place struct {
	num   int64 // 0: a literal
	root  int64 // what the entity stands for, once found
	found bool
	alone bool // it is known that nothing else stands for root
}

// rootAt is what an end of a relation stands for.
func (t *tx) rootAt(part int64, p *place) (_ int64, err error) {
	if !p.found {
		if p.root, err = t.rootOf(part, p.num); err != nil {
			return 0, err
		}
		p.found = true
	}
	return p.root, nil
}

// groupAt is the group of an end of a relation.
func (t *tx) groupAt(part int64, p *place) (group, error) {
	root, err := t.rootAt(part, p)
	if err != nil || root == 0 || p.alone {
		return group{root}, err
	}
	return t.groupOf(part, root)
}

// groupOf returns the group of an entity that stands for itself.
func (t *tx) groupOf(part, entity int64) (group, error) {
	aliases, err := t.aliasesOf(part)
	if err != nil {
		return nil, err
	}
	if len(aliases.into) == 0 {
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
	if err != nil || len(aliases.into) == 0 || entity == 0 {
		return entity, err
	}
	if err := t.settleUses(); err != nil {
		return 0, err
	}
	rs := roots{c: t.c, merged: true, known: make(map[int64]int64)}
	return rs.of(entity)
}

// weighNew settles what a relation just stored, between from and to, retires, and what retires it.
func (t *tx) weighNew(part int64, f *fact, from, to *place) error {
	if f.flags == 0 && t.led.retractions == 0 {
		return nil
	}
	g, err := t.groupAt(part, from)
	if err != nil {
		return err
	}
	if f.flags != 0 {
		touched, err := t.touchedBy(part, g, to, f)
		if err != nil {
			return err
		}
		for i := range touched { // they are of the same group
			if err := t.weigh(part, g, &place{num: touched[i].to}, &touched[i]); err != nil {
				return err
			}
		}
	}
	return t.weigh(part, g, to, f)
}

// touchedBy returns the relations that f may retire, which come before it: of a
// functional one the last functional one of each member, of a retraction those of its
// object back to the last retraction of that.
func (t *tx) touchedBy(part int64, g group, to *place, f *fact) (out []fact, err error) {
	if f.flags&retracts == 0 {
		for _, from := range g {
			_, err := t.c.one(bg, "SELECT "+factCols+` FROM relations INDEXED BY relations_functional
				WHERE flags = 1 AND from_id = ? AND predicate = ? AND (ord, source, num) < (?, ?, ?)
				ORDER BY ord DESC, source DESC, num DESC LIMIT 1`, func(r *row) error {
				out = append(out, readFact(r))
				return nil
			}, from, f.predicate, f.ord, f.source, f.num)
			if err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	object, err := t.rootAt(part, to)
	if err != nil {
		return nil, err
	}
	var last *fact
	for _, from := range g {
		x, err := t.retraction(part, from, to, f, true)
		if err != nil {
			return nil, err
		}
		if x != nil && (last == nil || last.before(x)) {
			last = x
		}
	}
	since := fact{ord: never}
	if last != nil {
		since = *last
	}
	for _, from := range g {
		var found []fact
		err = t.c.each(bg, "SELECT "+factCols+` FROM relations INDEXED BY relations_from
			WHERE from_id = ? AND predicate = ? AND (ord, source, num) >= (?, ?, ?) AND (ord, source, num) < (?, ?, ?)
			AND object = ? AND flags < 2`, func(r *row) error {
			found = append(found, readFact(r))
			return nil
		}, from, f.predicate, since.ord, since.source, since.num, f.ord, f.source, f.num, f.object)
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
	}
	return out, nil
}

// retraction finds the retraction of what f says by an entity that is nearest to f: before it when back, else
// behind it. Objects count as one when they stand for one entity.
func (t *tx) retraction(part, from int64, to *place, f *fact, back bool) (near *fact, err error) {
	if t.led.retractions == 0 {
		return nil, nil
	}
	objects, err := t.groupAt(part, to)
	if err != nil {
		return nil, err
	}
	where := "(ord, source, num) > (?, ?, ?) ORDER BY ord, source, num LIMIT 1"
	if back {
		where = "(ord, source, num) < (?, ?, ?) ORDER BY ord DESC, source DESC, num DESC LIMIT 1"
	}
	for _, object := range objects {
		_, err := t.c.one(bg, "SELECT "+factCols+` FROM relations INDEXED BY relations_retracting
			WHERE flags > 1 AND from_id = ? AND predicate = ? AND to_id = ? AND object = ? AND `+where, func(r *row) error {
			if x := readFact(r); near == nil || back && near.before(&x) || !back && x.before(near) {
				near = &x
			}
			return nil
		}, from, f.predicate, object, f.object, f.ord, f.source, f.num)
		if err != nil {
			return nil, err
		}
	}
	return near, nil
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
		if err := t.weigh(part, g, &place{num: fs[i].to}, &fs[i]); err != nil {
			return err
		}
	}
	return nil
}

// weigh decides what retires f, which is stored.
func (t *tx) weigh(part int64, g group, to *place, f *fact) error {
	if f.flags&retracts != 0 {
		return nil
	}
	var by *fact
	for _, from := range g {
		if f.flags&functional != 0 {
			_, err := t.c.one(bg, "SELECT "+factCols+` FROM relations INDEXED BY relations_functional
				WHERE flags = 1 AND from_id = ? AND predicate = ? AND (ord, source, num) > (?, ?, ?)
				ORDER BY ord, source, num LIMIT 1`, func(r *row) error {
				if x := readFact(r); by == nil || x.before(by) {
					by = &x
				}
				return nil
			}, from, f.predicate, f.ord, f.source, f.num)
			if err != nil {
				return err
			}
		}
		x, err := t.retraction(part, from, to, f, false)
		if err != nil {
			return err
		}
		if x != nil && (by == nil || x.before(by)) {
			by = x
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
	return t.c.do("UPDATE relations SET known_to = ?, superseded_by = ? WHERE num = ?", knownTo, num, f.num)
}

// weighGroup decides again about all relations that a change of what an entity stands
// for can touch: those of the group, and those of which it is the object.
func (t *tx) weighGroup(part int64, g group) error {
	for _, entity := range g {
		var fs []fact
		err := t.c.each(bg, "SELECT "+factCols+` FROM relations WHERE num IN (
			SELECT num FROM relations INDEXED BY relations_from WHERE from_id = ?1
			UNION SELECT num FROM relations INDEXED BY relations_to WHERE to_id = ?1 AND to_id <> 0)`, func(r *row) error {
			fs = append(fs, readFact(r))
			return nil
		}, entity)
		if err != nil {
			return err
		}
		if err := t.weighAll(part, fs); err != nil {
			return err
		}
	}
	return nil
}
