package local

import (
	"sync"
	"sync/atomic"

	"github.com/contextmem/contextmem/backend"
)

// slot holds a partition of a workspace, which may be in memory or only in files.
type slot struct {
	part   backend.Partition
	p      atomic.Pointer[partition]
	used   atomic.Int64 // time of the last use on the cache's clock
	bytes  atomic.Int64 // approximate size of p, as counted in the cache
	mu     sync.Mutex   // held while p or blocks change
	blocks []*block     // oldest first
	sealed bool         // a flush is writing another block
}

// find returns the slot of a partition, or nil when the partition is unknown.
func (x *index) find(part backend.Partition) *slot {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.slots[part]
}

// load returns the partition of a slot, and builds it from its blocks if it is not in
// memory. It returns nil when the slot has neither.
func (x *index) load(s *slot) (*partition, error) {
	x.cache.touch(s)
	if p := s.p.Load(); p != nil {
		return p, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.p.Load(); p != nil || len(s.blocks) == 0 {
		return p, nil
	}
	p, err := loadPartition(s.part.Class, s.blocks)
	if err != nil {
		return nil, err
	}
	x.weigh(s, p)
	s.p.Store(p)
	x.cache.loads.Add(1)
	x.verifyLater(s.blocks)
	return p, nil
}

// weigh updates the size of a partition in the cache.
func (x *index) weigh(s *slot, p *partition) {
	n := p.sizeBytes()
	x.cache.add(n - s.bytes.Swap(n))
}

// unload drops the partition of a slot from memory and keeps its blocks. It waits for readers. The
// caller holds s.mu, or nobody else can reach the slot.
func (x *index) unload(s *slot) {
	p := s.p.Swap(nil)
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.giveBack()
	x.cache.add(-s.bytes.Swap(0))
}

// emptyWhere removes the rows of all partitions for whose names which returns true.
func (x *index) emptyWhere(which func(backend.Partition) bool) {
	x.mu.RLock()
	var gone []*slot
	for part, s := range x.slots {
		if which(part) {
			gone = append(gone, s)
		}
	}
	x.mu.RUnlock()
	for _, s := range gone {
		x.empty(s)
	}
}

// empty removes all rows of a slot. If the slot has blocks, or a flush is writing one, it
// stays with an empty partition until a flush has recorded the removal in a file.
func (x *index) empty(s *slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x.unload(s)
	if len(s.blocks) > 0 || s.sealed {
		p := newPartition(s.part.Class)
		p.cleared = true
		s.p.Store(p)
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.slots, s.part)
}
