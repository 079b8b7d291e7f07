package graph

import (
	"cmp"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
)

// maxRivals bounds the relations that are read to find out what a caller who does not see everything may believe of the
// subjects of one read. What lies beyond is judged as the Store judges it, by all evidence.
const maxRivals = 20_000

// Relations reads relations as q asks for them. What it returns was believed, or is marked as retired, by the evidence
// that the caller may see, and without what was taken back, see [MarkRevived] and [RestoreFact]: the Store judges by all of it. last is the number of the last relation that was looked at,
// and more reports whether others follow.
func (r *Reader) Relations(q backend.RelationQuery) (rels []*backend.Relation, last int64, more bool, err error) {
	all := q
	own, err := r.own()
	if err != nil {
		return nil, 0, false, err
	}
	var fold *Fold
	if own {
		all.AllTime, all.AsOf, all.KnownAt = true, time.Time{}, time.Time{}
		if fold, err = r.seer().Fold(r.ctx, q.Part); err != nil {
			return nil, 0, false, err
		}
	}
	fold.ask(&all)
	rels, err = r.store.Relations(r.ctx, all)
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

// own reports whether the reader judges by itself what is believed.
func (r *Reader) own() (bool, error) {
	if r.restricted() {
		return true, nil
	}
	err := r.readRevived()
	return r.revived.any(), err
}

// restricted reports whether the caller may not see everything.
func (r *Reader) restricted() bool { return len(r.visible.All)+len(r.visible.Not) > 0 }

// judge returns those of the relations that q asks for, as visible evidence has them.
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
		if !b.knownTo.Equal(rel.KnownTo) || b.superseded() != rel.SupersededBy { // rows are shared: nobody may change them
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

// rivals is a subject and a predicate.
type rivals struct {
	from      int64
	predicate string
}

// beliefs judges the relations that hidden evidence may have retired, with all their visible rivals, and returns what
// became of them by number. Relations that it leaves out are retired by nothing.
func (r *Reader) beliefs(rels []*backend.Relation, q *backend.RelationQuery, fold *Fold) (map[int64]*belief, error) {
	groups := map[rivals][]*belief{}
	var subjects []int64
	for _, rel := range rels {
		if rel.SupersededBy == 0 && !rel.Functional && !rel.Retracts && !fold.touches(rel) {
			continue
		}
		k := rivals{rel.From, rel.Predicate}
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
			_, ok := groups[rivals{rel.From, rel.Predicate}]
			return !ok
		})
		if some, err = r.seen(some); err != nil {
			return nil, err
		}
		for _, rel := range some {
			k := rivals{rel.From, rel.Predicate}
			groups[k] = append(groups[k], &belief{Relation: rel})
		}
		if !full {
			break
		}
	}
	beside, err := r.company(q.Part, groups)
	if err != nil {
		return nil, err
	}
	out := map[int64]*belief{}
	for _, g := range groups {
		weigh(g, beside)
		for _, b := range g {
			out[b.Num] = b
		}
	}
	for _, rel := range rels {
		if _, ok := groups[rivals{rel.From, rel.Predicate}]; ok && out[rel.Num] == nil { // beyond the bound
			out[rel.Num] = &belief{Relation: rel, knownTo: rel.KnownTo, store: rel.SupersededBy}
		}
	}
	return out, nil
}

// belief is a relation with what visible evidence makes of it; see [backend.Relation].
type belief struct {
	*backend.Relation
	knownTo time.Time
	by      *belief // what retires it
	rival   *belief // the functional one before it
	store   int64   // what retires it in the Store, where it was not judged anew
}

func (b *belief) superseded() int64 {
	if b.by != nil {
		return b.by.Num
	}
	return b.store
}

// object names what a relation says of its subject.
type object struct {
	to      int64
	literal string
}

// weigh decides what is believed of a subject and a predicate: a functional relation is retired by the next functional
// one, any relation by the next retraction of its object, whichever comes first and is none that it stands
// beside. A retraction is never believed.
func weigh(g []*belief, c *company) {
	slices.SortFunc(g, func(a, b *belief) int {
		return cmp.Or(a.about().Compare(b.about()), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Num, b.Num))
	})
	place := make(map[*belief]int, len(g))
	retracted := map[object][]*belief{}
	var functional []*belief // those behind, the nearest last
	nearest := func(b *belief, behind []*belief) *belief {
		for _, by := range slices.Backward(behind) {
			if !c.beside(b.Relation, by.Relation) {
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

// retire notes that by retires b.
func (b *belief) retire(by *belief) {
	if by == nil || by.KnownFrom.IsZero() && b.KnownFrom.IsZero() {
		return
	}
	b.by, b.knownTo = by, by.KnownFrom
	if b.KnownFrom.After(b.knownTo) {
		b.knownTo = b.KnownFrom
	}
}

// about is the moment that a relation speaks of.
func (b *belief) about() time.Time {
	if b.Asserted.IsZero() {
		return b.KnownFrom
	}
	return b.Asserted
}

// asked reports whether the times of q ask for a relation.
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

// held reports whether a relation held at a time, by what was known at another.
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

// began is when a relation began to hold, or its object ceased to.
func (b *belief) began() time.Time {
	switch {
	case b.Retracts && !b.ValidTo.IsZero():
		return b.ValidTo
	case !b.Retracts && !b.ValidFrom.IsZero():
		return b.ValidFrom
	}
	return b.about()
}

// within reports whether a time lies in a half-open period; the zero time lies in all.
func within(at, from, to time.Time) bool {
	return at.IsZero() || !from.After(at) && (to.IsZero() || to.After(at))
}
