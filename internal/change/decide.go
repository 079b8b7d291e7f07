package change

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/cas"
)

// Caller is the decider of successions that callers decided.
const Caller = "caller"

const pageOf = 256 // successions read in one call

// Supersede stores a caller's decision that the memory by replaces the memory id.
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
		if errors.Is(err, backend.ErrNotFound) { // a newer version was stored meanwhile
			return fmt.Errorf("%w: %w", backend.ErrConflict, err)
		}
		return err
	})
}

// Restore undoes all successions that replaced a memory. It returns the memory's version and the number of undone successions.
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
		if err != nil && !errors.Is(err, backend.ErrNotFound) { // otherwise the other memory was deleted meanwhile
			return srcs[0], n, err
		}
		n++
	}
	return srcs[0], n, nil
}

// Undecided returns up to limit successions of a partition with a Num above after, in order of Num.
// Their confidence is too high to drop and too low to show.
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

// Superseded returns, for each id, the most certain succession that replaced the memory, before those that replaced a part of it; nil if there is none or
// no such memory.
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
			if f := &found[j]; src != nil && f.Earlier == src.Num && f.Confidence >= Shown && (out[i] == nil || before(f, out[i])) {
				out[i] = f
			}
		}
	}
	return out, nil
}

// before reports whether a says more of the earlier memory than b: it is about the whole of it, or surer.
func before(a, b *backend.Succession) bool {
	if pa, pb := Partly(a.Extra), Partly(b.Extra); pa != pb {
		return pb
	}
	return a.Confidence > b.Confidence
}
