package graph

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
)

// Sight is what a caller may see of the graph of a workspace. Names of one entity are those that something states which the
// caller may see, or that a caller merged: a hidden document joins nothing. It reads each thing once, and is safe for concurrent
// use; it is for one call.
type Sight struct {
	store   backend.Store
	now     time.Time
	visible backend.Filter

	mu      sync.Mutex
	folds   map[backend.Partition]*Fold // nil: what the Store says holds
	sources map[int64]bool              // by version: whether the caller may see it
}

// NewSight returns the sight of a caller. visible is the filter of what they may see at all; zero: everything.
func NewSight(st backend.Store, now time.Time, visible backend.Filter) *Sight {
	return &Sight{store: st, now: now, visible: visible}
}

// Restricted reports whether the caller may not see everything.
func (s *Sight) Restricted() bool { return len(s.visible.All)+len(s.visible.Not) > 0 }

// Fold returns what names of a partition mean to the caller; nil: what the Store says.
func (s *Sight) Fold(ctx context.Context, part backend.Partition) (*Fold, error) {
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

// look finds out of versions whether the caller may see them.
func (s *Sight) look(ctx context.Context, nums []int64) error {
	if s.sources == nil {
		s.sources = map[int64]bool{}
	}
	return item.Seen(ctx, s.store, s.visible, s.now, nums, s.sources)
}

// Seen reports of versions of sources whether the caller may see them.
func (s *Sight) Seen(ctx context.Context, nums []int64) (func(num int64) bool, error) {
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

// row returns the entity that a number of a fold stands for, nil for others.
func (s *Sight) row(num int64) *backend.Entity {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.folds {
		if f != nil && f.own[num] != nil {
			return f.own[num].row
		}
	}
	return nil
}

// Entity returns the number of the entity that a key names to the caller, 0 for none. It may be one that only hidden
// sources mention.
func (s *Sight) Entity(ctx context.Context, part backend.Partition, key string) (int64, error) {
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

// Said is what visible sources say of a name.
type Said struct {
	Own   bool   // the name itself is mentioned
	Type  string // of the name itself; the oldest source counts
	Count int    // mentions of the name, and of those that stand for it
}

// Said returns what visible sources say of keys; of a key of which they say nothing there is none. root returns the key that
// a key stands for, itself for itself.
func (s *Sight) Said(ctx context.Context, part backend.Partition, keys []string) (said map[string]*Said, root func(key string) string, err error) {
	f, err := s.Fold(ctx, part)
	if err != nil {
		return nil, nil, err
	}
	roots := make(map[string]string, len(keys))
	plain := make([]string, 0, len(keys))
	var of, folded []string // keys of classes, and for which one they are read
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
	said = make(map[string]*Said, len(keys))
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

// say adds what visible sources say of keys to that of the keys that they are read for.
func (s *Sight) say(ctx context.Context, q backend.MentionQuery, of []string, said map[string]*Said) error {
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
			x = new(Said)
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
