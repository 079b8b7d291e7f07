package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// store is the backend.Store over one store.db.
type store struct {
	*file
	tx        *tx         // used by the holder of the writer's turn; the first write replaces it
	succeeded atomic.Bool // there may be a succession
	lastSeq   atomic.Uint64
	commits   version
	epochs    atomic.Pointer[[]epoch]
	epoch     uint64 // epoch of this opening
	giving    bool   // Maintain is returning free pages
	rewritten bool   // a file of an earlier release was rewritten
	judged    uint64 // version at which Compact found the file full enough, or compacted it
	settled   uint64 // version at which Compact put off a compaction until no more writes come
	since     since
	high      highMark
	cache     *rowCache
	alike     atomic.Pointer[alike]                    // of the row cached last
	words     func(predicate, context string) []uint64 // words of cached relations of entities; nil: they are not kept
	wholeMost int64                                    // number of relations up to which SketchRelations reads them whole
}

var (
	_ backend.Store      = (*store)(nil)
	_ backend.WordHasher = (*store)(nil)
)

func openStore(ctx context.Context, path string, o Options) (*store, error) {
	s := &store{cache: newCache(o.CacheBytes / 2), wholeMost: int64(o.CacheBytes / 2 / wholeBytes), epoch: newEpoch(), judged: math.MaxUint64, settled: math.MaxUint64}
	s.high.path = path + markSuffix
	f, err := openFile(ctx, path, o, storeSchema, func(c *conn) (state, error) {
		l, g, err := readLag(c)
		if err == nil && s.tx == nil {
			s.high.check(&l.Numbers)
		}
		if err != nil {
			return nil, err
		}
		e, err := readEpochs(c, s.epoch, &s.epochs)
		if err != nil {
			return nil, err
		}
		some, err := anySuccession(c)
		if err != nil {
			return nil, err
		}
		s.succeeded.Store(some)
		o.room.giveBack(s) // the connection is new
		s.tx = newTx(c, l, g, e, s)
		s.tx.store, s.tx.room, s.tx.cacheKiB = s, o.room, connOptions{cacheBytes: o.CacheBytes}.cacheKiB()
		return s.tx, nil
	})
	if err != nil {
		return nil, errors.Join(err, s.high.close())
	}
	s.file = f
	return s, nil
}

// Close waits for calls in flight and closes the file.
func (s *store) Close() error {
	first := s.close()
	return errors.Join(first, s.high.close())
}

// change runs fn in a transaction.
func (s *store) change(ctx context.Context, fn func(t *tx) error) error {
	return s.write(ctx, func() error { return fn(s.tx) })
}

// readSettled runs fn, then waits for any commit in flight: LastSeq then counts all changes that fn may have
// seen, so that a caller who reads on sees them in the indexes too.
func (s *store) readSettled(ctx context.Context, fn func(c *conn) error) error {
	if err := s.read(ctx, fn); err != nil {
		return err
	}
	return s.commits.settled(ctx)
}

func (s *store) LastSeq() uint64 { return s.lastSeq.Load() }

// Get reads through the cache. The cache also has names without a value, since recalls read some of these.
func (s *store) Get(ctx context.Context, name string) (value []byte, err error) {
	v, quiet := s.commits.load()
	if known, ok := s.cache.value(v, name); quiet && ok {
		if err := s.Enter(ctx); err != nil {
			return nil, err
		}
		s.Leave()
		return bytes.Clone(known), nil
	}
	err = s.query(ctx, func(c *conn) error {
		value, err = readValue(ctx, c, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	if quiet && s.commits.n.Load() == v {
		s.cache.keep(v, name, bytes.Clone(value))
	}
	return value, nil
}

// readValue reads a value, or returns nil if there is none.
func readValue(ctx context.Context, c *conn, name string) (value []byte, err error) {
	_, err = c.one(ctx, "SELECT crc, data FROM vals WHERE name = ?", func(r *row) error {
		value = r.checked(0, 1, "value", 0)
		return nil
	}, name)
	if len(value) == 0 {
		value = nil
	}
	return value, err
}

func (s *store) Set(ctx context.Context, name string, old, value []byte) error {
	return s.change(ctx, func(t *tx) error {
		t.value = name
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
			return t.c.do("DELETE FROM vals WHERE name = ?", name)
		}
		return t.c.do("INSERT OR REPLACE INTO vals (name, crc, data) VALUES (?, ?, ?)", name, storerules.Checksum(value), value)
	})
}
