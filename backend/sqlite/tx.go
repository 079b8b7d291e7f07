package sqlite

import (
	"context"
	"sync/atomic"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// Bounds of the writer's caches, in entries.
const (
	partCacheSize   = 4096
	entityCacheSize = 16384
)

// bg is the ctx of queries inside a transaction, which must not be interrupted.
var bg = context.Background()

// tx is the state that the writing calls of a store share: the rules, the connection, the ledger, and caches of small values that are
// looked up often. Only the holder of the writer's turn may use it.
type tx struct {
	storerules.Tx
	c       *conn
	led     ledger // current
	base    ledger // at the last commit
	saved   ledger // at the last mark
	lag     lags   // lag of the counters in the file at the same times
	wrote   bool   // the current transaction has written the counters
	lastSeq *atomic.Uint64
	commits *version
	high    *highMark // the store's
	epochs  *epochs
	// succeeded points to the store's field. It is set once there may be a succession.
	succeeded *atomic.Bool

	parts    *simplelru.LRU[backend.Partition, int64]
	names    *simplelru.LRU[int64, backend.Partition]
	entities *simplelru.LRU[storerules.EntityKey, storerules.EntityRef]
	// loaded has entities that Entity was not asked for yet; Num is 0 for a key without one.
	loaded map[storerules.EntityKey]storerules.EntityRef
	value  string // name of the only value that the current call writes
	since  *since // the store's
	dirty  bool   // an earlier call of this transaction has put new rows into the caches

	buf []byte // for checksums

	// Rows that the current call inserts.
	tagRows, edgeRows, changeRows bulk

	heads     []*head // prefetched versions of the current call; nil: already used
	firstHead int64   // number of the first one

	// The chunk that the current call has read last for a relation.
	chunkNum  int64
	chunkText string
	texts     chunkTexts

	retracting retracting

	store    *store
	room     *room // the deployment's
	roomy    bool  // the store uses the room
	cacheKiB int   // page cache of the connection without the room
}

// lags holds the lag of the counters at three times.
type lags struct{ now, base, saved lag }

// remembered returns an LRU cache. size must be positive.
func remembered[K comparable, V any](size int) *simplelru.LRU[K, V] {
	l, err := simplelru.NewLRU[K, V](size, nil)
	if err != nil {
		panic(err) // the size is not positive
	}
	return l
}

func newTx(c *conn, l ledger, g lag, e *epochs, s *store) *tx {
	t := &tx{
		c: c, led: l, base: l, lag: lags{now: g, base: g}, lastSeq: &s.lastSeq, commits: &s.commits, high: &s.high, epochs: e, succeeded: &s.succeeded, since: &s.since,
		parts:    remembered[backend.Partition, int64](partCacheSize),
		names:    remembered[int64, backend.Partition](partCacheSize),
		entities: remembered[storerules.EntityKey, storerules.EntityRef](entityCacheSize),
		tagRows:  bulk{sql: insertTags, width: 3}, edgeRows: bulk{sql: insertEdges, width: 4, most: edgesAtOnce, order: byTwo}, changeRows: bulk{sql: insertChanges, width: 3},
	}
	t.Tx = storerules.NewTx(rows{t}, &t.led.Numbers)
	s.lastSeq.Store(uint64(l.Seq) << storerules.SeqShift)
	return t
}

func (t *tx) mark() {
	t.saved, t.lag.saved = t.led, t.lag.now
	t.value = ""
	t.chunkNum, t.chunkText = 0, ""
	t.dropHeads()
	t.loaded = nil
	t.Begin()
}

func (t *tx) undo() {
	t.led, t.lag.now = t.saved, t.lag.saved
	for _, b := range t.bulks() {
		b.drop()
	}
	t.texts.forget()
	t.Clear()
	if t.Inserted {
		t.forget()
	}
}

// forget empties the caches.
func (t *tx) forget() {
	t.parts.Purge()
	t.names.Purge()
	t.entities.Purge()
	t.loaded = nil
	t.retracting = retracting{}
	t.Forget()
}

func (t *tx) settle() error {
	t.since.note(t.value)
	err := t.flush()
	if err == nil {
		err = t.Settle()
	}
	if err == nil {
		err = t.flush()
	}
	if err == nil && t.Left {
		err = t.Sweep()
	}
	t.dirty = t.dirty || t.Inserted
	return err
}

func (t *tx) bulks() [3]*bulk { return [...]*bulk{&t.tagRows, &t.edgeRows, &t.changeRows} }

// flush writes the rows that the current call has collected.
func (t *tx) flush() error {
	for _, b := range t.bulks() {
		if err := b.flush(t.c); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) prepare() error {
	t.commits.begin()
	if err := t.epochs.write(t.c, t.base.Seq); err != nil {
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
		t.lag.now = lag{placed: t.lag.now.placed[:0], total: t.led}
		t.wrote = false
	}
	t.base, t.lag.base = t.led, t.lag.now
	t.high.write(&t.led.Numbers)
	t.dirty = false
	t.epochs.committed()
	t.lastSeq.Store(uint64(t.led.Seq) << storerules.SeqShift)
	t.commits.end()
}

func (t *tx) aborted() {
	t.epochs.aborted()
	t.commits.end()
	t.led, t.lag.now, t.wrote = t.base, t.lag.base, false
	t.texts.forget()
	if t.dirty || t.Inserted {
		t.forget()
	}
	t.dirty, t.Inserted = false, false
}

// partID returns the id of a partition, or 0 if there is none.
func (t *tx) partID(p backend.Partition) (id int64, err error) {
	if id, ok := t.parts.Get(p); ok {
		return id, nil
	}
	_, err = t.c.one(bg, "SELECT id FROM parts WHERE sub = ? AND class = ?", func(r *row) error {
		id = r.int(0)
		return nil
	}, p.Sub, int64(p.Class))
	if id != 0 {
		t.parts.Add(p, id)
		t.names.Add(id, p)
	}
	return id, err
}

// makePart returns the id of a partition. It makes the partition if there is none.
func (t *tx) makePart(p backend.Partition) (int64, error) {
	id, err := t.partID(p)
	if err != nil || id != 0 {
		return id, err
	}
	t.led.Part++
	id = t.led.Part
	t.Inserted = true
	t.parts.Add(p, id)
	t.names.Add(id, p)
	err = t.c.do("INSERT INTO parts (id, class, sub) VALUES (?, ?, ?)", id, int64(p.Class), p.Sub)
	if err == nil {
		err = t.c.do("INSERT INTO counters (id) VALUES (?)", id)
	}
	return id, err
}

// partName returns the partition with an id.
func (t *tx) partName(id int64) (p backend.Partition, err error) {
	if p, ok := t.names.Get(id); ok {
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
		t.names.Add(id, p)
	}
	return p, err
}
