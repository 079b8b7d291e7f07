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
	lag     lags   // of the counters in the file, at the same moments
	wrote   bool   // the transaction under way wrote the counters
	lastSeq *atomic.Uint64
	commits *version
	epochs  *epochs
	// succeeded is the store's: it is set once there may be a succession, and read by anybody.
	succeeded *atomic.Bool

	parts    *lru[backend.Partition, int64]
	names    *lru[int64, backend.Partition]
	entities *lru[entityKey, entityRef]
	aliases  map[int64]*aliases        // by partition; loaded when needed
	stated   map[int64]map[string]bool // keys that sources name aliases of, by partition; loaded when needed
	value    string                    // the name of the only thing that the call under way writes
	since    *since                    // the store's
	inserted bool                      // the call under way put new rows into the caches
	dirty    bool                      // an earlier call of this transaction did

	buf []byte // for checksums

	// Of the call under way; settle writes them.
	partSums map[int64]partSum
	uses     map[int64]*use
	dropped  []backend.Change // tombstones that it added to the feed
	// keys for which it changed what sources say that they stand for
	unweighed map[entityKey]bool
}

// partSum is a change of a partition's counters.
type partSum struct{ items, chunks int64 }

func (s partSum) plus(items, chunks int64) partSum {
	return partSum{s.items + items, s.chunks + chunks}
}

// writeSums changes the counters of partitions.
func writeSums(c *conn, sums map[int64]partSum) error {
	for _, part := range slices.Sorted(maps.Keys(sums)) {
		sum := sums[part]
		err := c.do("UPDATE counters SET items = items + ?, chunks = chunks + ? WHERE id = ?", sum.items, sum.chunks, part)
		if err != nil {
			return err
		}
	}
	return nil
}

// lags is how far the counters are behind.
type lags struct{ now, base, saved lag }

func newTx(c *conn, l ledger, g lag, e *epochs, s *store) *tx {
	t := &tx{
		c: c, led: l, base: l, lag: lags{now: g, base: g}, lastSeq: &s.lastSeq, commits: &s.commits, epochs: e, succeeded: &s.succeeded, since: &s.since,
		parts:    newLRU[backend.Partition, int64](partCacheSize),
		names:    newLRU[int64, backend.Partition](partCacheSize),
		entities: newLRU[entityKey, entityRef](entityCacheSize),
		aliases:  make(map[int64]*aliases),
		stated:   make(map[int64]map[string]bool),
		partSums: make(map[int64]partSum),
		uses:     make(map[int64]*use),
	}
	s.lastSeq.Store(uint64(l.seq) << seqShift)
	return t
}

func (t *tx) mark() {
	t.saved, t.lag.saved = t.led, t.lag.now
	t.inserted, t.value = false, ""
	t.dropped = nil
}

func (t *tx) undo() {
	t.led, t.lag.now = t.saved, t.lag.saved
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
	t.since.note(t.value)
	if err := writeSums(t.c, t.partSums); err != nil {
		return err
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
	if err := t.epochs.write(t.c, t.base.seq); err != nil {
		return err
	}
	if !t.lag.now.due(&t.led) {
		return nil
	}
	t.wrote = true
	return t.lag.now.write(t.c, &t.led)
}

func (t *tx) committed() {
	if t.wrote {
		t.lag.now = lag{placed: t.lag.now.placed[:0], told: t.led}
		t.wrote = false
	}
	t.base, t.lag.base = t.led, t.lag.now
	t.dirty = false
	t.epochs.committed()
	t.lastSeq.Store(uint64(t.led.seq) << seqShift)
	t.commits.end()
}

func (t *tx) aborted() {
	t.epochs.aborted()
	t.commits.end()
	t.led, t.lag.now, t.wrote = t.base, t.lag.base, false
	if t.dirty || t.inserted {
		t.forget()
	}
	t.dirty, t.inserted = false, false
}

// count changes the counters of a partition.
func (t *tx) count(part int64, items, chunks int64) {
	sum := t.partSums[part]
	t.partSums[part] = sum.plus(items, chunks)
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
