package graph

import (
	"context"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/cas"
)

// pair is two versions; statements of the later one do not retire those of the earlier one.
type pair struct{ earlier, later int64 }

// exemptions says which statements do not retire which earlier ones.
type exemptions struct {
	pairs    map[pair]bool
	restored *revived
}

// exempt reports whether the later statement by does not retire b.
func (c *exemptions) exempt(b, by *backend.Relation) bool {
	if c.pairs[pair{b.Source, by.Source}] {
		return true
	}
	if !c.restored.sources[b.Source] {
		return false
	}
	_, ok := c.restored.facts[standing{b.Source, statedBy(b), by.Source}]
	return ok
}

// MarkRevived records that successions of a workspace were undone. From then on they also count for its graph:
// a statement is not retired by one of a version whose succession to the statement's version was undone.
func MarkRevived(ctx context.Context, st backend.Store) error {
	return cas.Retry(ctx, func() error {
		v, err := readRevived(ctx, st)
		if err != nil || v.successions {
			return err
		}
		v.successions = true
		return v.store(ctx, st)
	})
}

// readRevived reads what was restored in the workspace, once.
func (r *Reader) readRevived() (err error) {
	if !r.revived.asked {
		r.revived, err = readRevived(r.ctx, r.store)
	}
	return err
}

// exemptions finds out which statements of groups do not retire each other.
func (r *Reader) exemptions(part backend.Partition, groups map[rivalKey][]*belief) (*exemptions, error) {
	if err := r.readRevived(); err != nil {
		return nil, err
	}
	out := &exemptions{restored: &r.revived}
	if !r.revived.successions || part.Class != backend.Memory {
		return out, nil
	}
	seen := map[int64]bool{}
	var sources []int64
	for _, g := range groups {
		for _, b := range g {
			if !seen[b.Source] {
				seen[b.Source], sources = true, append(sources, b.Source)
			}
		}
	}
	if len(sources) == 0 {
		return out, nil
	}
	found, err := r.store.Successions(r.ctx, backend.SuccessionQuery{Part: part, Earlier: sources, Undone: true})
	if err != nil {
		return nil, err
	}
	out.pairs = map[pair]bool{}
	for i := range found {
		if !found[i].Undone.IsZero() {
			out.pairs[pair{found[i].Earlier, found[i].Later}] = true
		}
	}
	return out, nil
}
