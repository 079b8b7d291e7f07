package recall

import (
	"slices"

	"github.com/contextmem/contextmem/backend"
)

// replaced sets Result.Newer: the states of newer versions of rows in the result. Search finds an older version until the
// newer one is indexed. If the newer one failed, that never happens.
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
		newest, err := r.newestOf(part, ids, srcs)
		if err != nil {
			return err
		}
		for i, s := range newest {
			if s == nil || s.Num == srcs[i].Num { // the newer version was deleted meanwhile
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

// newestOf returns the newest versions of items. If one has replaced the version found, newestOf waits for the commit that
// did so. A caller who learns of a newer version from this result therefore finds it with the next recall.
func (r *run) newestOf(part backend.Partition, ids []string, found []*backend.Source) ([]*backend.Source, error) {
	newest, err := r.Store.Sources(r.ctx, part, ids)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(newest, func(s *backend.Source) bool {
		return s != nil && !slices.ContainsFunc(found, func(f *backend.Source) bool { return f.ID == s.ID && f.Num == s.Older })
	}) {
		return r.settledSources(part, ids)
	}
	return newest, nil
}
