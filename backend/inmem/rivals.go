package inmem

import (
	"cmp"
	"slices"
	"time"

	"github.com/contextmem/contextmem/internal/storerules"
)

// factKey identifies the relations that can supersede one another.
type factKey struct{ from, predicate string }

// object identifies the object of a relation.
type object struct{ to, literal string }

// rivals holds the relations of one factKey, each list in the order in which they supersede one another. A relation that comes or goes
// changes the beliefs of its neighbours in these lists alone.
// The beliefs depend only on the stored relations and their valid times, not on the order of their arrival.
// Removing a relation therefore leaves the same state as if the relation had never been stored.
type rivals struct {
	functional []*relation // those that state something
	objects    map[object]*claims
}

// claims holds the relations of one object.
type claims struct{ stated, retractions []*relation }

// before compares two rivals by the order in which they supersede one another.
func before(a, b *relation) int {
	return cmp.Or(storerules.About(&a.Relation).Compare(storerules.About(&b.Relation)), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Num, b.Num))
}

// position returns the index of r in a sorted list, or the index at which r belongs.
func position(list []*relation, r *relation) (int, bool) {
	return slices.BinarySearchFunc(list, r, before)
}

func insert(list *[]*relation, r *relation) {
	i, _ := position(*list, r)
	*list = slices.Insert(*list, i, r)
}

func withdraw(list *[]*relation, r *relation) {
	if i, ok := position(*list, r); ok {
		*list = slices.Delete(*list, i, i+1)
	}
}

// previous returns the last relation of a list before r, or nil.
func previous(list []*relation, r *relation) *relation {
	if i, _ := position(list, r); i > 0 {
		return list[i-1]
	}
	return nil
}

// next returns the first relation of a list after r, or nil.
func next(list []*relation, r *relation) *relation {
	i, ok := position(list, r)
	if ok {
		i++
	}
	if i == len(list) {
		return nil
	}
	return list[i]
}

// enlist adds a relation to the rivals of its subject and predicate, and weighs the beliefs that it changes.
func (g *graph) enlist(r *relation) {
	r.key, r.object = factKey{g.root(r.FromKey), r.Predicate}, object{g.root(r.ToKey), r.Object}
	x := g.rivals[r.key]
	if x == nil {
		x = &rivals{objects: make(map[object]*claims)}
		g.rivals[r.key] = x
	}
	c := x.objects[r.object]
	if c == nil {
		c = &claims{}
		x.objects[r.object] = c
	}
	if r.Retracts {
		insert(&c.retractions, r)
	} else {
		insert(&c.stated, r)
	}
	if r.competes() {
		insert(&x.functional, r)
	}
	x.weighAround(r)
	x.weigh(r)
}

// delist removes a relation from its rivals, and weighs the beliefs that it changed.
func (g *graph) delist(r *relation) {
	x := g.rivals[r.key]
	c := x.objects[r.object]
	if r.Retracts {
		withdraw(&c.retractions, r)
	} else {
		withdraw(&c.stated, r)
	}
	if r.competes() {
		withdraw(&x.functional, r)
	}
	x.weighAround(r)
	if len(c.stated)+len(c.retractions) == 0 {
		delete(x.objects, r.object)
	}
	if len(x.objects) == 0 {
		delete(g.rivals, r.key)
	}
}

// competes reports whether r supersedes earlier functional relations, and is superseded by later ones.
func (r *relation) competes() bool { return r.Functional && !r.Retracts }

// weighAround computes the beliefs that depend on whether r is among the rivals, except that about r.
func (x *rivals) weighAround(r *relation) {
	if r.Retracts { // it supersedes what was stated since the retraction before it
		c := x.objects[r.object]
		to, _ := position(c.stated, r)
		from := 0
		if last := previous(c.retractions, r); last != nil {
			from, _ = position(c.stated, last)
		}
		for _, s := range c.stated[from:to] {
			x.weigh(s)
		}
		return
	}
	if r.competes() {
		for _, n := range []*relation{previous(x.functional, r), next(x.functional, r)} {
			if n != nil {
				x.weigh(n)
			}
		}
	}
}

// weigh computes the belief in r; see [backend.Relation]. A retraction is never believed.
func (x *rivals) weigh(r *relation) {
	r.KnownTo, r.SupersededBy, r.by, r.rival = time.Time{}, 0, nil, nil
	if r.Retracts {
		r.KnownTo = r.KnownFrom
		return
	}
	by := next(x.objects[r.object].retractions, r)
	if r.Functional {
		r.rival = previous(x.functional, r)
		if n := next(x.functional, r); by == nil || n != nil && before(n, by) < 0 {
			by = n
		}
	}
	r.retire(by)
}

// retire records that by supersedes r.
func (r *relation) retire(by *relation) {
	if by == nil || by.KnownFrom.IsZero() && r.KnownFrom.IsZero() {
		return
	}
	r.by, r.SupersededBy, r.KnownTo = by, by.Num, by.KnownFrom
	if r.KnownFrom.After(r.KnownTo) {
		r.KnownTo = r.KnownFrom
	}
}

// enlistAgain assigns relations to their rivals again, after the entities of keys have changed.
func (g *graph) enlistAgain(rs []*relation) {
	slices.SortFunc(rs, before)
	for _, r := range slices.Backward(rs) {
		g.delist(r)
	}
	for _, r := range rs {
		g.enlist(r)
	}
}
