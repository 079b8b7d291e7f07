package sqlite

import (
	"context"
	"sync/atomic"

	"github.com/contextmem/contextmem/backend"
)

// store is the backend.Store over one store.db.
type store struct {
	*file
	tx      *tx
	lastSeq atomic.Uint64
	commits version
	memo    *memo
	words   func(predicate, context string) []uint64 // of relations of entities that memo holds; nil: they are not kept
}

var (
	_ backend.Store      = (*store)(nil)
	_ backend.WordKeeper = (*store)(nil)
)

func openStore(ctx context.Context, path string, o Options) (*store, error) {
	s := &store{memo: newMemo(o.CacheBytes / 2)}
	f, err := openFile(ctx, path, o, storeSchema, func(c *conn) (state, error) {
		l, g, err := readLag(c)
		s.tx = newTx(c, l, g, &s.lastSeq, &s.commits)
		return s.tx, err
	})
	if err != nil {
		return nil, err
	}
	s.file = f
	return s, nil
}

// Close waits for calls under way, then moves the log into the file.
func (s *store) Close() error { return s.close() }

// change runs fn in a transaction.
func (s *store) change(ctx context.Context, fn func(t *tx) error) error {
	return s.write(ctx, func() error { return fn(s.tx) })
}

// tell runs a read whose answer says what became of items. When it returns LastSeq counts all changes that
// fn may have seen, so that a caller who reads on sees them in the shadows too.
func (s *store) tell(ctx context.Context, fn func(c *conn) error) error {
	if err := s.read(ctx, fn); err != nil {
		return err
	}
	return s.commits.settled(ctx)
}

func (s *store) LastSeq() uint64 { return s.lastSeq.Load() }

func (s *store) Get(ctx context.Context, name string) (value []byte, err error) {
	err = s.query(ctx, func(c *conn) error {
		_, err := c.one(ctx, "SELECT crc, data FROM vals WHERE name = ?", func(r *row) error {
			value = r.checked(0, 1, "value", 0)
			return nil
		}, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	return value, nil
}

func (s *store) Set(ctx context.Context, name string, value []byte) error {
	return s.change(ctx, func(t *tx) error {
		return t.c.do("INSERT OR REPLACE INTO vals (name, crc, data) VALUES (?, ?, ?)", name, checksum(value), value)
	})
}
