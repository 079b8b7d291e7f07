package sqlite

import (
	"crypto/rand"
	"encoding/binary"
	"slices"
	"sync/atomic"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// maxEpochs is the number of epochs that a store keeps, of openings that changed something that indexes follow. An index
// whose last change is from an older epoch is rebuilt.
const maxEpochs = 256

// epoch is an opening of the store that has written something.
type epoch struct {
	num, seq int64 // seq: the last entry of the feed before it
	id       uint64
}

// epochs holds the epochs of a store. Only the writer changes them. All goroutines read the committed ones.
type epochs struct {
	now     uint64 // epoch of this opening
	known   []epoch
	stored  bool // now is in the file
	writing bool // the current transaction stores now
	shared  *atomic.Pointer[[]epoch]
}

// newEpoch returns a random number above 0 that SQLite can store.
func newEpoch() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:])>>1 | 1
}

// readEpochs reads the epochs of a store, oldest first. now is the epoch of this opening.
func readEpochs(c *conn, now uint64, shared *atomic.Pointer[[]epoch]) (*epochs, error) {
	e := &epochs{now: now, shared: shared}
	err := c.each(bg, "SELECT num, epoch, seq FROM epochs WHERE num > 0 ORDER BY num", func(r *row) error {
		e.known = append(e.known, epoch{num: r.int(0), id: uint64(r.int(1)), seq: r.int(2)})
		return nil
	})
	if n := len(e.known); n > 0 {
		e.stored = e.known[n-1].id == now
	}
	e.shared.Store(new(slices.Clone(e.known)))
	return e, err
}

// write stores the epoch of this opening with its first transaction. seq is the last entry of the feed
// before it.
func (e *epochs) write(c *conn, seq int64) error {
	if e.stored {
		return nil
	}
	x := epoch{num: 1, id: e.now, seq: seq}
	if n := len(e.known); n > 0 {
		x.num = e.known[n-1].num + 1
	}
	known := slices.Clone(e.known)
	if n := len(known); n > 0 && known[n-1].seq == seq { // no entry of the feed is of that opening
		known = known[:n-1]
	}
	known = append(known, x)
	known = known[max(0, len(known)-maxEpochs):]
	err := c.do("INSERT INTO epochs (num, epoch, seq) VALUES (?, ?, ?)", x.num, x.id, x.seq)
	for _, old := range e.known {
		if err == nil && !slices.Contains(known, old) {
			err = c.do("DELETE FROM epochs WHERE num = ?", old.num)
		}
	}
	if err != nil {
		return err
	}
	e.known, e.stored, e.writing = known, true, true
	return nil
}

func (e *epochs) committed() {
	if e.writing {
		e.writing = false
		e.shared.Store(new(slices.Clone(e.known)))
	}
}

func (e *epochs) aborted() {
	if e.writing {
		e.writing, e.stored = false, false
		e.known = *e.shared.Load()
	}
}

var _ backend.Epochs = (*store)(nil)

// EpochOf implements [backend.Epochs].
func (s *store) EpochOf(seq uint64) uint64 {
	entry := storerules.ReachedEntry(seq)
	known := *s.epochs.Load()
	for i := len(known) - 1; i >= 0; i-- {
		if known[i].seq < entry {
			return known[i].id
		}
	}
	return 0
}
