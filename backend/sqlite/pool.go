package sqlite

import (
	"context"
	"errors"
	"sync"
)

// pool is the connections that only read. They are opened when they are needed,
// since most workspaces are idle. Where others that read for long have all, a single query gets one more.
type pool struct {
	path  string
	o     connOptions
	free  chan *conn // nil is a place without a connection
	mu    sync.Mutex
	left  int  // places that were never used
	extra bool // there is one more
}

func newPool(path string, n int, o connOptions) *pool {
	return &pool{path: path, o: o, free: make(chan *conn, n+1), left: n}
}

// adopt gives a new pool its first connection.
func (p *pool) adopt(c *conn) {
	p.left--
	p.free <- c
}

// read calls f with a connection inside a read transaction, so that all its queries
// see one state of the database.
func (p *pool) read(ctx context.Context, f func(c *conn) error) error {
	return p.with(ctx, false, inOneState(f))
}

// readSoon is read, which others that read for long keep from nothing.
func (p *pool) readSoon(ctx context.Context, f func(c *conn) error) error {
	return p.with(ctx, true, inOneState(f))
}

// query calls f with a connection; each of its queries sees a state of its own. Others that read for long keep it from nothing.
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

// put gives a connection back. One that cannot leave its transaction is of no use to
// the next call, which opens another.
func (p *pool) put(c *conn) {
	if inTransaction(c.dc) && c.do("ROLLBACK") != nil {
		// Its own error says nothing that the call's error did not.
		_ = c.close()
		c = nil
	}
	if c != nil && p.spare() {
		_ = c.close() // it only read
		return
	}
	p.free <- c
}

// spare reports whether a connection that is given back is one too many.
func (p *pool) spare() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.extra || len(p.free) == 0 {
		return false
	}
	p.extra = false
	return true
}

// more opens a connection beside those of all places; nil: there is one already, or none can be opened.
func (p *pool) more() *conn {
	p.mu.Lock()
	first := !p.extra
	p.extra = true
	p.mu.Unlock()
	if !first {
		return nil
	}
	c, err := openConn(p.path, p.o)
	if err != nil { // a place is waited for instead
		p.mu.Lock()
		p.extra = false
		p.mu.Unlock()
		return nil
	}
	return c
}

// get returns a connection. soon: one that reads for long may not be what it waits for.
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

// opened opens the connection of a place in the pool, unless that has one.
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

// reopen closes the connections; the next calls open new ones. No call may be under way.
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

// close closes the connections; no call may be under way.
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
