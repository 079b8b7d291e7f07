package graph

import (
	"context"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/cas"
)

// revivedName is the value of a workspace in which memories were restored. Readers of others ask for no undone successions.
const revivedName = "graph revived"

// pair is two versions: what the earlier says stands beside what the later says.
type pair struct{ earlier, later int64 }

type pairs map[pair]bool

// MarkRevived notes that successions of a workspace were undone, which from then on stand for what its graph believes too: a
// statement is not retired by one of a version whose succession to its own was undone.
func MarkRevived(ctx context.Context, st backend.Store) error {
	return cas.Retry(ctx, func() error {
		old, err := st.Get(ctx, revivedName)
		if err != nil || len(old) > 0 {
			return err
		}
		return st.Set(ctx, revivedName, old, []byte{1})
	})
}

// anyRevived reports whether something in the workspace was revived.
func (r *Reader) anyRevived() (bool, error) {
	if !r.revived.asked {
		v, err := r.store.Get(r.ctx, revivedName)
		if err != nil {
			return false, err
		}
		r.revived.asked, r.revived.any = true, len(v) > 0
	}
	return r.revived.any, nil
}

// beside returns which of the versions that rivals come from stand beside each other.
func (r *Reader) beside(part backend.Partition, groups map[rivals][]*belief) (pairs, error) {
	if found, err := r.anyRevived(); err != nil || !found || part.Class != backend.Memory {
		return nil, err
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
		return nil, nil
	}
	found, err := r.store.Successions(r.ctx, backend.SuccessionQuery{Part: part, Earlier: sources, Undone: true})
	if err != nil {
		return nil, err
	}
	out := pairs{}
	for i := range found {
		if !found[i].Undone.IsZero() {
			out[pair{found[i].Earlier, found[i].Later}] = true
		}
	}
	return out, nil
}
