package change

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/cas"
)

// Caller is the decider of what callers decided.
const Caller = "caller"

const pageOf = 256 // successions that are read at once

// Supersede stores that a caller says that one memory took the place of another.
func Supersede(ctx context.Context, st backend.Store, part backend.Partition, id, by, reason string) error {
	return cas.Retry(ctx, func() error {
		srcs, err := st.Sources(ctx, part, []string{id, by})
		if err != nil {
			return err
		}
		if srcs[0] == nil || srcs[1] == nil {
			return backend.ErrNotFound
		}
		_, err = st.PutSuccession(ctx, backend.Succession{Later: srcs[1].Num, Earlier: srcs[0].Num, LaterChunk: -1, EarlierChunk: -1,
			Evidence: reason, Decider: Caller, Confidence: 1, Created: time.Now()})
		if errors.Is(err, backend.ErrNotFound) { // a newer version came meanwhile
			return fmt.Errorf("%w: %w", backend.ErrConflict, err)
		}
		return err
	})
}

// Restore undoes all that took the place of a memory, and returns its version and how much that was.
func Restore(ctx context.Context, st backend.Store, part backend.Partition, id string) (src *backend.Source, n int, err error) {
	srcs, err := st.Sources(ctx, part, []string{id})
	if err != nil {
		return nil, 0, err
	}
	if srcs[0] == nil {
		return nil, 0, backend.ErrNotFound
	}
	found, err := st.Successions(ctx, backend.SuccessionQuery{Part: part, Earlier: []int64{srcs[0].Num}})
	if err != nil {
		return nil, 0, err
	}
	for _, f := range found {
		err := st.UndoSuccession(ctx, f.Num, time.Now())
		if err != nil && !errors.Is(err, backend.ErrNotFound) { // else its other side went meanwhile
			return srcs[0], n, err
		}
		n++
	}
	return srcs[0], n, nil
}

// Undecided returns successions of a partition that are too likely to forget and not certain enough to show, by Num, above
// a Num, at most limit.
func Undecided(ctx context.Context, st backend.Store, part backend.Partition, after int64, limit int) (out []backend.Succession, err error) {
	for len(out) < limit {
		page, err := st.Successions(ctx, backend.SuccessionQuery{Part: part, After: after, Limit: pageOf})
		if err != nil {
			return nil, err
		}
		for _, f := range page {
			if f.Confidence >= Kept && f.Confidence < Shown && len(out) < limit {
				out = append(out, f)
			}
			after = f.Num
		}
		if len(page) < pageOf {
			break
		}
	}
	return out, nil
}

// Superseded returns of each memory of a partition the surest succession that took its place; nil: it holds, or there is none such.
func Superseded(ctx context.Context, st backend.Store, part backend.Partition, ids []string) ([]*backend.Succession, error) {
	out := make([]*backend.Succession, len(ids))
	srcs, err := st.Sources(ctx, part, ids)
	if err != nil {
		return nil, err
	}
	var nums []int64
	for _, src := range srcs {
		if src != nil {
			nums = append(nums, src.Num)
		}
	}
	if len(nums) == 0 {
		return out, nil
	}
	found, err := st.Successions(ctx, backend.SuccessionQuery{Part: part, Earlier: nums})
	if err != nil {
		return nil, err
	}
	for i, src := range srcs {
		for j := range found {
			if f := &found[j]; src != nil && f.Earlier == src.Num && f.Confidence >= Shown && (out[i] == nil || f.Confidence > out[i].Confidence) {
				out[i] = f
			}
		}
	}
	return out, nil
}
