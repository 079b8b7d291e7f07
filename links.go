package contextmem

import (
	"context"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
)

// linked is a source that another one is connected with.
type linked struct {
	src       *backend.Source
	predicate string
}

// linksOf returns the sources that src names in its relations, in order.
func linksOf(ctx context.Context, st backend.Store, src *backend.Source, limit int) ([]linked, error) {
	doc, err := item.Decode(src.Doc)
	if err != nil {
		return nil, err
	}
	rel := decodeRelations(doc)
	if rel == nil {
		return nil, nil
	}
	var ids, preds []string
	for _, id := range rel.IDs {
		ids, preds = append(ids, id), append(preds, "relates_to")
	}
	var out []linked
	seen := map[int64]bool{src.Num: true}
	add := func(s *backend.Source, predicate string) {
		if s != nil && !seen[s.Num] && !expired(s, time.Now()) && len(out) < limit {
			seen[s.Num] = true
			out = append(out, linked{s, predicate})
		}
	}
	for _, l := range rel.Links {
		if l.ID != "" {
			ids, preds = append(ids, l.ID), append(preds, l.Predicate)
		}
	}
	ids, preds = ids[:min(len(ids), limit)], preds[:min(len(preds), limit)]
	srcs, err := st.Sources(ctx, src.Part, ids)
	if err != nil {
		return nil, err
	}
	for i, s := range srcs {
		add(s, preds[i])
	}
	for _, l := range rel.Links {
		if l.ID != "" || len(out) >= limit {
			continue
		}
		found, err := byTag(ctx, st, src.Part, externalTag(l.Provider, l.ExternalID), 1)
		if err != nil {
			return nil, err
		}
		for _, s := range found {
			add(s, l.Predicate)
		}
	}
	return out, nil
}

// byTag returns sources of a partition with a tag, newest first.
func byTag(ctx context.Context, st backend.Store, part backend.Partition, tag uint64, limit int) ([]*backend.Source, error) {
	srcs, _, err := st.List(ctx, backend.ListQuery{Part: part, Filter: backend.Filter{All: [][]uint64{{tag}}}, Limit: limit, Now: time.Now()})
	return srcs, err
}

// backTags are the tags under which a source can be found by those that link to it.
func backTags(rel *storedRelations) []uint64 {
	if rel == nil {
		return nil
	}
	var tags []uint64
	for _, id := range rel.IDs {
		tags = append(tags, item.Tag(item.LayerLink, "id", id))
	}
	for _, l := range rel.Links {
		if l.ID != "" {
			tags = append(tags, item.Tag(item.LayerLink, "id", l.ID))
		} else {
			tags = append(tags, item.Tag(item.LayerLink, "external", l.Provider+"\x00"+l.ExternalID))
		}
	}
	return tags
}

// namedBy returns the tags of sources that name src in their relations.
func namedBy(src *backend.Source) ([]uint64, error) {
	tags := []uint64{item.Tag(item.LayerLink, "id", src.ID)}
	doc, err := item.Decode(src.Doc)
	if err != nil {
		return nil, err
	}
	if a := doc.App; a != nil && a.Provider != "" && a.ExternalID != "" {
		tags = append(tags, item.Tag(item.LayerLink, "external", a.Provider+"\x00"+a.ExternalID))
	}
	return tags, nil
}

// whoNames returns those of the sources that name src.
func whoNames(src *backend.Source, from []*backend.Source) ([]linked, error) {
	doc, err := item.Decode(src.Doc)
	if err != nil {
		return nil, err
	}
	var out []linked
	for _, s := range from {
		if s.Num == src.Num {
			continue
		}
		d, err := item.Decode(s.Doc)
		if err != nil {
			return nil, err
		}
		rel := decodeRelations(d)
		if rel == nil {
			continue
		}
		if slices.Contains(rel.IDs, src.ID) {
			out = append(out, linked{s, "relates_to"})
			continue
		}
		for _, l := range rel.Links {
			if l.ID == src.ID || doc.App != nil && l.ExternalID != "" && l.Provider == doc.App.Provider && l.ExternalID == doc.App.ExternalID {
				out = append(out, linked{s, l.Predicate})
				break
			}
		}
	}
	return out, nil
}

// linkedFrom returns the sources that name src in their relations.
func linkedFrom(ctx context.Context, st backend.Store, src *backend.Source, limit int) ([]linked, error) {
	tags, err := namedBy(src)
	if err != nil {
		return nil, err
	}
	srcs, _, err := st.List(ctx, backend.ListQuery{Part: src.Part, Filter: backend.Filter{All: [][]uint64{tags}}, Limit: limit, Now: time.Now()})
	if err != nil {
		return nil, err
	}
	return whoNames(src, srcs)
}

const (
	forcefulSources = 20 // related sources that one recall brings in
	forcefulPerHit  = 5
	forcefulChunks  = 2 // of each
)

// forceful puts chunks of forcefully related sources beside the hits.
func (r *recallRun) forceful(ctx context.Context, hits []*scopeHit) error {
	r.res.Additional = map[string]Chunk{}
	shown, brought := map[int64]bool{}, map[int64][]string{}
	for _, h := range hits {
		shown[h.row.Src.Num] = true
	}
	asked, err := r.links(ctx, hits)
	if err != nil {
		return err
	}
	for i, h := range hits {
		links := asked[h.row.Src.Num]
		for _, l := range links {
			if shown[l.src.Num] || !item.Live(r.filter, l.src.Tags) || r.later(l.src) {
				continue
			}
			keys, ok := brought[l.src.Num]
			if !ok {
				if len(brought) >= forcefulSources {
					continue
				}
				if keys, err = r.bring(ctx, l.src); err != nil {
					return err
				}
				brought[l.src.Num] = keys
			}
			for _, k := range keys {
				if c := &r.res.Chunks[i]; !slices.Contains(c.ExtraContextIDs, k) {
					c.ExtraContextIDs = append(c.ExtraContextIDs, k)
				}
			}
		}
	}
	return nil
}

// links finds what the sources of the hits are connected with, in both
// directions: what they name themselves, and, in one look-up for each partition, who
// names them.
func (r *recallRun) links(ctx context.Context, hits []*scopeHit) (map[int64][]linked, error) {
	out := map[int64][]linked{}
	byPart := map[backend.Partition][]*backend.Source{}
	for _, h := range hits {
		src := h.row.Src
		if _, ok := out[src.Num]; ok {
			continue
		}
		links, err := linksOf(ctx, r.held.store, src, forcefulPerHit)
		if err != nil {
			return nil, err
		}
		out[src.Num] = links
		byPart[h.part] = append(byPart[h.part], src)
	}
	for part, srcs := range byPart {
		var tags []uint64
		for _, src := range srcs {
			own, err := namedBy(src)
			if err != nil {
				return nil, err
			}
			tags = append(tags, own...)
		}
		from, _, err := r.held.store.List(ctx, backend.ListQuery{Part: part, Filter: backend.Filter{All: [][]uint64{tags}}, Limit: forcefulSources * forcefulPerHit, Now: r.now})
		if err != nil {
			return nil, err
		}
		for _, src := range srcs {
			back, err := whoNames(src, from)
			if err != nil {
				return nil, err
			}
			out[src.Num] = append(out[src.Num], back[:min(len(back), forcefulPerHit)]...)
		}
	}
	return out, nil
}

// bring puts the first chunks of a source into the additional context.
func (r *recallRun) bring(ctx context.Context, src *backend.Source) ([]string, error) {
	chunks, err := r.held.store.SourceChunks(ctx, src.Num, 0, forcefulChunks, false)
	if err != nil {
		return nil, err
	}
	nums := make([]int64, len(chunks))
	for i, c := range chunks {
		nums[i] = c.Num
	}
	rows, err := r.held.store.Chunks(ctx, nums, r.now) // only what is visible
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, row := range rows {
		var c Chunk
		err := r.fillChunk(&c, row)
		if err != nil {
			return nil, err
		}
		r.res.Additional[c.ID] = c
		keys = append(keys, c.ID)
	}
	return keys, nil
}
