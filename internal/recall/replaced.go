package recall

import (
	"github.com/contextmem/contextmem/backend"
)

// replaced finds out what became of the newer versions of the rows of the result that have one: search sees the older
// one until the newer one is indexed, which never happens to one that is errored.
func (r *run) replaced() error {
	byPart := map[backend.Partition][]*backend.Source{}
	add := func(row *backend.Hydrated) {
		if row.Src.Replaced {
			byPart[row.Src.Part] = append(byPart[row.Src.Part], row.Src)
		}
	}
	for _, h := range r.res.Hits {
		add(h.Row)
	}
	for i := range r.res.Related {
		add(r.res.Related[i].Row)
	}
	for _, row := range r.res.Extra {
		add(row)
	}
	errored := false
	for part, srcs := range byPart {
		ids := make([]string, len(srcs))
		for i, s := range srcs {
			ids[i] = s.ID
		}
		newest, err := r.Store.Sources(r.ctx, part, ids)
		if err != nil {
			return err
		}
		for i, s := range newest {
			if s == nil || s.Num == srcs[i].Num { // it went meanwhile
				continue
			}
			if r.res.Newer == nil {
				r.res.Newer = map[int64]backend.State{}
			}
			r.res.Newer[srcs[i].Num] = s.State
			errored = errored || s.State == backend.Errored
		}
	}
	if errored {
		r.warn("outdated", "", "some chunks are of versions whose replacement could not be processed: see their newer status")
	}
	return nil
}
