package local

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/contextmem/contextmem/backend"
)

// cache bounds the memory of all partitions of a deployment. Partitions that have
// nothing to flush are forgotten by least recent use; they come back from their
// files. Workspaces whose tails alone are too much are flushed in the background, and
// those that are left without partitions in memory go to sleep.
type cache struct {
	budget int64 // bytes; 0 or less: no bound
	used   atomic.Int64
	calm   atomic.Int64 // shrink does nothing until used exceeds this
	clock  atomic.Int64

	loads, evictions atomic.Int64 // of partitions

	shrinking sync.Mutex
	mu        sync.Mutex          // guards the map
	open      map[*index]struct{} // those awake
}

func newCache(budget int64) *cache {
	return &cache{budget: budget, open: make(map[*index]struct{})}
}

// touch notes that a slot is used. The one that was used last keeps its time, so that many
// calls on one workspace write to no memory that they share.
func (c *cache) touch(s *slot) {
	if now := c.clock.Load(); now == 0 || s.used.Load() != now {
		s.used.Store(c.clock.Add(1))
	}
}

func (c *cache) add(n int64) { c.used.Add(n) }

// Measure implements [backend.Measurer].
func (x *Indexers) Measure() backend.IndexMeasures {
	c := x.cache
	return backend.IndexMeasures{MemoryBytes: max(c.used.Load(), 0), LimitBytes: max(c.budget, 0), Loads: c.loads.Load(), Evictions: c.evictions.Load(),
		Sizes: c.sizes()}
}

// kinds are the indexes that sections belong to.
var kinds = map[sectionKind]string{secRows: "columns", secTags: "columns", secGraph: "graph", secLinks: "graph", secWords: "keyword", secVectors: "vector", secPlaces: "vector"}

// sizes measures the files of the workspaces that are awake.
func (c *cache) sizes() []backend.IndexSize {
	c.mu.Lock()
	awake := slices.Collect(maps.Keys(c.open))
	c.mu.Unlock()
	all := map[string]*backend.IndexSize{}
	for _, name := range kinds {
		all[name] = &backend.IndexSize{Index: name}
	}
	for _, x := range awake {
		rows, dropped := map[string]int64{}, int64(0)
		x.publishing.Lock()
		for _, f := range x.files {
			for _, b := range f.blocks {
				dropped += int64(b.dropped)
				counted := map[string]bool{}
				for _, s := range b.sections {
					name, ok := kinds[s.kind]
					if !ok {
						continue
					}
					all[name].Bytes += int64(s.length)
					if !counted[name] {
						counted[name] = true
						rows[name] += int64(b.rows)
					}
				}
			}
		}
		x.publishing.Unlock()
		for name, n := range rows {
			all[name].Rows += max(n-dropped, 0)
		}
	}
	var out []backend.IndexSize
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, *all[name])
	}
	return out
}

// register adds a workspace that woke up.
func (c *cache) register(x *index) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[x] = struct{}{}
}

// unregister removes a workspace that sleeps or is closed.
func (c *cache) unregister(x *index) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, x)
}

// resident is a partition in memory.
type resident struct {
	x     *index
	s     *slot
	used  int64
	dirty bool
}

// shrink evicts until seven eighths of the budget are used, if more than all of it
// is. The caller holds no lock.
func (c *cache) shrink() {
	if used := c.used.Load(); c.budget <= 0 || used <= max(c.budget, c.calm.Load()) || !c.shrinking.TryLock() {
		return
	}
	defer c.shrinking.Unlock()
	c.mu.Lock()
	awake := slices.Collect(maps.Keys(c.open))
	c.mu.Unlock()
	for _, x := range awake {
		x.sleep()
	}
	var all []resident
	for _, x := range awake {
		all = x.residents(all)
	}
	slices.SortFunc(all, func(a, b resident) int { return cmp.Compare(a.used, b.used) })
	target := c.budget / 8 * 7
	for _, r := range all {
		if c.used.Load() <= target {
			break
		}
		if r.dirty {
			r.x.flusher.start(r.x.flushAlone)
		} else {
			r.x.evict(r.s)
		}
	}
	for _, x := range awake {
		x.sleep()
	}
	c.calm.Store(c.used.Load() + c.budget/16)
}

// residents appends the partitions in memory, unless a writer is at work.
func (x *index) residents(dst []resident) []resident {
	if !x.applying.TryLock() {
		return dst
	}
	defer x.applying.Unlock()
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, s := range x.slots {
		if p := s.p.Load(); p != nil {
			dst = append(dst, resident{x, s, s.used.Load(), p.dirty()})
		}
	}
	return dst
}

// evict forgets the partition of a slot if it has nothing to flush and no writer is
// at work.
func (x *index) evict(s *slot) {
	if !x.life.TryRLock() {
		return
	}
	defer x.life.RUnlock()
	if x.closed || !x.applying.TryLock() {
		return
	}
	defer x.applying.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.p.Load(); p != nil && !p.dirty() {
		x.unload(s)
		x.cache.evictions.Add(1)
	}
}

// flushAlone flushes to make room.
func (x *index) flushAlone(ctx context.Context) {
	if err := x.Flush(ctx); err != nil && ctx.Err() == nil {
		x.log().Warn("indexes cannot be flushed", "error", err)
	}
}
