package item

import (
	"context"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// Hidden returns the versions in rows that were replaced by a version that the caller may not see; nil if there are none.
// visible is the filter of what the caller may see. The access list of an item's newest version counts as soon as that version is accepted,
// even while search still finds the version before.
func Hidden(ctx context.Context, st backend.Read, visible backend.Filter, rows []*backend.Hydrated) (map[int64]bool, error) {
	if len(visible.All)+len(visible.Not) == 0 {
		return nil, nil
	}
	var out map[int64]bool
	for _, row := range rows {
		if !row.Src.Replaced {
			continue
		}
		newest, err := st.Sources(ctx, row.Src.Part, []string{row.Src.ID})
		if err != nil {
			return nil, err
		}
		if newest[0] == nil || !Live(visible, newest[0].Tags) {
			if out == nil {
				out = map[int64]bool{}
			}
			out[row.Src.Num] = true
		}
	}
	return out, nil
}

// Seen adds to known whether the caller may see each version of nums. It skips versions that are in known already.
func Seen(ctx context.Context, st backend.Read, visible backend.Filter, now time.Time, nums []int64, known map[int64]bool) error {
	var fresh []int64
	for _, num := range nums {
		if _, ok := known[num]; !ok {
			known[num] = false
			fresh = append(fresh, num)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	srcs, err := st.SourcesByNum(ctx, fresh)
	if err != nil {
		return err
	}
	for i, src := range srcs {
		if src == nil || !Live(visible, src.Tags) || !src.ExpiresAt.IsZero() && !src.ExpiresAt.After(now) {
			continue
		}
		hidden, err := Hidden(ctx, st, visible, []*backend.Hydrated{{Src: src}})
		if err != nil {
			return err
		}
		known[fresh[i]] = !hidden[src.Num]
	}
	return nil
}
