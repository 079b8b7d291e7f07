package inmem

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/contextmem/contextmem/backend"
)

// storeData is the stored data of a workspace.
type storeData struct {
	mu       sync.RWMutex
	parts    map[backend.Partition]*partition
	versions map[int64]*version
	chunks   map[int64]*chunk
	queue    []int64 // versions that may be waiting for work, ascending
	entities map[int64]*entity
	merges   ordered[*merge]
	followed ordered[*succession]
	touching map[int64]ordered[*succession] // by each of their two versions
	order    ordered[*version]              // all versions
	states   [backend.Errored + 1]int       // number of newest versions by state
	expiring []*version                     // versions with an expiry, the first to expire first
	compared map[int64]ordered[*version]    // versions that can be compared, by the generation under which they were
	events   []backend.Event
	values   map[string][]byte
	feed     feed
	last     struct{ version, chunk, entity, relation, merge, event, succession int64 }
	call     changed
}

func newStoreData() *storeData {
	return &storeData{
		parts:    make(map[backend.Partition]*partition),
		versions: make(map[int64]*version),
		chunks:   make(map[int64]*chunk),
		entities: make(map[int64]*entity),
		values:   make(map[string][]byte),
		touching: make(map[int64]ordered[*succession]),
		compared: make(map[int64]ordered[*version]),
		call:     newChanged(),
	}
}

// partition is one class of one sub-tenant.
type partition struct {
	name  backend.Partition
	items map[string]*item
	keys  map[string]*chunk // visible chunks by key
	graph graph
}

// item holds the versions of one id. older is the previous indexed version, which stays visible until newest is indexed.
// older is nil if there is no such version.
type item struct {
	newest, older *version
}

// fits reports whether an expectation is met: it is absent, or it names the newest version of it. it may be nil.
func (it *item) fits(expect backend.Version) bool {
	return expect == backend.Version{} || it != nil && it.newest.src.Version() == expect
}

type version struct {
	src       backend.Source
	part      *partition
	blobs     map[backend.ContentKind][]byte
	indexed   bool                           // its chunks are visible
	compared  int64                          // generation under which the version was compared
	chunks    []*chunk                       // in order of arrival, to which Mention.Chunk refers
	lane      backend.Lane                   // of the vectors in chunks
	lanes     [backend.LaneCount]bool        // lanes that are complete
	vectors   [backend.LaneCount][][]float32 // vectors of the other lanes, by chunk
	lanePuts  [backend.LaneCount]uint64      // feed entries of the vectors; 0: none
	mentions  []mention
	relations ordered[*relation]
	aliases   []backend.Alias
	puts      [backend.Drop]uint64 // feed entries by kind of change; 0: none
}

type chunk struct {
	backend.Chunk
	of *version
}

// store is one opened storeData.
type store struct {
	d       *storeData
	closed  atomic.Bool // set under d.mu
	onClose func()
}

// read runs f under the read lock; write runs f under the write lock.
func (s *store) read(ctx context.Context, f func(d *storeData) error) error {
	s.d.mu.RLock()
	defer s.d.mu.RUnlock()
	if err := usable(ctx, s.closed.Load()); err != nil {
		return err
	}
	return f(s.d)
}

func (s *store) write(ctx context.Context, f func(d *storeData) error) error {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	if err := usable(ctx, s.closed.Load()); err != nil {
		return err
	}
	err := f(s.d)
	s.d.settleAliases()
	return err
}

func (s *store) Close() error {
	s.d.mu.Lock()
	was := s.closed.Swap(true)
	s.d.mu.Unlock()
	if !was {
		s.onClose()
	}
	return nil
}

func (s *store) Get(ctx context.Context, name string) (value []byte, err error) {
	err = s.read(ctx, func(d *storeData) error {
		value = slices.Clone(d.values[name])
		return nil
	})
	return value, err
}

func (s *store) Set(ctx context.Context, name string, old, value []byte) error {
	return s.write(ctx, func(d *storeData) error {
		if !bytes.Equal(d.values[name], old) {
			return fmt.Errorf("set %q: it was changed since it was read: %w", name, backend.ErrConflict)
		}
		if len(value) == 0 {
			delete(d.values, name)
		} else {
			d.values[name] = slices.Clone(value)
		}
		return nil
	})
}

// part returns a partition, and creates it if it is missing.
func (d *storeData) part(name backend.Partition) *partition {
	p := d.parts[name]
	if p == nil {
		p = &partition{
			name:  name,
			items: make(map[string]*item),
			keys:  make(map[string]*chunk),
			graph: newGraph(),
		}
		p.graph.of = p
		d.parts[name] = p
	}
	return p
}

// item returns an item, or nil if it is missing.
func (d *storeData) item(part backend.Partition, id string) *item {
	if p := d.parts[part]; p != nil {
		return p.items[id]
	}
	return nil
}

// removeVersion deletes a version and all its data. The caller must remove it from its item.
func (d *storeData) removeVersion(v *version) {
	d.clearGraph(v)
	d.clearChunks(v)
	d.dropSuccessions(v.src.Num)
	d.feed.forget(v)
	if v.indexed {
		d.feed.drop(v)
	}
	v.blobs = nil
	d.unfile(v)
}

// removeItem deletes an item.
func (d *storeData) removeItem(it *item) {
	delete(it.newest.part.items, it.newest.src.ID)
	if it.older != nil {
		d.removeVersion(it.older)
	}
	d.removeVersion(it.newest)
}

func (d *storeData) clearChunks(v *version) {
	removeFrom(d.compared, v.compared, v.src.Num)
	for _, c := range v.chunks {
		delete(d.chunks, c.Num)
		delete(v.part.keys, c.Key)
	}
	v.chunks = nil
	v.lanes, v.vectors = [backend.LaneCount]bool{}, [backend.LaneCount][][]float32{}
}
