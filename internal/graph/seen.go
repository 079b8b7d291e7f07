package graph

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/contextmem/contextmem/backend"
)

// foldedVersions bounds the versions that are read for each name of a fold.
const foldedVersions = 2000

// Graph returns the entity index as the caller sees it. It is g itself where no hidden source states anything about names in parts.
// Entities of names that a hidden statement joins or separates are read from the Store, by the mentions of visible versions.
func (s *View) Graph(ctx context.Context, g backend.Graph, parts []backend.Partition) (backend.Graph, error) {
	folded := false
	for _, part := range parts {
		f, err := s.Fold(ctx, part)
		if err != nil {
			return nil, err
		}
		folded = folded || f != nil
	}
	if !folded {
		return g, nil
	}
	return &seenGraph{Graph: g, view: s, tables: map[backend.Partition]*seenMentions{}}, nil
}

// seenGraph is an entity index as a caller sees it.
type seenGraph struct {
	backend.Graph
	view   *View
	mu     sync.Mutex
	tables map[backend.Partition]*seenMentions
}

// seenMentions holds the mentions of a fold's names in visible versions.
type seenMentions struct {
	fold   *Fold
	chunks map[int64][]backend.EntityRef // by entity, sorted by chunk
	in     map[int64][]backend.EntityRef // by chunk, sorted by entity
}

// table returns the mentions of a partition, nil where it has no fold.
func (g *seenGraph) table(ctx context.Context, part backend.Partition) (*seenMentions, error) {
	f, err := g.view.Fold(ctx, part)
	if err != nil || f == nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if t := g.tables[part]; t != nil {
		return t, nil
	}
	t := &seenMentions{fold: f, chunks: map[int64][]backend.EntityRef{}, in: map[int64][]backend.EntityRef{}}
	keys := make([]string, 0, len(f.class))
	for key := range f.class {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	found, err := g.view.store.MentionsOf(ctx, part, keys, foldedVersions)
	if err != nil {
		return nil, err
	}
	nums := make([]int64, len(found))
	for i := range found {
		nums[i] = found[i].Source
	}
	seen, err := g.view.Seen(ctx, nums)
	if err != nil {
		return nil, err
	}
	for _, m := range found {
		if c := f.class[keys[m.At]]; c.row != nil && seen(m.Source) {
			t.chunks[c.row.Num] = append(t.chunks[c.row.Num], backend.EntityRef{Chunk: m.Chunk, Entity: c.row.Num, Weight: m.Weight})
		}
	}
	for num, refs := range t.chunks {
		slices.SortStableFunc(refs, func(a, b backend.EntityRef) int { return cmp.Compare(a.Chunk, b.Chunk) })
		own := refs[:0]
		for _, r := range refs {
			if n := len(own); n > 0 && own[n-1].Chunk == r.Chunk {
				own[n-1].Weight += r.Weight
				continue
			}
			own = append(own, r)
		}
		for i := range own {
			own[i].DF = len(own)
			t.in[own[i].Chunk] = append(t.in[own[i].Chunk], own[i])
		}
		t.chunks[num] = own
	}
	for _, refs := range t.in {
		slices.SortFunc(refs, func(a, b backend.EntityRef) int { return cmp.Compare(a.Entity, b.Entity) })
	}
	g.tables[part] = t
	return t, nil
}

// MatchEntities implements [backend.Graph].
func (g *seenGraph) MatchEntities(ctx context.Context, part backend.Partition, keys []string) ([]backend.EntityMatch, error) {
	t, err := g.table(ctx, part)
	if err != nil || t == nil {
		if err != nil {
			return nil, err
		}
		return g.Graph.MatchEntities(ctx, part, keys)
	}
	others := make([]string, 0, len(keys))
	var out []backend.EntityMatch
	done := map[string]bool{}
	for _, key := range keys {
		c := t.fold.class[key]
		if c == nil {
			others = append(others, key)
			continue
		}
		if c.row != nil && len(t.chunks[c.row.Num]) > 0 && !done[key] {
			done[key] = true
			out = append(out, backend.EntityMatch{Entity: c.row.Num, Key: key, DF: len(t.chunks[c.row.Num])})
		}
	}
	found, err := g.Graph.MatchEntities(ctx, part, others)
	return append(found, out...), err
}

// Mentions implements [backend.Graph].
func (g *seenGraph) Mentions(ctx context.Context, part backend.Partition, chunks []int64) ([]backend.EntityRef, error) {
	found, err := g.Graph.Mentions(ctx, part, chunks)
	if err != nil {
		return nil, err
	}
	t, err := g.table(ctx, part)
	if err != nil || t == nil {
		return found, err
	}
	others := make(map[int64][]backend.EntityRef, len(chunks))
	for _, r := range found {
		if !t.fold.judges(r.Entity) {
			others[r.Chunk] = append(others[r.Chunk], r)
		}
	}
	out := make([]backend.EntityRef, 0, len(found))
	for _, c := range chunks {
		out = append(append(out, others[c]...), t.in[c]...)
	}
	return out, nil
}

// MentionedIn implements [backend.Graph].
func (g *seenGraph) MentionedIn(ctx context.Context, part backend.Partition, entities []int64, perEntity int) ([]backend.EntityRef, error) {
	t, err := g.table(ctx, part)
	if err != nil || t == nil {
		if err != nil {
			return nil, err
		}
		return g.Graph.MentionedIn(ctx, part, entities, perEntity)
	}
	others := make([]int64, 0, len(entities))
	var out []backend.EntityRef
	for _, num := range entities {
		if !t.fold.judges(num) {
			others = append(others, num)
		} else {
			refs := t.chunks[t.fold.num(num)]
			out = append(out, refs[:min(len(refs), max(perEntity, 0))]...)
		}
	}
	found, err := g.Graph.MentionedIn(ctx, part, others, perEntity)
	return append(found, out...), err
}

// AppendNeighbours implements [backend.NeighbourAppender].
func (g *seenGraph) AppendNeighbours(ctx context.Context, dst []backend.Neighbours, part backend.Partition, chunks []int64) ([]backend.Neighbours, error) {
	if a, ok := g.Graph.(backend.NeighbourAppender); ok {
		return a.AppendNeighbours(ctx, dst, part, chunks)
	}
	found, err := g.Graph.Neighbours(ctx, part, chunks)
	return append(dst, found...), err
}
