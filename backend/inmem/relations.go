package inmem

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// relation is a stored relation. From and To are looked up from the keys at each read.
// The beliefs about a subject and predicate depend only on the stored relations and their valid times, not on the order of their arrival.
// Removing a relation therefore leaves the same state as if the relation had never been stored.
type relation struct {
	backend.Relation
	of    *version
	by    *relation // relation that superseded this one
	rival *relation // preceding functional relation
}

// factKey identifies the group of relations that can supersede one another.
type factKey struct{ from, predicate string }

func (d *storeData) addRelation(v *version, in *backend.Relation) {
	d.last.relation++
	r := &relation{Relation: *in, of: v}
	r.Num, r.Source, r.Chunk = d.last.relation, v.src.Num, v.chunks[in.Chunk].Num
	r.ValidFrom, r.ValidTo, r.KnownFrom, r.Asserted = storerules.Stamped(in.ValidFrom), storerules.Stamped(in.ValidTo), storerules.Stamped(in.KnownFrom), storerules.Stamped(in.Asserted)
	r.From, r.To, r.KnownTo, r.SupersededBy = 0, 0, time.Time{}, 0
	if r.Asserted.Equal(r.KnownFrom) {
		r.Asserted = time.Time{}
	}
	v.relations = append(v.relations, r)
	g := &v.part.graph
	for _, key := range storerules.Ends(r.FromKey, r.ToKey) {
		d.use(g, key, 0).relations[r.Num] = r
	}
	k := factKey{g.root(r.FromKey), r.Predicate}
	if g.groups[k] == nil {
		g.groups[k] = make(map[int64]*relation)
	}
	g.groups[k][r.Num] = r
	g.weigh(k)
}

func (d *storeData) removeRelation(v *version, r *relation) {
	g := &v.part.graph
	k := factKey{g.root(r.FromKey), r.Predicate}
	for _, key := range storerules.Ends(r.FromKey, r.ToKey) {
		delete(g.entities[key].relations, r.Num)
		d.unuse(g, key, 0)
	}
	delete(g.groups[k], r.Num)
	if len(g.groups[k]) == 0 {
		delete(g.groups, k)
	}
	g.weigh(k)
}

// regroup assigns all relations to groups again, after the entities of keys have changed.
func (g *graph) regroup() {
	groups := make(map[factKey]map[int64]*relation)
	for _, group := range g.groups {
		for num, r := range group {
			k := factKey{g.root(r.FromKey), r.Predicate}
			if groups[k] == nil {
				groups[k] = make(map[int64]*relation)
			}
			groups[k][num] = r
		}
	}
	g.groups = groups
	for k := range groups {
		g.weigh(k)
	}
}

// object identifies the object of a relation.
type object struct{ to, literal string }

// weigh computes the beliefs of a group; see [backend.Relation]. A retraction is never believed.
func (g *graph) weigh(k factKey) {
	rs := make([]*relation, 0, len(g.groups[k]))
	for _, r := range g.groups[k] {
		r.KnownTo, r.SupersededBy, r.by, r.rival = time.Time{}, 0, nil, nil
		rs = append(rs, r)
	}
	slices.SortFunc(rs, func(a, b *relation) int {
		return cmp.Or(storerules.About(&a.Relation).Compare(storerules.About(&b.Relation)), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Num, b.Num))
	})
	var next *relation // following functional relation
	retracted := make(map[object]*relation)
	at := make(map[*relation]int, len(rs))
	for i, r := range slices.Backward(rs) {
		at[r] = i
		o := g.object(r)
		switch {
		case r.Retracts:
			r.KnownTo, retracted[o] = r.KnownFrom, r
			continue
		case !r.Functional:
			r.retire(retracted[o])
			continue
		}
		by := retracted[o]
		if by == nil || next != nil && at[next] < at[by] {
			by = next
		}
		r.retire(by)
		if next != nil {
			next.rival = r
		}
		next = r
	}
}

func (g *graph) object(r *relation) object { return object{g.root(r.ToKey), r.Object} }

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

func (s *store) Relations(ctx context.Context, q backend.RelationQuery) (out []*backend.Relation, err error) {
	err = s.read(ctx, func(d *storeData) error {
		p := d.parts[q.Part]
		if p == nil {
			return nil
		}
		var entities map[int64]bool
		if q.Entities != nil {
			entities = make(map[int64]bool, len(q.Entities))
			for _, num := range q.Entities {
				entities[num] = true
			}
		}
		for _, r := range d.candidates(p, q) {
			if r.Num <= q.After || !r.counts(q) ||
				q.Chunks != nil && !slices.Contains(q.Chunks, r.Chunk) ||
				q.Sources != nil && !slices.Contains(q.Sources, r.Source) ||
				q.Predicates != nil && !slices.Contains(q.Predicates, r.Predicate) {
				continue
			}
			c := r.Relation
			find := p.graph.find
			if q.Own {
				find = func(key string) *entity { return p.graph.entities[key] }
			}
			c.From = find(c.FromKey).num
			if c.ToKey != "" {
				c.To = find(c.ToKey).num
			}
			if entities != nil && !entities[c.From] && (c.ToKey == "" || q.Predicates != nil || !entities[c.To]) {
				continue
			}
			out = append(out, &c)
		}
		slices.SortFunc(out, func(a, b *backend.Relation) int { return cmp.Compare(a.Num, b.Num) })
		out = firstN(out, q.Limit)
		return nil
	})
	return out, err
}

// candidates returns a superset of the relations of p that match q, without repetitions.
func (d *storeData) candidates(p *partition, q backend.RelationQuery) []*relation {
	var out []*relation
	seen := make(map[*version]bool)
	add := func(v *version) {
		if v != nil && v.part == p && !seen[v] {
			seen[v] = true
			out = append(out, v.relations...)
		}
	}
	switch {
	case q.Sources != nil:
		for _, num := range q.Sources {
			add(d.versions[num])
		}
	case q.Chunks != nil:
		for _, num := range q.Chunks {
			if c := d.chunks[num]; c != nil {
				add(c.of)
			}
		}
	default:
		for _, group := range p.graph.groups {
			for _, r := range group {
				out = append(out, r)
			}
		}
	}
	return out
}

// counts reports whether a relation matches the time conditions of q.
func (r *relation) counts(q backend.RelationQuery) bool {
	return storerules.Believed(&r.Relation, &q) && (q.AllTime || q.AsOf.IsZero() || r.held(q.AsOf, q.KnownAt))
}

// held reports whether a relation was valid at one time, according to what was known at another time.
func (r *relation) held(at, known time.Time) bool {
	from, to := r.ValidFrom, r.ValidTo
	rival := r.rival
	for rival != nil && !known.IsZero() && rival.KnownFrom.After(known) {
		rival = rival.rival
	}
	if from.IsZero() && rival != nil {
		from = storerules.About(&r.Relation)
	}
	by := r.by
	for by != nil && !known.IsZero() && by.KnownFrom.After(known) {
		by = by.by
	}
	if by != nil {
		if began := storerules.Began(&by.Relation); to.IsZero() || began.Before(to) {
			to = began
		}
	}
	return storerules.Within(at, from, to)
}
