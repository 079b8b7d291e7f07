package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// store is the backend.Store of one workspace.
type store struct {
	storerules.Gate
	db      *DB
	uid     string
	ws      int64
	scope   scope
	w       *writer
	epochs  *epochs
	lastSeq atomic.Uint64
	horizon horizon
}

var _ backend.Store = (*store)(nil)

func newStore(d *DB, uid string, ws int64) *store {
	s := &store{db: d, uid: uid, ws: ws, scope: ofWorkspace(ws), epochs: &epochs{now: newEpoch()}}
	s.w = newWriter(s, newTx(uid, s.epochs))
	return s
}

// Close waits for running calls.
func (s *store) Close() error {
	if s.Shut() {
		s.db.release(s.uid)
	}
	return nil
}

// change runs fn in a transaction that locks the workspace. fn may be called again from the start.
func (s *store) change(ctx context.Context, fn func(t *tx) error) error {
	if err := s.Enter(ctx); err != nil {
		return err
	}
	defer s.Leave()
	return s.w.do(ctx, fn)
}

// alone runs fn in a transaction that locks only the rows that it changes, and not the ledger. fn may run several times.
func (s *store) alone(ctx context.Context, fn func(c *conn) error) error {
	if err := s.Enter(ctx); err != nil {
		return err
	}
	defer s.Leave()
	return s.db.write(ctx, s.scope, fn)
}

// query runs a read of one statement; read runs one of several. Afterwards LastSeq includes all changes that the read may have seen,
// so that a caller can wait for the indexes to include them too.
func (s *store) query(ctx context.Context, fn func(c *conn) error) error {
	return s.settled(ctx, s.db.query, fn)
}

func (s *store) read(ctx context.Context, fn func(c *conn) error) error {
	return s.settled(ctx, s.db.read, fn)
}

// queryKeys and readKeys are query and read for reads of rows by their keys, whose plans the server keeps.
func (s *store) queryKeys(ctx context.Context, fn func(c *conn) error) error {
	return s.settled(ctx, s.db.queryKeys, fn)
}

func (s *store) readKeys(ctx context.Context, fn func(c *conn) error) error {
	return s.settled(ctx, s.db.readKeys, fn)
}

func (s *store) settled(ctx context.Context, how func(context.Context, scope, func(*conn) error) error, fn func(c *conn) error) error {
	if err := s.Enter(ctx); err != nil {
		return err
	}
	defer s.Leave()
	return how(ctx, s.scope, func(c *conn) error {
		c.tail = statement{sql: "SELECT seq FROM ledgers WHERE ws = $1", args: []any{s.ws}}
		err := fn(c)
		if err == nil {
			s.learn(uint64(c.tailed) << storerules.SeqShift)
		}
		return err
	})
}

func (s *store) LastSeq() uint64 { return s.lastSeq.Load() }

// saveFeed is the number of feed entries behind the end for which tombstones are kept, for the indexes of other processes.
const saveFeed = 100_000

var _ backend.FeedRetainer = (*store)(nil)

// RetainedFeed implements [backend.FeedRetainer].
func (s *store) RetainedFeed() uint64 { return saveFeed << storerules.SeqShift }

// learn records the last known entry of the feed.
func (s *store) learn(seq uint64) (news bool) {
	for {
		old := s.lastSeq.Load()
		if old >= seq {
			return false
		}
		if s.lastSeq.CompareAndSwap(old, seq) {
			return true
		}
	}
}

// changed records a commit of this process and notifies other processes.
func (s *store) changed(seq uint64) {
	s.learn(seq)
	s.db.watch.announce(s.ws, int64(seq>>storerules.SeqShift)) // states outside the feed may have changed
}

func (s *store) Get(ctx context.Context, name string) (value []byte, err error) {
	err = s.query(ctx, func(c *conn) error {
		value, err = readValue(ctx, c, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	return value, nil
}

// readValue reads a value, or returns nil if there is none.
func readValue(ctx context.Context, c *conn, name string) (value []byte, err error) {
	_, err = c.one(ctx, "SELECT crc, data FROM vals WHERE ws = $1 AND name_hash = $2", func(r *row) error {
		value = r.checked(0, 1, "value", 0)
		return nil
	}, hashOf(name))
	if len(value) == 0 {
		value = nil
	}
	return value, err
}

func (s *store) Set(ctx context.Context, name string, old, value []byte) error {
	return s.change(ctx, func(t *tx) error {
		have, err := readValue(bg, t.c, name)
		if old == nil && errors.Is(err, backend.ErrCorrupt) {
			have, err = nil, nil // for whoever could not read it there is none
		}
		if err == nil && !bytes.Equal(have, old) {
			err = fmt.Errorf("set %q: it was changed since it was read: %w", name, backend.ErrConflict)
		}
		if err != nil {
			return err
		}
		if len(value) == 0 {
			return t.c.do("DELETE FROM vals WHERE ws = $1 AND name_hash = $2", hashOf(name))
		}
		return t.c.do(`INSERT INTO vals (ws, name_hash, crc, data, name) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (ws, name_hash) DO UPDATE SET crc = excluded.crc, data = excluded.data, name = excluded.name`, hashOf(name), storerules.Checksum(value), value, name)
	})
}
