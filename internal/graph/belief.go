package graph

import (
	"cmp"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
)

// maxRivals bounds the relations that beliefs reads to judge one page of relations for a restricted caller.
// Relations beyond it keep the judgement of the Store, which uses all evidence.
const maxRivals = 20_000

// Relations reads relations as q asks for them.
// It judges which of them are believed by the evidence that the caller may see, and takes undone successions and restored facts
// into account, see [MarkRevived] and [RestoreFact]. The Store's own judgement uses all evidence.
// last is the number of the last relation that was read, and more reports whether others follow.
func (r *Reader) Relations(q backend.RelationQuery) (rels []*backend.Relation, last int64, more bool, err error) {
	return r.relations(q, false)
}

// relations is Relations. With sketched it may return relations without their texts; see [backend.RelationSketcher].
func (r *Reader) relations(q backend.RelationQuery, sketched bool) (rels []*backend.Relation, last int64, more bool, err error) {
	all := q
	own, err := r.own()
	if err != nil {
		return nil, 0, false, err
	}
	var fold *Fold
	if own {
		all.AllTime, all.AsOf, all.KnownAt = true, time.Time{}, time.Time{}
		if fold, err = r.callerView().Fold(r.ctx, q.Part); err != nil {
			return nil, 0, false, err
		}
	}
	fold.ask(&all)
	if x, ok := r.store.(backend.RelationSketcher); ok && sketched && !own {
		rels, err = x.SketchRelations(r.ctx, all)
	} else {
		rels, err = r.store.Relations(r.ctx, all)
	}
	if err != nil {
		return nil, 0, false, err
	}
	last, more = q.After, len(rels) == q.Limit
	if len(rels) > 0 {
		last = rels[len(rels)-1].Num
	}
	if own {
		rels, err = r.judge(fold.rename(rels), &q, fold)
	}
	return rels, last, more, err
}

// own reports whether the reader has to judge itself which relations are believed, instead of using the judgement of the Store.
func (r *Reader) own() (bool, error) {
	if r.restricted() {
		return true, nil
	}
	err := r.readRevived()
	return r.revived.any(), err
}

// restricted reports whether a filter limits what the caller may see.
func (r *Reader) restricted() bool { return len(r.visible.All)+len(r.visible.Not) > 0 }

// judge returns the relations whose visible evidence matches the times of q, with the supersession that this evidence implies.
func (r *Reader) judge(rels []*backend.Relation, q *backend.RelationQuery, fold *Fold) ([]*backend.Relation, error) {
	rels, err := r.seen(rels)
	if err != nil {
		return nil, err
	}
	beliefs, err := r.beliefs(rels, q, fold)
	if err != nil {
		return nil, err
	}
	out := make([]*backend.Relation, 0, len(rels))
	for _, rel := range rels {
		b := beliefs[rel.Num]
		if b == nil {
			b = &belief{Relation: rel}
		}
		if !b.asked(q) {
			continue
		}
		if !b.knownTo.Equal(rel.KnownTo) || b.superseded() != rel.SupersededBy { // relations are shared: change a copy
			own := *rel
			own.KnownTo, own.SupersededBy = b.knownTo, b.superseded()
			rel = &own
		}
		out = append(out, rel)
	}
	return out, nil
}

// seen returns the relations whose evidence the caller may see.
func (r *Reader) seen(rels []*backend.Relation) ([]*backend.Relation, error) {
	r.meet()
	for _, rel := range rels {
		if r.chunks.get(rel.Chunk) == nil {
			r.chunks.add(rel.Chunk)
		}
	}
	if err := r.fetch(); err != nil {
		return nil, err
	}
	out := make([]*backend.Relation, 0, len(rels))
	for _, rel := range rels {
		if row := r.chunks.get(rel.Chunk).Row; row != nil && item.Live(r.visible, row.Src.Tags) {
			out = append(out, rel)
		}
	}
	return out, nil
}

// rivalKey is a subject and a predicate; relations that share both may retire each other.
type rivalKey struct {
	from      int64
	predicate string
}

// beliefs judges the relations that hidden evidence may have retired, together with all their visible rivals.
// It returns the beliefs by relation number. Nothing retires a relation that is missing from the result.
func (r *Reader) beliefs(rels []*backend.Relation, q *backend.RelationQuery, fold *Fold) (map[int64]*belief, error) {
	groups := map[rivalKey][]*belief{}
	var subjects []int64
	for _, rel := range rels {
		if rel.SupersededBy == 0 && !rel.Functional && !rel.Retracts && !fold.touches(rel) {
			continue
		}
		k := rivalKey{rel.From, rel.Predicate}
		if _, ok := groups[k]; !ok {
			groups[k] = nil
			if !slices.Contains(subjects, rel.From) {
				subjects = append(subjects, rel.From)
			}
		}
	}
	if len(subjects) == 0 {
		return nil, nil
	}
	rq := backend.RelationQuery{Part: q.Part, Entities: subjects, AllTime: true, Limit: relationBatch}
	fold.ask(&rq)
	for read := 0; read < maxRivals; read += relationBatch {
		some, err := r.store.Relations(r.ctx, rq)
		if err != nil {
			return nil, err
		}
		full := len(some) == rq.Limit
		if full {
			rq.After = some[len(some)-1].Num
		}
		some = slices.DeleteFunc(fold.rename(some), func(rel *backend.Relation) bool {
			_, ok := groups[rivalKey{rel.From, rel.Predicate}]
			return !ok
		})
		if some, err = r.seen(some); err != nil {
			return nil, err
		}
		for _, rel := range some {
			k := rivalKey{rel.From, rel.Predicate}
			groups[k] = append(groups[k], &belief{Relation: rel})
		}
		if !full {
			break
		}
	}
	exempt, err := r.exemptions(q.Part, groups)
	if err != nil {
		return nil, err
	}
	out := map[int64]*belief{}
	for _, g := range groups {
		weigh(g, exempt)
		for _, b := range g {
			out[b.Num] = b
		}
	}
	for _, rel := range rels {
		if _, ok := groups[rivalKey{rel.From, rel.Predicate}]; ok && out[rel.Num] == nil { // beyond maxRivals
			out[rel.Num] = &belief{Relation: rel, knownTo: rel.KnownTo, store: rel.SupersededBy}
		}
	}
	return out, nil
}

// belief is a relation with its supersession as visible evidence implies it; see [backend.Relation].
type belief struct {
	*backend.Relation
	knownTo time.Time
	by      *belief // the relation that retires this one
	rival   *belief // the functional relation before this one
	store   int64   // number of the relation that retires this one in the Store; set only for relations beyond maxRivals
}

func (b *belief) superseded() int64 {
	if b.by != nil {
		return b.by.Num
	}
	return b.store
}

// object is the object of a relation: an entity or a literal.
type object struct {
	to      int64
	literal string
}

// weigh decides which relations of one subject and predicate are believed.
// The next functional relation retires a functional one, and the next retraction of an object retires any relation with that object.
// The earlier of the two counts. A relation does not retire another one that c exempts from it.
// A retraction itself is never believed.
func weigh(g []*belief, c *exemptions) {
	slices.SortFunc(g, func(a, b *belief) int {
		return cmp.Or(a.about().Compare(b.about()), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Num, b.Num))
	})
	place := make(map[*belief]int, len(g))
	retracted := map[object][]*belief{}
	var functional []*belief // later functional relations, nearest last
	nearest := func(b *belief, behind []*belief) *belief {
		for _, by := range slices.Backward(behind) {
			if !c.exempt(b.Relation, by.Relation) {
				return by
			}
		}
		return nil
	}
	for i, b := range slices.Backward(g) {
		place[b] = i
		o := object{b.To, b.Object}
		if b.Retracts {
			b.knownTo, retracted[o] = b.KnownFrom, append(retracted[o], b)
			continue
		}
		by := nearest(b, retracted[o])
		if !b.Functional {
			b.retire(by)
			continue
		}
		if next := nearest(b, functional); by == nil || next != nil && place[next] < place[by] {
			by = next
		}
		b.retire(by)
		if n := len(functional); n > 0 {
			functional[n-1].rival = b
		}
		functional = append(functional, b)
	}
}

// retire records that by retires b; a nil by is ignored.
func (b *belief) retire(by *belief) {
	if by == nil || by.KnownFrom.IsZero() && b.KnownFrom.IsZero() {
		return
	}
	b.by, b.knownTo = by, by.KnownFrom
	if b.KnownFrom.After(b.knownTo) {
		b.knownTo = b.KnownFrom
	}
}

// about returns the time that a relation speaks of: when it was asserted, else when it became known.
func (b *belief) about() time.Time {
	if b.Asserted.IsZero() {
		return b.KnownFrom
	}
	return b.Asserted
}

// asked reports whether a relation matches the times of q.
func (b *belief) asked(q *backend.RelationQuery) bool {
	switch {
	case q.AllTime:
		return within(q.AsOf, b.ValidFrom, b.ValidTo)
	case b.Retracts || !q.KnownAt.IsZero() && b.KnownFrom.After(q.KnownAt):
		return false
	case !q.AsOf.IsZero():
		return b.held(q.AsOf, q.KnownAt)
	}
	return b.knownTo.IsZero() || !q.KnownAt.IsZero() && b.knownTo.After(q.KnownAt)
}

// held reports whether a relation held at the time at, by what was known at the time known.
func (b *belief) held(at, known time.Time) bool {
	unknown := func(x *belief) bool { return x != nil && !known.IsZero() && x.KnownFrom.After(known) }
	from, to, rival, by := b.ValidFrom, b.ValidTo, b.rival, b.by
	for unknown(rival) {
		rival = rival.rival
	}
	if from.IsZero() && rival != nil {
		from = b.about()
	}
	for unknown(by) {
		by = by.by
	}
	if by != nil {
		if began := by.began(); to.IsZero() || began.Before(to) {
			to = began
		}
	}
	return within(at, from, to)
}

// began returns when a relation began to hold; for a retraction, when its object ceased to hold.
func (b *belief) began() time.Time {
	switch {
	case b.Retracts && !b.ValidTo.IsZero():
		return b.ValidTo
	case !b.Retracts && !b.ValidFrom.IsZero():
		return b.ValidFrom
	}
	return b.about()
}

// within reports whether at lies in [from, to). A zero time at always does, and a zero to leaves the period open.
func within(at, from, to time.Time) bool {
	return at.IsZero() || !from.After(at) && (to.IsZero() || to.After(at))
}
