package item

import (
	"context"

	"github.com/contextmem/contextmem/backend"
)

// Hidden returns the versions among those of rows that were replaced by one that visible, the filter of what a caller
// may see, turns away; nil: none. Who may see an item is as its newest version says, from the moment that it is
// accepted, though search still sees the version before.
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
