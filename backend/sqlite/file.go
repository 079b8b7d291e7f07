package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"

	"github.com/contextmem/contextmem/internal/atrest"
	"github.com/contextmem/contextmem/internal/storerules"
)

// file is an open database with its writer, its readers, and the gate of its calls. Most
// files are only read while they are open, so the writer, with its connection and
// goroutine, is only made by the first write.
type file struct {
	storerules.Gate
	path    string
	o       connOptions // options of the writer
	start   func(c *conn) (state, error)
	readers *pool
	logs    *logs
	gate    *writeGate
	uid     string // uid of the workspace; empty: the registry
	onClose func() // called once, at the end of close

	cipher *atrest.Cipher // nil: the file is not encrypted
	apart  *sync.RWMutex

	mu     sync.Mutex
	w      *writer // nil until the first write
	before int64   // number of commits of former writers
}

// openFile opens a database and migrates it to the newest schema. start reads the state of
// a writer from the database. openFile calls it once for the fields that readers need, and
// again for the writer.
func openFile(ctx context.Context, path string, o Options, s schema, start func(c *conn) (state, error)) (*file, error) {
	if err := os.Remove(path + compactSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) { // left by a crash
		return nil, err
	}
	f := &file{path: path, logs: o.logs, gate: o.gate, cipher: o.cipher, apart: o.apart, o: connOptions{cacheBytes: o.CacheBytes, vfs: o.vfs}, start: start}
	ro := connOptions{readOnly: true, cacheBytes: o.CacheBytes / 8 * 3, vfs: o.vfs}
	f.readers = newPool(path, o.Readers, ro)
	c, err := openConn(path, f.o)
	if err != nil {
		return nil, err
	}
	err = s.migrate(ctx, c, path)
	if err == nil {
		_, err = start(c)
	}
	if err == nil {
		err = c.becomeReader(ro)
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	f.readers.adopt(c)
	return f, nil
}

// writer returns the writer. The first call makes it.
func (f *file) writer() (*writer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.w != nil {
		return f.w, nil
	}
	c, err := openConn(f.path, f.o)
	if err != nil {
		return nil, err
	}
	st, err := f.start(c)
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	f.w = startWriter(c, st, newLogSpace(f.path), f.logs)
	return f.w, nil
}

// committed returns the number of commits of this opening. The caller holds mu.
func (f *file) committed() int64 {
	if f.w == nil {
		return f.before
	}
	return f.before + f.w.groups.Load()
}

// reopen closes all connections; the next calls open new ones. The caller holds mu, and no call may be in flight.
func (f *file) reopen() error {
	err := f.readers.reopen()
	if f.w != nil {
		f.before = f.committed()
		err = errors.Join(err, f.w.close())
		f.w = nil
	}
	return err
}

// write runs fn in a transaction; fn uses the writer's connection.
func (f *file) write(ctx context.Context, fn func() error) error {
	if err := f.Enter(ctx); err != nil {
		return err
	}
	defer f.Leave()
	if err := f.gate.enter(ctx); err != nil {
		return err
	}
	defer f.gate.leave(f.uid)
	w, err := f.writer()
	if err != nil {
		return err
	}
	return w.do(ctx, fn)
}

// read runs fn in a read transaction.
func (f *file) read(ctx context.Context, fn func(c *conn) error) error {
	if err := f.Enter(ctx); err != nil {
		return err
	}
	defer f.Leave()
	return f.readers.read(ctx, fn)
}

// readSoon is read that does not wait for long reads of others.
func (f *file) readSoon(ctx context.Context, fn func(c *conn) error) error {
	if err := f.Enter(ctx); err != nil {
		return err
	}
	defer f.Leave()
	return f.readers.readSoon(ctx, fn)
}

// query runs fn, which makes one query.
func (f *file) query(ctx context.Context, fn func(c *conn) error) error {
	if err := f.Enter(ctx); err != nil {
		return err
	}
	defer f.Leave()
	return f.readers.query(ctx, fn)
}

// close waits for calls in flight and closes the connections. Closing the last one moves
// the write-ahead log into the database. Further calls do nothing.
func (f *file) close() error {
	if !f.Shut() {
		return nil
	}
	err := f.readers.close()
	if f.w != nil {
		err = errors.Join(err, f.w.close())
	}
	if f.onClose != nil {
		f.onClose()
	}
	return err
}
