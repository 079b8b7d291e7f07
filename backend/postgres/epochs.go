package postgres

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// maxEpochs is the number of epochs that a workspace keeps. An index whose last change is from an older epoch is
// rebuilt.
const maxEpochs = 256

// epoch identifies one opening of the store, by any process, that wrote something.
type epoch struct {
	num, seq int64 // seq is the last feed entry before the epoch
	id       int64
}

// epochs holds the workspace's epochs known to this process.
type epochs struct {
	now     int64 // epoch of this opening; only the writer changes it
	pending epoch // epoch that the current transaction stores; num 0: none
	mu      sync.Mutex
	known   []epoch // ascending
}

// newEpoch returns a random number above 0.
func newEpoch() int64 {
	var b [8]byte
	_, _ = rand.Read(b[:])
	return int64(binary.LittleEndian.Uint64(b[:])>>1 | 1)
}

// knows reports whether this process knows an epoch, which must be the last one in the ledger.
func (e *epochs) knows(id int64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return id == 0 || slices.ContainsFunc(e.known, func(x epoch) bool { return x.id == id })
}

// read loads the epochs of a workspace if the last one, given by the ledger, is unknown.
func (e *epochs) read(ctx context.Context, c *conn, last int64) error {
	if e.knows(last) {
		return nil
	}
	var found []epoch
	err := c.each(ctx, "SELECT num, epoch, seq FROM epochs WHERE ws = $1 ORDER BY num", func(r *row) error {
		found = append(found, epoch{num: r.int(0), id: r.int(1), seq: r.int(2)})
		return nil
	})
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(found); n > 0 && (len(e.known) == 0 || found[n-1].num > e.known[len(e.known)-1].num || e.known[0].num != found[0].num) {
		e.known = found
	}
	return nil
}

// write stores the epoch of this opening in the opening's first transaction.
func (e *epochs) write(c *conn, l *ledger) error {
	e.pending = epoch{}
	if err := e.read(bg, c, l.epoch); err != nil || e.knows(e.now) {
		return err
	}
	x := epoch{num: 1, id: e.now, seq: l.Seq}
	e.mu.Lock()
	if n := len(e.known); n > 0 {
		x.num = e.known[n-1].num + 1
	}
	e.mu.Unlock()
	l.epoch, e.pending = e.now, x
	err := c.do("INSERT INTO epochs (ws, num, epoch, seq) VALUES ($1, $2, $3, $4)", x.num, x.id, x.seq)
	if err == nil && x.num > maxEpochs {
		err = c.do("DELETE FROM epochs WHERE ws = $1 AND num <= $2", x.num-maxEpochs)
	}
	return err
}

// committed records that the epoch stored by write is committed.
func (e *epochs) committed() {
	if e.pending.num == 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.known); n == 0 || e.known[n-1].num < e.pending.num {
		e.known = append(slices.Clone(e.known), e.pending)
	}
}

// renew starts another epoch, because the database was replaced by an older copy.
func (e *epochs) renew() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.now, e.known = newEpoch(), nil
}

var _ backend.Epochs = (*store)(nil)

// EpochOf implements [backend.Epochs].
func (s *store) EpochOf(seq uint64) uint64 {
	entry := storerules.ReachedEntry(seq)
	s.epochs.mu.Lock()
	defer s.epochs.mu.Unlock()
	for i := len(s.epochs.known) - 1; i >= 0; i-- {
		if s.epochs.known[i].seq < entry {
			return uint64(s.epochs.known[i].id)
		}
	}
	return 0
}
