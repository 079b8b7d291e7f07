package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// Bounds of what a store's writer remembers, in entries.
const (
	partCache   = 4096
	entityCache = 16384
)

// bg is the ctx of queries inside a transaction, which run to their end.
var bg = context.Background()

// tx is what the changing calls of a store share: the connection, the ledger, the
// counters of the call under way, and caches of small things looked up often, which hold as long as nobody
// else has changed the workspace. It belongs to who has the writer's turn.
type tx struct {
	c      *conn
	led    ledger // as of now
	saved  ledger // at mark
	known  int64  // the revision of the workspace at which the caches hold; below 0: they do not
	seen   int64  // the largest revision so far
	epochs *epochs

	parts    map[backend.Partition]int64
	names    map[int64]backend.Partition
	entities map[entityKey]entityRef
	aliases  map[int64]map[string]string // by partition; loaded when needed
	stated   map[int64]map[string]bool   // keys that sources name aliases of, by partition; loaded when needed
	inserted bool                        // the call under way put new rows into the caches
	waits    bool                        // the transaction leaves something to be worked on
	uid      string
	mine     int64 // the mark of the transaction; 0: it is not prepared

	// Of the call under way; settle writes them.
	partSums map[int64]partSum
	uses     map[int64]*use
	dropped  []backend.Change // tombstones that it added to the feed
	// keys for which it changed what sources say that they stand for
	unweighed map[entityKey]bool
}

// partSum is a change of a partition's counters.
type partSum struct{ items, chunks int64 }

func newTx(uid string, e *epochs) *tx {
	return &tx{
		known: -1, uid: uid, epochs: e,
		parts: make(map[backend.Partition]int64), names: make(map[int64]backend.Partition), entities: make(map[entityKey]entityRef),
		aliases: make(map[int64]map[string]string), stated: make(map[int64]map[string]bool),
		partSums: make(map[int64]partSum), uses: make(map[int64]*use), unweighed: make(map[entityKey]bool),
	}
}

// begin locks the workspace and reads its ledger.
func (t *tx) begin(c *conn) error {
	t.c = c
	found, err := c.one(bg, "SELECT "+ledgerCols+" FROM ledgers WHERE ws = $1 FOR UPDATE", func(r *row) error {
		t.led.read(r)
		return nil
	})
	if err == nil && !found {
		err = fmt.Errorf("the workspace was removed: %w", backend.ErrClosed)
	}
	if err != nil {
		return err
	}
	if t.led.rev < t.seen { // an older copy of the database was put back
		t.epochs.renew()
	}
	t.seen = t.led.rev
	if t.known != t.led.rev || len(t.parts) > partCache || len(t.entities) > entityCache {
		t.forget()
	}
	t.known, t.waits, t.mine = -1, false, 0 // until it is committed
	t.clear()
	return nil
}

// prepare writes what the transaction leaves in the ledger, before it is committed.
func (t *tx) prepare() error {
	t.led.rev++
	if t.waits {
		// The tenant, where the registry has one, wants attention from now on: see registry.SetWake.
		err := t.c.as(everything, "UPDATE tenants SET wake = $1 WHERE uid = $2 AND (wake IS NULL OR wake > $1)", time.Now().UnixMicro(), plain(t.uid))
		if err != nil {
			return err
		}
	}
	if err := t.epochs.write(t.c, &t.led); err != nil {
		return err
	}
	t.mine = newEpoch()
	return t.led.write(t.c, t.mine)
}

// happened reports whether the transaction was committed whose mark was written last.
func (t *tx) happened(c *conn) (done bool, err error) {
	rev := int64(0)
	_, err = c.one(bg, "SELECT rev, $2 = ANY(recent) FROM ledgers WHERE ws = $1", func(r *row) error {
		rev, done = r.int(0), r.bool(1)
		return nil
	}, t.mine)
	if err == nil && !done && rev >= t.led.rev+maxRecent {
		err = fmt.Errorf("whether a commit took place is not known, %d others did: %w", rev-t.led.rev, backend.ErrUnavailable)
	}
	return done, err
}

// committed notes that the caches hold what is stored now.
func (t *tx) committed() {
	t.known, t.seen = t.led.rev, t.led.rev
	t.epochs.committed()
}

func (t *tx) mark() {
	t.saved = t.led
	t.inserted = false
	t.dropped = nil
}

func (t *tx) undo() {
	t.led = t.saved
	t.clear()
	if t.inserted {
		t.forget()
	}
}

func (t *tx) clear() {
	clear(t.partSums)
	clear(t.uses)
	clear(t.unweighed)
}

// forget empties the caches.
func (t *tx) forget() {
	clear(t.parts)
	clear(t.names)
	clear(t.entities)
	clear(t.aliases)
	clear(t.stated)
}

// settle writes what a call left in memory; the statements may still wait.
func (t *tx) settle() error {
	for _, part := range slices.Sorted(maps.Keys(t.partSums)) {
		sum := t.partSums[part]
		if sum == (partSum{}) {
			continue
		}
		if err := t.c.do("UPDATE parts SET items = items + $2, chunks = chunks + $3 WHERE ws = $1 AND id = $4", sum.items, sum.chunks, part); err != nil {
			return err
		}
	}
	clear(t.partSums)
	if err := t.settleUses(); err != nil {
		return err
	}
	return t.settleStated()
}

// count changes the counters of a partition.
func (t *tx) count(part int64, items, chunks int64) {
	sum := t.partSums[part]
	t.partSums[part] = partSum{sum.items + items, sum.chunks + chunks}
}

// partID finds a partition; 0 when it is absent.
func (t *tx) partID(p backend.Partition) (id int64, err error) {
	if id, ok := t.parts[p]; ok {
		return id, nil
	}
	id, err = findPart(bg, t.c, p)
	if id != 0 {
		t.parts[p], t.names[id] = id, p
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
	t.parts[p], t.names[id] = id, p
	return id, t.c.do("INSERT INTO parts (ws, id, class, sub, sub_hash) VALUES ($1, $2, $3, $4, $5)", id, int64(p.Class), p.Sub, hashOf(p.Sub))
}

// partName is the partition with an id.
func (t *tx) partName(id int64) (p backend.Partition, err error) {
	if p, ok := t.names[id]; ok {
		return p, nil
	}
	found, err := t.c.one(bg, "SELECT class, sub FROM parts WHERE ws = $1 AND id = $2", func(r *row) error {
		p = backend.Partition{Class: backend.Class(r.int(0)), Sub: r.str(1)}
		return nil
	}, id)
	if err == nil && !found {
		err = backend.ErrCorrupt
	}
	if err == nil {
		t.parts[p], t.names[id] = id, p
	}
	return p, err
}

// findPart finds a partition in a read; 0 when it is absent.
func findPart(ctx context.Context, c *conn, p backend.Partition) (id int64, err error) {
	_, err = c.one(ctx, "SELECT id FROM parts WHERE ws = $1 AND class = $2 AND sub_hash = $3", func(r *row) error {
		id = r.int(0)
		return nil
	}, int64(p.Class), hashOf(p.Sub))
	return id, err
}
