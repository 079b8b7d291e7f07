package storerules

import "cmp"

// Which relations of a subject and a predicate hold depends only on the stored relations, and not on the order in which they were stored. A
// functional relation is retired by the next functional one, in the order of the times about which they speak. Any relation is retired by the
// next retraction of its object. The earlier of the two counts. Removing a relation therefore has the same result as never having stored
// it. A change weighs again only the relations that it can affect.

// Fact holds the columns of a relation that weighing needs.
type Fact struct {
	Num, Source, From, To, Ord, Flags int64
	Predicate                         string // the store's key of the predicate
	Object                            string // a literal
	SupersededBy                      int64
	KnownFrom, KnownTo                any // nil or microseconds
}

// Before reports whether f comes before x in the order of rivals.
func (f *Fact) Before(x *Fact) bool {
	return cmp.Or(cmp.Compare(f.Ord, x.Ord), cmp.Compare(f.Source, x.Source), cmp.Compare(f.Num, x.Num)) < 0
}

// retiredAt returns KnownTo of f if by retires it: the later of both KnownFrom. It returns false if neither is known.
func (f *Fact) retiredAt(by *Fact) (any, bool) {
	a, _ := f.KnownFrom.(int64)
	b, ok := by.KnownFrom.(int64)
	if f.KnownFrom != nil && (!ok || a > b) {
		return f.KnownFrom, true
	}
	return by.KnownFrom, ok
}

// rootAt returns the root entity of an end of a relation.
func (t *Tx) rootAt(part int64, e *end) (_ int64, err error) {
	if !e.found {
		if e.root, err = t.rootOf(part, e.num); err != nil {
			return 0, err
		}
		e.found = true
	}
	return e.root, nil
}

// groupAt returns the group of an end of a relation.
func (t *Tx) groupAt(part int64, e *end) (Group, error) {
	root, err := t.rootAt(part, e)
	if err != nil || root == 0 || e.alone {
		return Group{root}, err
	}
	return t.groupOf(part, root)
}

// groupOf returns the group of a root entity.
func (t *Tx) groupOf(part, entity int64) (Group, error) {
	aliases, err := t.aliasesOf(part)
	if err != nil {
		return nil, err
	}
	if len(aliases.into) == 0 {
		return Group{entity}, nil
	}
	// The query needs the rows of entities that this call has made.
	if err := t.settleUses(); err != nil {
		return nil, err
	}
	return t.Rows.Members(entity)
}

// rootOf returns the root of an entity.
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

// weighNew determines which relations a newly stored one, between from and to, retires, and which one retires it.
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
		for i := range touched { // they have the same group
			if err := t.weigh(part, g, &end{num: touched[i].To}, &touched[i]); err != nil {
				return err
			}
		}
	}
	return t.weigh(part, g, to, f)
}

// touchedBy returns the relations before f that f may retire. For a functional relation these are the last functional one of each member of the
// group. For a retraction these are the relations of its object since the last retraction of that object.
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

// retraction returns the retraction of f by a group that is nearest to f: the last one before f if back is set, else the first one after f. Objects
// with one root are the same.
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

// weighAll weighs relations again.
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

// weigh determines which relation retires f, and stores that.
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

// weighGroup weighs again all relations that a change of roots can affect: those with an end in the group.
func (t *Tx) weighGroup(part int64, g Group) error {
	fs, err := t.Rows.FactsAt(g)
	if err != nil {
		return err
	}
	return t.weighAll(part, fs)
}
