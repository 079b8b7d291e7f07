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
type relation struct {
	backend.Relation
	of     *version
	key    factKey   // under which its rivals are
	object object    // as its rivals have it
	by     *relation // relation that superseded this one
	rival  *relation // preceding functional relation
}

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
	g.relations.add(r)
	for _, key := range storerules.Ends(r.FromKey, r.ToKey) {
		d.use(g, key, 0).relations.add(r)
	}
	g.enlist(r)
}

func (d *storeData) removeRelation(v *version, r *relation) {
	g := &v.part.graph
	g.delist(r)
	for _, key := range storerules.Ends(r.FromKey, r.ToKey) {
		g.entities[key].relations.remove(r.Num)
		d.unuse(g, key, 0)
	}
	g.relations.remove(r.Num)
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
			if len(out) >= q.Limit {
				break
			}
			if !r.counts(q) ||
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
		return nil
	})
	return out, err
}

// candidates returns a superset of the relations of p that match q, by ascending number and without repetitions. It reads the shortest lists
// that hold them: those of the versions, of the entities, or of the partition.
func (d *storeData) candidates(p *partition, q backend.RelationQuery) ordered[*relation] {
	var versions []*version
	switch {
	case q.Sources != nil:
		for _, num := range q.Sources {
			versions = append(versions, d.versions[num])
		}
	case q.Chunks != nil:
		for _, num := range q.Chunks {
			if c := d.chunks[num]; c != nil {
				versions = append(versions, c.of)
			}
		}
	case q.Entities != nil:
		var lists []ordered[*relation]
		for _, num := range q.Entities {
			e := d.entities[num]
			if e == nil || e.of != &p.graph {
				continue
			}
			keys := []string{e.key}
			if !q.Own {
				keys = p.graph.members(e.key)
			}
			for _, key := range keys {
				if e := p.graph.entities[key]; e != nil {
					lists = append(lists, e.relations)
				}
			}
		}
		return union(lists, q.After)
	default:
		return p.graph.relations.after(q.After)
	}
	var lists []ordered[*relation]
	for _, v := range versions {
		if v != nil && v.part == p {
			lists = append(lists, v.relations)
		}
	}
	return union(lists, q.After)
}

// union returns the relations of some lists whose number is larger than the given one.
func union(lists []ordered[*relation], num int64) ordered[*relation] {
	if len(lists) == 1 {
		return lists[0].after(num)
	}
	var out ordered[*relation]
	for _, l := range lists {
		out = append(out, l.after(num)...)
	}
	slices.SortFunc(out, func(a, b *relation) int { return cmp.Compare(a.Num, b.Num) })
	return slices.Compact(out)
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
