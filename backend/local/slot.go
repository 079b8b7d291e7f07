package local

import (
	"sync"
	"sync/atomic"

	"github.com/contextmem/contextmem/backend"
)

// slot is where a partition is found, in memory or not.
type slot struct {
	part   backend.Partition
	p      atomic.Pointer[partition]
	used   atomic.Int64 // time of the last use on the cache's clock
	bytes  atomic.Int64 // about what p takes
	mu     sync.Mutex   // held while p or blocks change
	blocks []*block     // from the oldest to the newest
	sealed bool         // a flush writes another block
}

// find returns the slot of a partition; nil when it is unknown.
func (x *index) find(part backend.Partition) *slot {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.slots[part]
}

// load returns the partition of a slot, built from its blocks if need be. It is nil
// when the slot is empty.
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

// weigh sets the bytes of a partition in the cache.
func (x *index) weigh(s *slot, p *partition) {
	n := p.sizeBytes()
	x.cache.add(n - s.bytes.Swap(n))
}

// unload forgets the partition of a slot; its blocks stay. It waits for readers. The caller
// holds s.mu, or the slot cannot be reached any more.
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

// emptyWhere forgets the partitions whose names pass.
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

// empty forgets all rows of a slot. One with blocks, or with one that is being written,
// stays until a flush has said so in a file.
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
