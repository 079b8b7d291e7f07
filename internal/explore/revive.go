package explore

import (
	"context"
	"errors"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/change"
	"github.com/contextmem/contextmem/internal/graph"
)

// relationPage is the number of relations read in one call.
const relationPage = 2000

// revive makes the statements of a version of a memory hold again that newer statements retired.
// It returns the number of versions whose statements no longer retire them.
// It stores this as undone successions; restored says that earlier successions of the version were undone too.
// Later statements may retire the statements again. Statements of one version still retire each other.
func revive(ctx context.Context, st backend.Store, src *backend.Source, part backend.Partition, restored bool) (n int, err error) {
	if restored {
		if err := graph.MarkRevived(ctx, st); err != nil {
			return 0, err
		}
	}
	tried := map[int64]bool{src.Num: true}
	for {
		by, err := retirers(ctx, st, src, part)
		if err != nil {
			return n, err
		}
		left := false
		for _, later := range by {
			if tried[later] {
				continue
			}
			tried[later], left = true, true
			if err := graph.MarkRevived(ctx, st); err != nil {
				return n, err
			}
			now := time.Now()
			num, err := st.PutSuccession(ctx, backend.Succession{Later: later, Earlier: src.Num, LaterChunk: -1, EarlierChunk: -1, Decider: change.Caller, Created: now})
			if err == nil {
				err = st.UndoSuccession(ctx, num, now)
			}
			if errors.Is(err, backend.ErrNotFound) { // one of the two versions was deleted meanwhile
				continue
			}
			if err != nil {
				return n, err
			}
			n++
		}
		if !left {
			return n, nil
		}
	}
}

// retirers returns the versions whose statements retire those of a version.
func retirers(ctx context.Context, st backend.Store, src *backend.Source, part backend.Partition) (out []int64, err error) {
	r := graph.NewReader(ctx, st, time.Now(), backend.Filter{}, nil)
	defer r.Release()
	seen := map[int64]bool{}
	q := backend.RelationQuery{Part: part, Sources: []int64{src.Num}, AllTime: true, Limit: relationPage}
	for {
		rels, last, more, err := r.Relations(q)
		if err != nil {
			return nil, err
		}
		for _, rel := range rels {
			if rel.SupersededBy == 0 || seen[rel.SupersededBy] {
				continue
			}
			seen[rel.SupersededBy] = true
			by, err := st.Relations(ctx, backend.RelationQuery{Part: part, After: rel.SupersededBy - 1, AllTime: true, Limit: 1})
			if err != nil {
				return nil, err
			}
			if len(by) > 0 && by[0].Num == rel.SupersededBy {
				out = append(out, by[0].Source)
			}
		}
		if q.After = last; !more {
			return out, nil
		}
	}
}
