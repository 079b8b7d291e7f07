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

// cache bounds the memory of all partitions of a deployment. It evicts the least recently used partitions
// that have nothing to flush; a later call loads them from their files again. For partitions with unflushed
// rows it starts a flush in the background, after which they can be evicted. A workspace that has no
// partition in memory goes to sleep: its files are closed.
type cache struct {
	budget int64 // bytes; 0 or less: no bound
	used   atomic.Int64
	calm   atomic.Int64 // bytes; shrink does nothing until used exceeds this
	clock  atomic.Int64

	loads, evictions atomic.Int64 // of partitions

	shrinking sync.Mutex
	mu        sync.Mutex          // guards the map
	open      map[*index]struct{} // the workspaces that are awake
}

func newCache(budget int64) *cache {
	return &cache{budget: budget, open: make(map[*index]struct{})}
}

// touch records a use of a slot. The slot that was used last keeps its time, so that calls
// on one workspace do not all write to the shared clock.
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

// kinds maps the kinds of sections to the names of the indexes that they belong to.
var kinds = map[sectionKind]string{secRows: "columns", secTags: "columns", secGraph: "graph", secLinks: "graph", secWords: "keyword", secVectors: "vector", secPlaces: "vector"}

// sizes returns the size of each index in the files of the workspaces that are awake.
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

// shrink evicts partitions until seven eighths of the budget are used. It does nothing
// unless the whole budget is exceeded. The caller holds no lock.
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

// residents appends the partitions in memory to dst. It appends none while a writer is at work.
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

// evict removes the partition of a slot from memory, unless the partition has something to flush or a writer
// is at work.
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

// flushAlone flushes the index, so that its partitions can be evicted.
func (x *index) flushAlone(ctx context.Context) {
	if err := x.Flush(ctx); err != nil && ctx.Err() == nil {
		x.log().Warn("indexes cannot be flushed", "error", err)
	}
}
