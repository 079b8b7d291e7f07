package storerules

import (
	"errors"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// Flags of a stored relation.
const (
	Functional = 1
	Retracts   = 2
)

// Ends returns the keys that a relation uses. A relation with a literal object has only one.
func Ends(from, to string) []string {
	if to == "" || to == from {
		return []string{from}
	}
	return []string{from, to}
}

func (t *Tx) addRelation(v *Head, in *backend.Relation) error {
	t.Numbers.Relation++
	f := Fact{Num: t.Numbers.Relation, Source: v.Num, Ord: Micros(About(in)), Object: in.Object, KnownFrom: Stamp(in.KnownFrom)}
	from, err := t.use(v.Part, in.FromKey, 0, nil)
	if err != nil {
		return err
	}
	to := end{found: true, alone: true}
	switch in.ToKey {
	case "":
	case in.FromKey:
		to = from
	default:
		if to, err = t.use(v.Part, in.ToKey, 0, nil); err != nil {
			return err
		}
	}
	f.From, f.To = from.num, to.num
	if in.Functional {
		f.Flags |= Functional
	}
	if in.Retracts {
		f.Flags |= Retracts
		f.KnownTo = f.KnownFrom // a retraction never holds itself
		t.Numbers.Retractions++
	}
	if err := t.Rows.AddRelation(v, in, &f); err != nil {
		return err
	}
	return t.weighNew(v.Part, &f, &from, &to)
}

// clearRelations removes the relations of a version, and weighs again the relations that they retired.
func (t *Tx) clearRelations(v *Head) error {
	gone, keys, err := t.Rows.FactsOf(v.Num)
	if errors.Is(err, backend.ErrCorrupt) {
		t.Left = true
		return t.Rows.RemoveRelations(v.Num)
	}
	if err != nil || len(gone) == 0 {
		return err
	}
	if err := t.Rows.RemoveRelations(v.Num); err != nil {
		return err
	}
	nums := make([]int64, len(gone))
	for i := range gone {
		nums[i] = gone[i].Num
		if gone[i].Flags&Retracts != 0 {
			t.Numbers.Retractions--
		}
	}
	retired, err := t.Rows.RetiredBy(nums)
	if err = t.unlessDamaged(err); err != nil {
		return err
	}
	if err := t.unlessDamaged(t.weighAll(v.Part, retired)); err != nil {
		return err
	}
	// Only now, since weighing uses entities that unuse may remove.
	for i, k := range keys {
		nums := [...]int64{gone[i].From, gone[i].To}
		for j, key := range Ends(k[0], k[1]) {
			if err := t.unuse(v.Part, key, nums[j], 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// Believed reports whether a relation matches the times of q. Unless q.AllTime is set, it must be no retraction and known at q.KnownAt. Unless q.AsOf
// is set too, it must not be retired then; with AsOf, [HeldAt] decides. If q.Dated is set, the relation must have a date.
func Believed(r *backend.Relation, q *backend.RelationQuery) bool {
	switch {
	case q.Dated && r.ValidFrom.IsZero() && r.ValidTo.IsZero():
		return false
	case q.AllTime:
		return Within(q.AsOf, r.ValidFrom, r.ValidTo)
	case r.Retracts || !q.KnownAt.IsZero() && r.KnownFrom.After(q.KnownAt):
		return false
	}
	return !q.AsOf.IsZero() || r.KnownTo.IsZero() || !q.KnownAt.IsZero() && r.KnownTo.After(q.KnownAt)
}

// HeldAt reports whether a relation held at q.AsOf. first reports whether no known functional rival comes before a relation. stored reads a relation
// by its number.
func HeldAt(r *backend.Relation, q *backend.RelationQuery, first func(*backend.Relation) (bool, error), stored func(num int64) (backend.Relation, error)) (bool, error) {
	from, to := r.ValidFrom, r.ValidTo
	if from.IsZero() && r.Functional {
		isFirst, err := first(r)
		if err != nil {
			return false, err
		}
		if !isFirst {
			from = About(r)
		}
	}
	for num := r.SupersededBy; num != 0; {
		by, err := stored(num)
		if err != nil {
			return false, err
		}
		if num = by.SupersededBy; !q.KnownAt.IsZero() && by.KnownFrom.After(q.KnownAt) {
			continue
		}
		if began := Began(&by); to.IsZero() || began.Before(to) {
			to = began
		}
		break
	}
	return Within(q.AsOf, from, to), nil
}

// About returns the time about which a relation speaks.
func About(r *backend.Relation) time.Time {
	if r.Asserted.IsZero() {
		return r.KnownFrom
	}
	return r.Asserted
}

// Began returns the time at which a relation began to hold. For a retraction it is the time at which the retracted relation ended.
func Began(r *backend.Relation) time.Time {
	switch {
	case r.Retracts && !r.ValidTo.IsZero():
		return r.ValidTo
	case !r.Retracts && !r.ValidFrom.IsZero():
		return r.ValidFrom
	}
	return About(r)
}

// Within reports whether a time is in the half-open interval from from to to. The zero time is in every interval.
func Within(at, from, to time.Time) bool {
	return at.IsZero() || !from.After(at) && (to.IsZero() || to.After(at))
}
