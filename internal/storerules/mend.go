package storerules

import (
	"errors"

	"github.com/contextmem/contextmem/backend"
)

// A damaged version may be removed without what it says, which then is not undone: its share of the counters of entities, the merges that it
// stated, and what its facts had retired. All of these follow from the rows that are left, so Sweep derives them anew.

type mendRows interface {
	// Apart runs f and writes its changes. If f meets damaged data, Apart undoes what f did and returns nil.
	Apart(f func() error) error
	// RemoveStrays removes all rows that belong to nothing.
	RemoveStrays() error
	// CountAnew computes the counters of partitions, states and retractions from the rows that are left.
	CountAnew() error
	// Uncounted returns the versions whose numbers of mentions of entities are damaged or not stored.
	Uncounted() ([]int64, error)
	// SetMentionCount sets the number of mentions of an entity by a version.
	SetMentionCount(entity, source, n int64) error
	// MendEntities counts the uses of all entities. It removes those without any, and makes those that are missing between a key and its root.
	MendEntities() error
	// MendRoots sets the roots of entities from the aliases.
	MendRoots() error
	// StatedAnywhere returns the keys of stated aliases and of stated merges that are in force.
	StatedAnywhere() ([]EntityKey, error)
	// RetiredByNone returns the relations that are retired by relations that are gone.
	RetiredByNone() ([]int64, error)
	// Unretire stores that a relation is retired by none, unless it is a retraction.
	Unretire(num int64) error
	// FactAt returns a relation with its partition. found is false if there is none, or it is damaged.
	FactAt(num int64) (part int64, f Fact, found bool, err error)
}

// Sweep removes all rows that belong to nothing, and derives counters, roots, merges and retirements anew from the rows that are left. What
// damage keeps it from deriving stays as it is.
func (t *Tx) Sweep() error {
	if err := t.Rows.RemoveStrays(); err != nil {
		return err
	}
	if err := t.Rows.CountAnew(); err != nil {
		return err
	}
	t.Rows.ForgetAll()
	for _, mend := range []func() error{t.mendCounts, t.Rows.MendEntities, t.Rows.MendRoots} {
		if err := t.Rows.Apart(mend); err != nil {
			return err
		}
	}
	if err := t.mendMerges(); err != nil {
		return err
	}
	return t.mendFacts()
}

// mendCounts counts the mentions of entities by versions where the stored number is damaged.
func (t *Tx) mendCounts() error {
	sources, err := t.Rows.Uncounted()
	if err != nil {
		return err
	}
	for _, source := range sources {
		ms, err := t.Rows.Mentions(source)
		if errors.Is(err, backend.ErrCorrupt) {
			continue
		}
		if err != nil {
			return err
		}
		counts := make(map[int64]int64, len(ms))
		for _, m := range ms {
			counts[m.Entity]++
		}
		for entity, n := range counts {
			if err := t.Rows.SetMentionCount(entity, source, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// mendMerges lets the aliases that versions still state decide which stated merges hold.
func (t *Tx) mendMerges() error {
	keys, err := t.Rows.StatedAnywhere()
	if errors.Is(err, backend.ErrCorrupt) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, k := range keys {
		if err := t.Rows.Apart(func() error { t.unweighed[k] = true; return nil }); err != nil {
			return err
		}
	}
	return nil
}

// mendFacts weighs again what was retired by relations that are gone.
func (t *Tx) mendFacts() error {
	nums, err := t.Rows.RetiredByNone()
	if err != nil {
		return err
	}
	for _, num := range nums {
		if err := t.Rows.Unretire(num); err != nil {
			return err
		}
		err := t.Rows.Apart(func() error {
			part, f, found, err := t.Rows.FactAt(num)
			if err != nil || !found {
				return err
			}
			return t.weighAll(part, []Fact{f})
		})
		if err != nil {
			return err
		}
	}
	return nil
}
