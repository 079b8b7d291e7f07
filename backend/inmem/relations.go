package inmem

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// relation is a stored piece of evidence; From and To are found from the keys when
// it is read. What is believed of a subject and predicate is a function of the
// relations that are there, in the order in which they were learnt and not in the
// order in which they came: taking a relation away leaves what would be there
// without it.
type relation struct {
	backend.Relation
	of *version
}

// factKey names the relations that can retire one another.
type factKey struct{ from, predicate string }

func (d *storeData) addRelation(v *version, in *backend.Relation) {
	d.last.relation++
	r := &relation{Relation: *in, of: v}
	r.Num, r.Source, r.Chunk = d.last.relation, v.src.Num, v.chunks[in.Chunk].Num
	r.ValidFrom, r.ValidTo, r.KnownFrom = stamp(in.ValidFrom), stamp(in.ValidTo), stamp(in.KnownFrom)
	r.From, r.To, r.KnownTo, r.SupersededBy = 0, 0, time.Time{}, 0
	v.relations = append(v.relations, r)
	g := &v.part.graph
	for _, key := range r.ends() {
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
	for _, key := range r.ends() {
		delete(g.entities[key].relations, r.Num)
		d.unuse(g, key, 0)
	}
	delete(g.groups[k], r.Num)
	if len(g.groups[k]) == 0 {
		delete(g.groups, k)
	}
	g.weigh(k)
}

// ends returns the keys that a relation uses; a fact with a literal object has one.
func (r *relation) ends() []string {
	if r.ToKey == "" || r.ToKey == r.FromKey {
		return []string{r.FromKey}
	}
	return []string{r.FromKey, r.ToKey}
}

// regroup sorts all relations into groups again, after keys came to stand for
// other entities.
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

// object names what a relation says of its subject.
type object struct{ to, literal string }

// weigh decides what is believed of a group. A functional relation is retired by
// the first functional one learnt later, any relation by the first retraction of
// its object learnt later, whichever came first. A retraction is never believed.
func (g *graph) weigh(k factKey) {
	rs := make([]*relation, 0, len(g.groups[k]))
	special := false
	for _, r := range g.groups[k] {
		special = special || r.Functional || r.Retracts
		rs = append(rs, r)
	}
	if !special {
		for _, r := range rs {
			r.KnownTo, r.SupersededBy = time.Time{}, 0
		}
		return
	}
	slices.SortFunc(rs, func(a, b *relation) int {
		return cmp.Or(a.KnownFrom.Compare(b.KnownFrom), cmp.Compare(a.Num, b.Num))
	})
	var newer *relation // the first functional one learnt later
	retracted := make(map[object]*relation)
	for end := len(rs); end > 0; {
		start := end - 1
		for start > 0 && rs[start-1].KnownFrom.Equal(rs[end-1].KnownFrom) {
			start--
		}
		for _, r := range rs[start:end] {
			r.KnownTo, r.SupersededBy = time.Time{}, 0
			if r.Retracts {
				r.KnownTo = r.KnownFrom
				continue
			}
			if r.Functional {
				r.retire(newer)
			}
			r.retire(retracted[g.object(r)])
		}
		for _, r := range slices.Backward(rs[start:end]) {
			if r.Retracts {
				retracted[g.object(r)] = r
			} else if r.Functional {
				newer = r
			}
		}
		end = start
	}
}

func (g *graph) object(r *relation) object { return object{g.root(r.ToKey), r.Object} }

// retire notes that by retires r, unless another did earlier.
func (r *relation) retire(by *relation) {
	if by != nil && (r.SupersededBy == 0 || by.KnownFrom.Before(r.KnownTo)) {
		r.KnownTo, r.SupersededBy = by.KnownFrom, by.Num
	}
}

func (s *store) Relations(ctx context.Context, q backend.RelationQuery) (out []backend.Relation, err error) {
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
			if r.Num <= q.After || !believed(&r.Relation, q) || !valid(&r.Relation, q.AsOf) ||
				q.Kinds != nil && !slices.Contains(q.Kinds, r.Kind) ||
				q.Chunks != nil && !slices.Contains(q.Chunks, r.Chunk) ||
				q.Sources != nil && !slices.Contains(q.Sources, r.Source) {
				continue
			}
			c := r.Relation
			c.From = p.graph.find(c.FromKey).num
			if c.ToKey != "" {
				c.To = p.graph.find(c.ToKey).num
			}
			if entities != nil && !entities[c.From] && (c.ToKey == "" || !entities[c.To]) {
				continue
			}
			out = append(out, c)
		}
		slices.SortFunc(out, func(a, b backend.Relation) int { return cmp.Compare(a.Num, b.Num) })
		out = firstN(out, q.Limit)
		return nil
	})
	return out, err
}

// candidates returns relations of p among which are all that q can ask for, each
// once.
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

// believed tells whether a relation is believed at the time that q asks for.
func believed(r *backend.Relation, q backend.RelationQuery) bool {
	switch {
	case q.AllTime:
		return true
	case r.Retracts:
		return false
	case q.KnownAt.IsZero():
		return r.KnownTo.IsZero()
	}
	return !r.KnownFrom.After(q.KnownAt) && (r.KnownTo.IsZero() || r.KnownTo.After(q.KnownAt))
}

func valid(r *backend.Relation, at time.Time) bool {
	return at.IsZero() || !r.ValidFrom.After(at) && (r.ValidTo.IsZero() || r.ValidTo.After(at))
}
