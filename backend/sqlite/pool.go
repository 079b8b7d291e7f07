package sqlite

import (
	"context"
	"errors"
	"sync"
)

// pool is the connections that only read. They are opened when they are needed,
// since most workspaces are idle.
type pool struct {
	path string
	o    connOptions
	free chan *conn // nil is a place without a connection
	mu   sync.Mutex
	left int // places that were never used
}

func newPool(path string, n int, o connOptions) *pool {
	return &pool{path: path, o: o, free: make(chan *conn, n), left: n}
}

// adopt gives a new pool its first connection.
func (p *pool) adopt(c *conn) {
	p.left--
	p.free <- c
}

// read calls f with a connection inside a read transaction, so that all its queries
// see one state of the database.
func (p *pool) read(ctx context.Context, f func(c *conn) error) error {
	return p.query(ctx, func(c *conn) error {
		if err := c.do("BEGIN"); err != nil {
			return err
		}
		if err := f(c); err != nil {
			return err // put ends the transaction
		}
		return c.do("COMMIT")
	})
}

// query calls f with a connection; each of its queries sees a state of its own.
func (p *pool) query(ctx context.Context, f func(c *conn) error) error {
	c, err := p.get(ctx)
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
	p.free <- c
}

func (p *pool) get(ctx context.Context) (*conn, error) {
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
