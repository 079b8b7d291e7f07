package storerules

import "cmp"

// What is believed of a subject and a predicate is a function of the relations that are there, not of the order in which they came: a
// functional relation is retired by the next functional one in the order of what they speak of, any relation by the next retraction of
// its object, whichever comes first. So taking a relation away leaves what would be there without it. Only relations that a change can
// touch are weighed.

// Fact is what weighing needs of a relation.
type Fact struct {
	Num, Source, From, To, Ord, Flags int64
	Predicate                         string // what the store finds a predicate by
	Object                            string // a literal
	SupersededBy                      int64
	KnownFrom, KnownTo                any // nil or microseconds
}

// Before reports whether f comes before x in the order of rivals.
func (f *Fact) Before(x *Fact) bool {
	return cmp.Or(cmp.Compare(f.Ord, x.Ord), cmp.Compare(f.Source, x.Source), cmp.Compare(f.Num, x.Num)) < 0
}

// retiredAt is KnownTo of a relation that by retires, false when neither was learnt at a known time.
func (f *Fact) retiredAt(by *Fact) (any, bool) {
	a, _ := f.KnownFrom.(int64)
	b, ok := by.KnownFrom.(int64)
	if f.KnownFrom != nil && (!ok || a > b) {
		return f.KnownFrom, true
	}
	return by.KnownFrom, ok
}

// rootAt is what an end of a relation stands for.
func (t *Tx) rootAt(part int64, e *end) (_ int64, err error) {
	if !e.found {
		if e.root, err = t.rootOf(part, e.num); err != nil {
			return 0, err
		}
		e.found = true
	}
	return e.root, nil
}

// groupAt is the group of an end of a relation.
func (t *Tx) groupAt(part int64, e *end) (Group, error) {
	root, err := t.rootAt(part, e)
	if err != nil || root == 0 || e.alone {
		return Group{root}, err
	}
	return t.groupOf(part, root)
}

// groupOf returns the group of an entity that stands for itself.
func (t *Tx) groupOf(part, entity int64) (Group, error) {
	aliases, err := t.aliasesOf(part)
	if err != nil {
		return nil, err
	}
	if len(aliases.into) == 0 {
		return Group{entity}, nil
	}
	// The rows of entities made by this call must be there to be found.
	if err := t.settleUses(); err != nil {
		return nil, err
	}
	return t.Rows.Members(entity)
}

// rootOf is the entity that another stands for.
func (t *Tx) rootOf(part, entity int64) (int64, error) {
	aliases, err := t.aliasesOf(part)
	if err != nil || len(aliases.into) == 0 || entity == 0 {
		return entity, err
	}
	if err := t.settleUses(); err != nil {
		return 0, err
	}
	return t.Rows.RootOf(entity)
}

// weighNew settles what a relation just stored, between from and to, retires, and what retires it.
func (t *Tx) weighNew(part int64, f *Fact, from, to *end) error {
	if f.Flags == 0 && t.Numbers.Retractions == 0 {
		return nil
	}
	g, err := t.groupAt(part, from)
	if err != nil {
		return err
	}
	if f.Flags != 0 {
		touched, err := t.touchedBy(part, g, to, f)
		if err != nil {
			return err
		}
		for i := range touched { // they are of the same group
			if err := t.weigh(part, g, &end{num: touched[i].To}, &touched[i]); err != nil {
				return err
			}
		}
	}
	return t.weigh(part, g, to, f)
}

// touchedBy returns the relations that f may retire, which come before it: of a functional one the last functional one of each member,
// of a retraction those of its object back to the last retraction of that.
func (t *Tx) touchedBy(part int64, g Group, to *end, f *Fact) ([]Fact, error) {
	if f.Flags&Retracts == 0 {
		return t.Rows.FunctionalBefore(g, f)
	}
	object, err := t.rootAt(part, to)
	if err != nil {
		return nil, err
	}
	last, err := t.retraction(part, g, to, f, true)
	if err != nil {
		return nil, err
	}
	if last == nil {
		last = &Fact{Ord: Never}
	}
	found, err := t.Rows.Retractable(g, f, last)
	if err != nil {
		return nil, err
	}
	var out []Fact
	for i := range found {
		to, err := t.rootOf(part, found[i].To)
		if err != nil {
			return nil, err
		}
		if to == object {
			out = append(out, found[i])
		}
	}
	return out, nil
}

// retraction finds the retraction of what f says by a group that is nearest to f: before it when back, else behind it. Objects count as
// one when they stand for one entity.
func (t *Tx) retraction(part int64, g Group, to *end, f *Fact, back bool) (*Fact, error) {
	if t.Numbers.Retractions == 0 {
		return nil, nil
	}
	objects, err := t.groupAt(part, to)
	if err != nil {
		return nil, err
	}
	return t.Rows.Retraction(g, objects, f, back)
}

// weighAll decides again what retires each of some relations.
func (t *Tx) weighAll(part int64, fs []Fact) error {
	for i := range fs {
		root, err := t.rootOf(part, fs[i].From)
		if err != nil {
			return err
		}
		g, err := t.groupOf(part, root)
		if err != nil {
			return err
		}
		if err := t.weigh(part, g, &end{num: fs[i].To}, &fs[i]); err != nil {
			return err
		}
	}
	return nil
}

// weigh decides what retires f, which is stored.
func (t *Tx) weigh(part int64, g Group, to *end, f *Fact) error {
	if f.Flags&Retracts != 0 {
		return nil
	}
	by, err := t.retraction(part, g, to, f, false)
	if err != nil {
		return err
	}
	if f.Flags&Functional != 0 {
		next, err := t.Rows.FunctionalAfter(g, f)
		if err != nil {
			return err
		}
		if next != nil && (by == nil || next.Before(by)) {
			by = next
		}
	}
	knownTo, num := any(nil), int64(0)
	if by != nil {
		if at, ok := f.retiredAt(by); ok {
			knownTo, num = at, by.Num
		}
	}
	if f.SupersededBy == num && f.KnownTo == knownTo {
		return nil
	}
	f.SupersededBy, f.KnownTo = num, knownTo
	return t.Rows.SetRetired(f.Num, knownTo, num)
}

// weighGroup decides again about all relations that a change of what an entity stands for can touch: those of the group, and those of
// which it is the object.
func (t *Tx) weighGroup(part int64, g Group) error {
	fs, err := t.Rows.FactsAt(g)
	if err != nil {
		return err
	}
	return t.weighAll(part, fs)
}
