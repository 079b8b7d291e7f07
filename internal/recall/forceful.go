package recall

import (
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/graph"
)

const (
	forcefulSources = 20 // related sources that one recall adds
	forcefulPerHit  = 5
	forcefulChunks  = 2 // chunks of each related source
)

// forceful adds chunks of forcefully related sources to Result.Extra, and their keys to the hits.
func (r *run) forceful() error {
	r.res.Extra = []*backend.Hydrated{}
	shown, brought := map[int64]bool{}, map[int64][]string{}
	for _, h := range r.res.Hits {
		shown[h.Row.Src.Num] = true
	}
	linked, err := r.linked()
	if err != nil {
		return err
	}
	for _, h := range r.res.Hits {
		for _, l := range linked[h.Row.Src.Num] {
			if shown[l.Source.Num] || !r.allows(l.Source) {
				continue
			}
			keys, ok := brought[l.Source.Num]
			if !ok {
				if len(brought) >= forcefulSources {
					continue
				}
				if keys, err = r.addExtra(l.Source); err != nil {
					return err
				}
				brought[l.Source.Num] = keys
			}
			for _, k := range keys {
				if !slices.Contains(h.Extra, k) {
					h.Extra = append(h.Extra, k)
				}
			}
		}
	}
	return nil
}

// linked returns the sources to which the sources of the hits are linked, by version. These are the sources that they
// name, and the sources that name them. The latter take one look-up for each partition.
func (r *run) linked() (map[int64][]graph.Linked, error) {
	out := map[int64][]graph.Linked{}
	byPart := map[backend.Partition][]*backend.Source{}
	for _, h := range r.res.Hits {
		src := h.Row.Src
		if _, ok := out[src.Num]; ok {
			continue
		}
		links, err := graph.LinksOf(r.ctx, r.Store, r.Docs.Doc, src, forcefulPerHit)
		if err != nil {
			return nil, err
		}
		out[src.Num] = links
		byPart[src.Part] = append(byPart[src.Part], src)
	}
	for part, srcs := range byPart {
		var tags []uint64
		for _, src := range srcs {
			own, err := graph.LinkTags(r.Docs.Doc, src)
			if err != nil {
				return nil, err
			}
			tags = append(tags, own...)
		}
		from, _, err := r.Store.List(r.ctx, backend.ListQuery{Part: part, Filter: backend.Filter{All: [][]uint64{tags}}, Limit: forcefulSources * forcefulPerHit, Now: r.Now})
		if err != nil {
			return nil, err
		}
		for _, src := range srcs {
			back, err := graph.LinkedFrom(r.Docs.Doc, src, from)
			if err != nil {
				return nil, err
			}
			out[src.Num] = append(out[src.Num], back[:min(len(back), forcefulPerHit)]...)
		}
	}
	return out, nil
}

// addExtra adds the first chunks of a source to Result.Extra, and returns their keys.
func (r *run) addExtra(src *backend.Source) ([]string, error) {
	chunks, err := r.Store.SourceChunks(r.ctx, src.Num, 0, forcefulChunks, false)
	if err != nil {
		return nil, err
	}
	nums := make([]int64, len(chunks))
	for i, c := range chunks {
		nums[i] = c.Num
	}
	rows, err := r.Store.Chunks(r.ctx, nums, r.Now) // leaves out chunks that are not visible
	if err != nil {
		return nil, err
	}
	keys := make([]string, len(rows))
	for i, row := range rows {
		keys[i] = row.Key
	}
	r.res.Extra = append(r.res.Extra, rows...)
	return keys, nil
}
