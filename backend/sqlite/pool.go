package sqlite

import (
	"context"
	"errors"
	"sync"
)

// pool holds the read-only connections. They are opened when they are needed, since most
// workspaces are idle. If long reads use all of them, a short query gets an extra one.
type pool struct {
	path  string
	o     connOptions
	free  chan *conn // free connections; nil: one that is not open yet
	mu    sync.Mutex
	left  int  // number of connections that were never opened
	extra bool // an extra connection is open
}

func newPool(path string, n int, o connOptions) *pool {
	return &pool{path: path, o: o, free: make(chan *conn, n+1), left: n}
}

// adopt adds the first connection to a new pool.
func (p *pool) adopt(c *conn) {
	p.left--
	p.free <- c
}

// read calls f with a connection inside a read transaction, so that all its queries read
// one snapshot.
func (p *pool) read(ctx context.Context, f func(c *conn) error) error {
	return p.with(ctx, false, inOneState(f))
}

// readSoon is read, which others that read for long keep from nothing.
func (p *pool) readSoon(ctx context.Context, f func(c *conn) error) error {
	return p.with(ctx, true, inOneState(f))
}

// query calls f with a connection without a transaction, so each query reads its own snapshot. It does not wait for long reads of others.
func (p *pool) query(ctx context.Context, f func(c *conn) error) error { return p.with(ctx, true, f) }

func inOneState(f func(c *conn) error) func(c *conn) error {
	return func(c *conn) error {
		if err := c.do("BEGIN"); err != nil {
			return err
		}
		if err := f(c); err != nil {
			return err // put ends the transaction
		}
		return c.do("COMMIT")
	}
}

func (p *pool) with(ctx context.Context, soon bool, f func(c *conn) error) error {
	c, err := p.get(ctx, soon)
	if err != nil {
		return err
	}
	defer p.put(c)
	return f(c)
}

// put returns a connection to the pool. It closes a connection that cannot end its
// transaction; the next call opens another.
func (p *pool) put(c *conn) {
	if inTransaction(c.dc) && c.do("ROLLBACK") != nil {
		// The error of the call is enough.
		_ = c.close()
		c = nil
	}
	if c != nil && p.spare() {
		_ = c.close() // it only read
		return
	}
	p.free <- c
}

// spare reports whether a returned connection is to be closed, because an extra one was opened.
func (p *pool) spare() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.extra || len(p.free) == 0 {
		return false
	}
	p.extra = false
	return true
}

// more opens an extra connection. It returns nil if there is one already, or none can be opened.
func (p *pool) more() *conn {
	p.mu.Lock()
	first := !p.extra
	p.extra = true
	p.mu.Unlock()
	if !first {
		return nil
	}
	c, err := openConn(p.path, p.o)
	if err != nil { // the caller waits for a free connection instead
		p.mu.Lock()
		p.extra = false
		p.mu.Unlock()
		return nil
	}
	return c
}

// get returns a connection. If soon is set, it does not wait for long reads of others.
func (p *pool) get(ctx context.Context, soon bool) (*conn, error) {
	select {
	case c := <-p.free:
		return p.opened(c)
	default:
	}
	p.mu.Lock()
	first := p.left > 0
	if first {
		p.left--
	}
	p.mu.Unlock()
	if first {
		return p.opened(nil)
	}
	if soon {
		if c := p.more(); c != nil {
			return c, nil
		}
	}
	select {
	case c := <-p.free:
		return p.opened(c)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// opened returns c, or a new connection if c is nil.
func (p *pool) opened(c *conn) (*conn, error) {
	if c != nil {
		return c, nil
	}
	c, err := openConn(p.path, p.o)
	if err != nil {
		p.free <- nil
		return nil, err
	}
	return c, nil
}

// reopen closes the connections; the next calls open new ones. No call may be in flight.
func (p *pool) reopen() error {
	var errs []error
	for range len(p.free) {
		if c := <-p.free; c != nil {
			errs = append(errs, c.close())
		}
		p.free <- nil
	}
	return errors.Join(errs...)
}

// close closes the connections. No call may be in flight.
func (p *pool) close() error {
	var errs []error
	for {
		select {
		case c := <-p.free:
			if c != nil {
				errs = append(errs, c.close())
			}
		default:
			return errors.Join(errs...)
		}
	}
}
