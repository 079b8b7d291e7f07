package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// Bounds of the writer's caches, in numbers of entries.
const (
	partCache   = 4096
	entityCache = 16384
)

// bg is the context of queries inside a transaction, which are not cancelled.
var bg = context.Background()

// tx is the state that the writing calls of a store share: the rules, the connection, the ledger, and caches of small values that are looked
// up often. The caches are valid until another process changes the workspace. Only the holder of the writer's turn may use a tx.
type tx struct {
	storerules.Tx
	c      *conn
	led    ledger // current values
	saved  ledger // values at mark
	known  int64  // workspace revision for which the caches are valid; negative: they are invalid
	seen   int64  // largest revision seen so far
	epochs *epochs

	parts    map[backend.Partition]int64
	names    map[int64]backend.Partition
	entities map[storerules.EntityKey]storerules.EntityRef
	incoming map[itemKey]*head // newest versions of the current call's items that it has not changed yet
	base     int64             // mark of the transaction that wrote led; 0: led must be read
	alone    bool              // no other process wrote between the last two transactions
	over     int64             // base of the current transaction; 0: it has read led
	may      bool              // the transaction may assume that items are new
	absent   bool              // it has assumed that
	news     bool              // the items that were looked up last were new
	expects  bool              // the current call expects versions of items
	waits    bool              // the transaction leaves work to be done
	uid      string
	mine     int64 // mark of the transaction; 0: the transaction is not prepared
}

func newTx(uid string, e *epochs) *tx {
	t := &tx{
		known: -1, uid: uid, epochs: e,
		parts: make(map[backend.Partition]int64), names: make(map[int64]backend.Partition), entities: make(map[storerules.EntityKey]storerules.EntityRef),
	}
	t.Tx = storerules.NewTx(rows{t}, &t.led.Numbers)
	return t
}

// begin locks the workspace and reads its ledger. If assume is set, it may do so later; see assume.go.
func (t *tx) begin(c *conn, assume bool) error {
	t.c = c
	if t.may, t.absent, t.over = assume, false, 0; assume && t.alone && t.base != 0 {
		t.over = t.base
		c.lock = t.led.holds(c, t.over)
	} else if err := t.readLedger(); err != nil {
		return err
	}
	if t.known != t.led.rev || len(t.parts) > partCache || len(t.entities) > entityCache {
		t.forget()
	}
	t.known, t.base, t.waits, t.mine = -1, 0, false, 0 // invalid until the transaction is committed
	t.Clear()
	return nil
}

// readLedger locks the ledger and reads it.
func (t *tx) readLedger() error {
	found, err := t.c.one(bg, "SELECT "+ledgerCols+", "+t.c.plans+" FROM ledgers WHERE ws = $1 FOR UPDATE", func(r *row) error {
		t.led.read(r)
		return nil
	})
	if err == nil && !found {
		err = fmt.Errorf("the workspace was removed: %w", backend.ErrClosed)
	}
	if err != nil {
		return err
	}
	if t.led.rev < t.seen { // the database was replaced by an older copy
		t.epochs.renew()
	}
	t.alone = t.led.rev == t.seen
	t.seen = t.led.rev
	return nil
}

// prepare writes the ledger before the commit of the transaction.
func (t *tx) prepare() error {
	t.led.rev++
	if t.waits {
		// If the registry has the tenant, mark it as due for work from now on; see registry.SetWake.
		err := t.c.as(everything, "UPDATE tenants SET wake = $1 WHERE uid = $2 AND (wake IS NULL OR wake > $1)", time.Now().UnixMicro(), plain(t.uid))
		if err != nil {
			return err
		}
	}
	if err := t.epochs.write(t.c, &t.led); err != nil {
		return err
	}
	t.mine = newEpoch()
	if t.c.lock.sql != "" { // nothing was sent, so one statement can lock and write the ledger
		t.c.lock = t.led.writeOver(t.c, t.over, t.mine)
		return nil
	}
	if t.c.generic {
		t.c.pending = slices.Insert(t.c.pending, 0, statement{sql: "SELECT " + genericPlans})
	}
	return t.led.write(t.c, t.mine)
}

// happened reports whether the transaction with the last written mark was committed.
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

// committed records that the caches match the stored state.
func (t *tx) committed() {
	t.known, t.seen, t.base = t.led.rev, t.led.rev, t.mine
	t.epochs.committed()
}

func (t *tx) mark() {
	t.saved = t.led
	t.Begin()
}

func (t *tx) undo() {
	t.led = t.saved
	t.Clear()
	if t.Inserted {
		t.forget()
	}
}

// forget empties the caches.
func (t *tx) forget() {
	clear(t.parts)
	clear(t.names)
	clear(t.entities)
	clear(t.incoming)
	t.Forget()
}

// partID returns the id of a partition, or 0 if the partition is missing.
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

// makePart returns the id of a partition, and creates the partition if it is missing.
func (t *tx) makePart(p backend.Partition) (int64, error) {
	id, err := t.partID(p)
	if err != nil || id != 0 {
		return id, err
	}
	t.led.Part++
	id = t.led.Part
	t.Inserted = true
	t.parts[p], t.names[id] = id, p
	return id, t.c.do("INSERT INTO parts (ws, id, class, sub, sub_hash) VALUES ($1, $2, $3, $4, $5)", id, int64(p.Class), p.Sub, hashOf(p.Sub))
}

// partName returns the partition with an id.
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

// findPart returns the id of a partition during a read, or 0 if the partition is missing.
func findPart(ctx context.Context, c *conn, p backend.Partition) (id int64, err error) {
	_, err = c.one(ctx, "SELECT id FROM parts WHERE ws = $1 AND class = $2 AND sub_hash = $3", func(r *row) error {
		id = r.int(0)
		return nil
	}, int64(p.Class), hashOf(p.Sub))
	return id, err
}
