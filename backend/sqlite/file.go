package sqlite

import (
	"context"
	"errors"
)

// file is an open database: its writer, its readers, and the calls under way.
type file struct {
	gate
	w       *writer
	readers *pool
	onClose func() // runs once, at the end of close
}

// openFile opens a database and brings it to its newest schema. start gives the
// state of the writer, from what the database holds.
func openFile(ctx context.Context, path string, o Options, s schema, start func(c *conn) (state, error)) (*file, error) {
	co := connOptions{cacheBytes: o.CacheBytes}
	c, err := openConn(path, co)
	if err != nil {
		return nil, err
	}
	err = s.migrate(ctx, c, path)
	var st state
	if err == nil {
		st, err = start(c)
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	co.readOnly, co.cacheBytes = true, co.cacheBytes/8*3
	return &file{w: startWriter(c, st), readers: newPool(path, o.Readers, co)}, nil
}

// write runs fn in a transaction; fn uses the writer's connection.
func (f *file) write(ctx context.Context, fn func() error) error {
	if err := f.enter(ctx); err != nil {
		return err
	}
	defer f.leave()
	return f.w.do(ctx, fn)
}

// read runs fn in a read transaction.
func (f *file) read(ctx context.Context, fn func(c *conn) error) error {
	if err := f.enter(ctx); err != nil {
		return err
	}
	defer f.leave()
	return f.readers.read(ctx, fn)
}

// query runs fn, which makes one query.
func (f *file) query(ctx context.Context, fn func(c *conn) error) error {
	if err := f.enter(ctx); err != nil {
		return err
	}
	defer f.leave()
	return f.readers.query(ctx, fn)
}

// close waits for the calls under way and closes the connections; the last one to
// close moves the write-ahead log into the database. Closing again does nothing.
func (f *file) close() error {
	if !f.shut() {
		return nil
	}
	f.w.close()
	err := errors.Join(f.readers.close(), f.w.c.close())
	if f.onClose != nil {
		f.onClose()
	}
	return err
}
