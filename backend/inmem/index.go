package inmem

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// indexData holds all indexes of a workspace. It stores the applied changes by version, and the data for searches by partition.
type indexData struct {
	mu       sync.RWMutex
	applied  uint64
	versions map[int64]*indexVersion
	parts    map[backend.Partition]*indexPart
}

func newIndexData() *indexData {
	return &indexData{
		versions: make(map[int64]*indexVersion),
		parts:    make(map[backend.Partition]*indexPart),
	}
}

type indexVersion struct {
	num     int64
	part    backend.Partition
	time    time.Time
	session string
	tags    []uint64
	rows    []*row // by ordinal
	refs    []*ref
}

type row struct {
	backend.Row
	of    *indexVersion
	place int // position in of.rows
	facts backend.RowExtra
	lanes [backend.LaneCount][]float32
	doc   *doc
	refs  map[int64]*ref // by entity
}

// ref holds the mentions of an entity in a chunk, under any key.
type ref struct {
	row    *row
	entity int64
	keys   []string
	weight float32
}

type indexPart struct {
	versions int
	rows     map[int64]*row                 // by chunk
	lengths  [backend.LaneCount]map[int]int // number of rows with a vector, by vector length
	words    *words
	entities map[int64]ordered[*ref]    // by entity
	keys     map[string]map[int64]int   // number of refs by key and entity
	sessions atomic.Pointer[sessionMap] // built at the first use; nil: must be rebuilt
}

func newIndexPart() *indexPart {
	p := &indexPart{
		rows:     make(map[int64]*row),
		words:    newWords(),
		entities: make(map[int64]ordered[*ref]),
		keys:     make(map[string]map[int64]int),
	}
	for lane := range p.lengths {
		p.lengths[lane] = make(map[int]int)
	}
	return p
}

// index is one opened indexData.
type index struct {
	d       *indexData
	closed  atomic.Bool // set under d.mu
	onClose func()
}

func (x *index) Vectors() backend.Vectors   { return x }
func (x *index) Keywords() backend.Keywords { return x }
func (x *index) Graph() backend.Graph       { return x }

func (x *index) Indexes() []backend.Index { return []backend.Index{x} }

func (x *index) Close() error {
	x.d.mu.Lock()
	was := x.closed.Swap(true)
	x.d.mu.Unlock()
	if !was {
		x.onClose()
	}
	return nil
}

// read runs f with a partition under the read lock. It does not run f if the partition is unknown.
func (x *index) read(ctx context.Context, part backend.Partition, f func(p *indexPart) error) error {
	x.d.mu.RLock()
	defer x.d.mu.RUnlock()
	if err := usable(ctx, x.closed.Load()); err != nil {
		return err
	}
	if p := x.d.parts[part]; p != nil {
		return f(p)
	}
	return nil
}

func (x *index) write(ctx context.Context, f func(d *indexData)) error {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	if err := usable(ctx, x.closed.Load()); err != nil {
		return err
	}
	f(x.d)
	return nil
}

func (x *index) Applied() uint64 {
	x.d.mu.RLock()
	defer x.d.mu.RUnlock()
	return x.d.applied
}

func (x *index) Apply(ctx context.Context, changes []backend.Change) error {
	return x.write(ctx, func(d *indexData) {
		for i := range changes {
			if changes[i].Seq > d.applied {
				d.apply(&changes[i])
				d.applied = changes[i].Seq
			}
		}
	})
}

// Flush does nothing, because nothing is written to disk.
func (x *index) Flush(ctx context.Context) error {
	return x.write(ctx, func(*indexData) {})
}

func (x *index) Reset(ctx context.Context) error {
	return x.write(ctx, func(d *indexData) {
		d.applied = 0
		clear(d.versions)
		clear(d.parts)
	})
}

func (d *indexData) apply(c *backend.Change) {
	v := d.versions[c.Source]
	switch c.Kind {
	case backend.PutChunks:
		if v != nil {
			d.remove(v)
		}
		d.add(c)
	case backend.PutTags:
		if v != nil {
			v.tags = slices.Clone(c.Tags)
		}
	case backend.PutGraph:
		if v != nil {
			p := d.parts[v.part]
			p.removeRefs(v)
			p.addRefs(v, c.Mentions)
		}
	case backend.FoldEntity:
		if p := d.parts[c.Part]; p != nil {
			p.foldEntity(c.From, c.Into)
		}
	case backend.PutVectors:
		if v != nil {
			d.parts[v.part].putVectors(v, c)
		}
	case backend.DropVectors:
		for _, v := range d.versions {
			if v.part.Class != backend.Raw {
				for _, r := range v.rows {
					d.parts[v.part].setVector(r, c.Lane, nil)
				}
			}
		}
	case backend.Drop:
		if v != nil {
			d.remove(v)
		}
	case backend.DropSub:
		for _, v := range d.versions {
			if v.part.Sub == c.Part.Sub {
				d.remove(v)
			}
		}
	}
}

func (d *indexData) add(c *backend.Change) {
	v := &indexVersion{num: c.Source, part: c.Part, time: storerules.Stamped(c.Time), session: c.Session, tags: slices.Clone(c.Tags)}
	d.versions[v.num] = v
	p := d.parts[c.Part]
	if p == nil {
		p = newIndexPart()
		d.parts[c.Part] = p
	}
	p.versions++
	for _, in := range c.Rows {
		r := &row{Row: in, of: v, refs: make(map[int64]*ref)}
		r.Vector, r.Extra = nil, nil
		p.setVector(r, c.Lane, in.Vector)
		// Unreadable bytes are not an error of the index: the index continues without the facts.
		if len(in.Extra) > 0 && json.Unmarshal(in.Extra, &r.facts) != nil {
			r.facts = backend.RowExtra{}
		}
		r.doc = p.words.add(r, c.Title)
		v.rows = append(v.rows, r)
		p.rows[r.Chunk] = r
	}
	slices.SortStableFunc(v.rows, func(a, b *row) int { return a.Ordinal - b.Ordinal })
	for i, r := range v.rows {
		r.place = i
	}
	p.sessions.Store(nil)
}

func (d *indexData) remove(v *indexVersion) {
	p := d.parts[v.part]
	if p == nil { // a version without rows creates no partition
		delete(d.versions, v.num)
		return
	}
	p.removeRefs(v)
	for _, r := range v.rows {
		p.words.remove(r.doc)
		delete(p.rows, r.Chunk)
		for lane := range r.lanes {
			p.setVector(r, backend.Lane(lane), nil)
		}
	}
	p.sessions.Store(nil)
	delete(d.versions, v.num)
	if p.versions--; p.versions == 0 {
		delete(d.parts, v.part)
	}
}

// setVector replaces the vector of a row in a lane. A nil vector removes it.
func (p *indexPart) setVector(r *row, lane backend.Lane, v []float32) {
	if old := r.lanes[lane]; old != nil {
		if n := len(old); p.lengths[lane][n] == 1 {
			delete(p.lengths[lane], n)
		} else {
			p.lengths[lane][n]--
		}
	}
	r.lanes[lane] = slices.Clone(v)
	if v != nil {
		p.lengths[lane][len(v)]++
	}
}

// putVectors replaces the vectors of a version in a lane.
func (p *indexPart) putVectors(v *indexVersion, c *backend.Change) {
	for _, r := range v.rows {
		p.setVector(r, c.Lane, nil)
	}
	for _, in := range c.Rows {
		if r := p.rows[in.Chunk]; r != nil && r.of == v {
			p.setVector(r, c.Lane, in.Vector)
		}
	}
}

func (p *indexPart) addRefs(v *indexVersion, mentions []backend.MentionRef) {
	for _, m := range mentions {
		r := p.rows[m.Chunk]
		if r == nil || r.of != v {
			continue
		}
		e := r.refs[m.Entity]
		if e == nil {
			e = &ref{row: r, entity: m.Entity}
			r.refs[m.Entity] = e
			v.refs = append(v.refs, e)
			addTo(p.entities, m.Entity, e)
		}
		e.weight += m.Weight
		if slices.Contains(e.keys, m.Key) {
			continue
		}
		e.keys = append(e.keys, m.Key)
		if p.keys[m.Key] == nil {
			p.keys[m.Key] = make(map[int64]int)
		}
		p.keys[m.Key][m.Entity]++
	}
}

// FoldsEntities implements [backend.Folder].
func (x *index) FoldsEntities() bool { return true }

// foldEntity makes the mentions of one entity those of another.
func (p *indexPart) foldEntity(from, into int64) {
	again := make(map[*indexVersion][]backend.MentionRef)
	for _, r := range p.rows {
		if r.refs[from] != nil {
			again[r.of] = nil
		}
	}
	for v := range again {
		var all []backend.MentionRef
		for _, e := range v.refs {
			m := backend.MentionRef{Chunk: e.row.Chunk, Entity: e.entity, Weight: e.weight}
			if e.entity == from {
				m.Entity = into
			}
			for _, m.Key = range e.keys {
				all = append(all, m)
				m.Weight = 0 // the sum of all keys
			}
		}
		p.removeRefs(v)
		p.addRefs(v, all)
	}
}

func (p *indexPart) removeRefs(v *indexVersion) {
	for _, e := range v.refs {
		delete(e.row.refs, e.entity)
		removeFrom(p.entities, e.entity, e.row.Chunk)
		for _, key := range e.keys {
			named := p.keys[key]
			if named[e.entity]--; named[e.entity] == 0 {
				delete(named, e.entity)
			}
			if len(named) == 0 {
				delete(p.keys, key)
			}
		}
	}
	v.refs = nil
}
