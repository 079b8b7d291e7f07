package sqlite

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/contextmem/contextmem/backend"
)

// Bounds of what a store's writer remembers, in entries.
const (
	partCacheSize   = 4096
	entityCacheSize = 16384
)

// bg is the ctx of queries inside a transaction, which run to their end.
var bg = context.Background()

// tx is what the changing calls of a store share: the connection, the ledger, the
// counters of the call under way, and caches of small things looked up often. It
// belongs to who has the writer's turn.
type tx struct {
	c       *conn
	led     ledger // as of now
	base    ledger // as committed
	saved   ledger // at mark
	lastSeq *atomic.Uint64
	commits *version

	parts    *lru[backend.Partition, int64]
	names    *lru[int64, backend.Partition]
	entities *lru[entityKey, entityRef]
	aliases  map[int64]map[string]string // by partition; loaded when needed
	stated   map[int64]map[string]bool   // keys that sources name aliases of, by partition; loaded when needed
	inserted bool                        // the call under way put new rows into the caches
	dirty    bool                        // an earlier call of this transaction did

	// Of the call under way; settle writes them.
	partSums map[int64]partSum
	uses     map[int64]*use
	dropped  []backend.Change // tombstones that it added to the feed
	// keys for which it changed what sources say that they stand for
	unweighed map[entityKey]bool
}

// partSum is a change of a partition's counters.
type partSum struct{ items, chunks int64 }

func newTx(c *conn, l ledger, lastSeq *atomic.Uint64, v *version) *tx {
	t := &tx{
		c: c, led: l, base: l, lastSeq: lastSeq, commits: v,
		parts:    newLRU[backend.Partition, int64](partCacheSize),
		names:    newLRU[int64, backend.Partition](partCacheSize),
		entities: newLRU[entityKey, entityRef](entityCacheSize),
		aliases:  make(map[int64]map[string]string),
		stated:   make(map[int64]map[string]bool),
		partSums: make(map[int64]partSum),
		uses:     make(map[int64]*use),
	}
	lastSeq.Store(uint64(l.seq) << seqShift)
	return t
}

func (t *tx) mark() {
	t.saved = t.led
	t.inserted = false
	t.dropped = nil
}

func (t *tx) undo() {
	t.led = t.saved
	clear(t.partSums)
	clear(t.uses)
	clear(t.unweighed)
	if t.inserted {
		t.forget()
	}
}

// forget empties the caches.
func (t *tx) forget() {
	t.parts.clear()
	t.names.clear()
	t.entities.clear()
	clear(t.aliases)
	clear(t.stated)
}

func (t *tx) settle() error {
	for _, part := range slices.Sorted(maps.Keys(t.partSums)) {
		sum := t.partSums[part]
		err := t.c.do("UPDATE counters SET items = items + ?, chunks = chunks + ? WHERE id = ?", sum.items, sum.chunks, part)
		if err != nil {
			return err
		}
	}
	clear(t.partSums)
	err := t.settleUses()
	if err == nil {
		err = t.settleStated()
	}
	t.dirty = t.dirty || t.inserted
	return err
}

func (t *tx) prepare() error {
	t.commits.begin()
	if t.led == t.base {
		return nil
	}
	return t.led.write(t.c)
}

func (t *tx) committed() {
	t.base = t.led
	t.dirty = false
	t.lastSeq.Store(uint64(t.led.seq) << seqShift)
	t.commits.end()
}

func (t *tx) aborted() {
	t.commits.end()
	t.led = t.base
	if t.dirty || t.inserted {
		t.forget()
	}
	t.dirty, t.inserted = false, false
}

// count changes the counters of a partition.
func (t *tx) count(part int64, items, chunks int64) {
	sum := t.partSums[part]
	t.partSums[part] = partSum{sum.items + items, sum.chunks + chunks}
}

// partID finds a partition; 0 when it is absent.
func (t *tx) partID(p backend.Partition) (id int64, err error) {
	if id, ok := t.parts.get(p); ok {
		return id, nil
	}
	_, err = t.c.one(bg, "SELECT id FROM parts WHERE sub = ? AND class = ?", func(r *row) error {
		id = r.int(0)
		return nil
	}, p.Sub, int64(p.Class))
	if id != 0 {
		t.parts.put(p, id)
		t.names.put(id, p)
	}
	return id, err
}

// makePart finds a partition or makes it.
func (t *tx) makePart(p backend.Partition) (int64, error) {
	id, err := t.partID(p)
	if err != nil || id != 0 {
		return id, err
	}
	t.led.part++
	id = t.led.part
	t.inserted = true
	t.parts.put(p, id)
	t.names.put(id, p)
	err = t.c.do("INSERT INTO parts (id, class, sub) VALUES (?, ?, ?)", id, int64(p.Class), p.Sub)
	if err == nil {
		err = t.c.do("INSERT INTO counters (id) VALUES (?)", id)
	}
	return id, err
}

// partName is the partition with an id.
func (t *tx) partName(id int64) (p backend.Partition, err error) {
	if p, ok := t.names.get(id); ok {
		return p, nil
	}
	found, err := t.c.one(bg, "SELECT class, sub FROM parts WHERE id = ?", func(r *row) error {
		p = backend.Partition{Class: backend.Class(r.int(0)), Sub: r.str(1)}
		return nil
	}, id)
	if err == nil && !found {
		err = backend.ErrCorrupt
	}
	if err == nil {
		t.names.put(id, p)
	}
	return p, err
}
