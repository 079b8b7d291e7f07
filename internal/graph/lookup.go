package graph

import (
	"cmp"
	"context"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
)

// Lookup returns the entity that each key names for the caller, nil where visible sources do not mention it.
// An entity has the name of the key that it is folded into if visible sources mention that name, else the name of key.
func (s *View) Lookup(ctx context.Context, part backend.Partition, keys []string) ([]*backend.Entity, error) {
	said, root, err := s.Mentions(ctx, part, keys)
	if err != nil {
		return nil, err
	}
	out := make([]*backend.Entity, len(keys))
	for i, key := range keys {
		name := root(key)
		x := said[name]
		if x == nil || !x.Own {
			if name, x = key, said[key]; x == nil || !x.Own {
				continue
			}
		}
		num, err := s.Entity(ctx, part, key)
		if err != nil {
			return nil, err
		}
		out[i] = &backend.Entity{Num: num, Key: name, Name: item.ShownKey(name), Type: x.Type}
	}
	return out, nil
}

// Merges returns the merges of ms that the caller may see, with only what the caller may know of them.
// A merge by a caller is visible if visible sources mention both names; a stated merge is visible if visible sources state it.
func (s *View) Merges(ctx context.Context, part backend.Partition, ms []backend.Merge) ([]backend.Merge, error) {
	if !s.Restricted() || len(ms) == 0 {
		return ms, nil
	}
	stated, err := s.store.Stated(ctx, backend.StatedQuery{Part: part})
	if err != nil {
		return nil, err
	}
	nums := make([]int64, len(stated))
	for i := range stated {
		nums[i] = stated[i].Source
	}
	seen, err := s.Seen(ctx, nums)
	if err != nil {
		return nil, err
	}
	says := map[string][]backend.Stated{} // visible statements, by From
	for _, x := range stated {
		if seen(x.Source) {
			says[x.From] = append(says[x.From], x)
		}
	}
	all, err := allMerges(ctx, s.store, part)
	if err != nil {
		return nil, err
	}
	last := map[[2]string]int64{}
	for i := range all {
		last[[2]string{all[i].AskedFrom, all[i].AskedInto}] = all[i].Num
	}
	var keys []string
	for i := range ms {
		keys = append(keys, ms[i].AskedFrom, ms[i].AskedInto)
	}
	said, _, err := s.Mentions(ctx, part, keys)
	if err != nil {
		return nil, err
	}
	mentioned := func(key string) bool { return said[key] != nil && said[key].Own }
	var out []backend.Merge
	for _, m := range ms {
		m.From, m.Into = m.AskedFrom, m.AskedInto
		if m.Stated {
			x := standIn(says[m.From])
			if x == nil || x.Into != m.Into {
				continue
			}
			m.Reason, m.At = x.Reason, cmp.Or(x.At, m.At)
			if last[[2]string{m.From, m.Into}] == m.Num { // the Undone of earlier merges may come from hidden sources
				m.Undone = m.ByCaller
			}
		} else if !mentioned(m.From) || !mentioned(m.Into) {
			continue
		}
		out = append(out, m)
	}
	return out, nil
}
