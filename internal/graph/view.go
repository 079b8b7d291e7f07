package graph

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
)

// View is the part of a workspace's graph that a caller may see.
// It folds names only by visible statements and by callers' merges, so that a hidden document joins nothing.
// It reads each thing once. A View is for one call and is safe for concurrent use.
type View struct {
	store   backend.Store
	now     time.Time
	visible backend.Filter

	mu      sync.Mutex
	folds   map[backend.Partition]*Fold // a nil Fold means that the Store's folding holds
	sources map[int64]bool              // by version number: whether the caller may see it
}

// NewView returns the View of a caller. visible limits what the caller may see; the zero filter allows everything.
func NewView(st backend.Store, now time.Time, visible backend.Filter) *View {
	return &View{store: st, now: now, visible: visible}
}

// Restricted reports whether a filter limits what the caller may see.
func (s *View) Restricted() bool { return len(s.visible.All)+len(s.visible.Not) > 0 }

// Fold returns how names of a partition are folded for the caller; nil means as in the Store.
func (s *View) Fold(ctx context.Context, part backend.Partition) (*Fold, error) {
	if !s.Restricted() {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.folds[part]
	if ok {
		return f, nil
	}
	f, err := newFold(ctx, s.store, part, func(stated []backend.Stated) (map[int64]bool, error) {
		nums := make([]int64, len(stated))
		for i := range stated {
			nums[i] = stated[i].Source
		}
		if err := s.look(ctx, nums); err != nil {
			return nil, err
		}
		hidden := map[int64]bool{}
		for _, n := range nums {
			if !s.sources[n] {
				hidden[n] = true
			}
		}
		return hidden, nil
	})
	if err == nil {
		if s.folds == nil {
			s.folds = map[backend.Partition]*Fold{}
		}
		s.folds[part] = f
	}
	return f, err
}

// look finds out which versions the caller may see.
func (s *View) look(ctx context.Context, nums []int64) error {
	if s.sources == nil {
		s.sources = map[int64]bool{}
	}
	return item.Seen(ctx, s.store, s.visible, s.now, nums, s.sources)
}

// Seen returns a function that reports whether the caller may see a version of nums.
func (s *View) Seen(ctx context.Context, nums []int64) (func(num int64) bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.look(ctx, nums); err != nil {
		return nil, err
	}
	return func(num int64) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.sources[num]
	}, nil
}

// row returns the entity that stands for the entity num in a fold, nil if no fold holds it.
func (s *View) row(num int64) *backend.Entity {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.folds {
		if f != nil && f.own[num] != nil {
			return f.own[num].row
		}
	}
	return nil
}

// Entity returns the number of the entity that a key names for the caller, 0 if there is none. Hidden sources may be the only ones that mention it.
func (s *View) Entity(ctx context.Context, part backend.Partition, key string) (int64, error) {
	f, err := s.Fold(ctx, part)
	if err != nil {
		return 0, err
	}
	if f != nil && f.class[key] != nil {
		if row := f.class[key].row; row != nil {
			return row.Num, nil
		}
		return 0, nil
	}
	es, err := s.store.EntitiesByKey(ctx, part, []string{key})
	if err != nil || es[0] == nil {
		return 0, err
	}
	return es[0].Num, nil
}

// VisibleMentions is what visible sources say of a name.
type VisibleMentions struct {
	Own   bool   // whether the name itself is mentioned
	Type  string // type of the name itself, from the oldest source
	Count int    // mentions of the name and of the names folded into it
}

// Mentions returns what visible sources say of keys. The map has no entry for a key that they do not mention.
// root returns the key that a key is folded into, or the key itself.
func (s *View) Mentions(ctx context.Context, part backend.Partition, keys []string) (said map[string]*VisibleMentions, root func(key string) string, err error) {
	f, err := s.Fold(ctx, part)
	if err != nil {
		return nil, nil, err
	}
	roots := make(map[string]string, len(keys))
	plain := make([]string, 0, len(keys))
	var of, folded []string // folded are keys to read; of has, for each, the key whose result it counts for
	add := func(key string) {
		if _, known := roots[key]; known {
			return
		}
		roots[key] = key
		if f == nil || f.class[key] == nil {
			plain = append(plain, key)
			return
		}
		c := f.class[key]
		if c.row != nil {
			roots[key] = c.row.Key
		}
		if roots[key] != key {
			of, folded = append(of, key), append(folded, key)
			return
		}
		for _, k := range c.keys {
			of, folded = append(of, key), append(folded, k)
		}
	}
	for _, key := range keys {
		add(key)
	}
	es, err := s.store.EntitiesByKey(ctx, part, plain)
	if err != nil {
		return nil, nil, err
	}
	for i, e := range es {
		if e != nil {
			roots[plain[i]] = e.Key
		}
	}
	for _, key := range keys {
		add(roots[key])
	}
	said = make(map[string]*VisibleMentions, len(keys))
	for _, q := range [...]struct {
		of, keys []string
		oldest   int
	}{{plain, plain, 0}, {of, folded, math.MaxInt32}} {
		if len(q.keys) == 0 {
			continue
		}
		if err := s.say(ctx, backend.MentionQuery{Part: part, Keys: q.keys, Oldest: q.oldest}, q.of, said); err != nil {
			return nil, nil, err
		}
	}
	return said, func(key string) string { return roots[key] }, nil
}

// say adds what visible sources say of q.Keys to said, each under the key at the same place in of.
func (s *View) say(ctx context.Context, q backend.MentionQuery, of []string, said map[string]*VisibleMentions) error {
	found, err := s.store.Mentioned(ctx, q)
	if err != nil {
		return err
	}
	nums := make([]int64, len(found))
	for i, m := range found {
		nums[i] = m.Source
	}
	seen, err := s.Seen(ctx, nums)
	if err != nil {
		return err
	}
	for _, m := range found {
		if !seen(m.Source) {
			continue
		}
		key := of[m.At]
		x := said[key]
		if x == nil {
			x = new(VisibleMentions)
			said[key] = x
		}
		x.Count += m.Count
		if m.Key == key {
			x.Own = true
			if x.Type == "" {
				x.Type = m.Type
			}
		}
	}
	return nil
}
