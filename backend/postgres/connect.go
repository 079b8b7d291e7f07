package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/contextmem/contextmem/backend"
)

// reconnectPause is the pause between two attempts to connect while the server cannot be reached.
const reconnectPause = 50 * time.Millisecond

// reconnects lets one call at a time try to connect while the server cannot be reached. The other calls wait for its result. If all of
// them tried, a standby would answer hundreds of attempts each second while it is being promoted, which delays the promotion.
type reconnects struct {
	mu     sync.Mutex
	failed time.Time // when the last attempt failed; zero: the server can be reached
	now    *attempt  // nil: none is running
}

// attempt is an attempt to connect that other calls wait for.
type attempt struct {
	done chan struct{} // closed when it has ended
	err  error         // valid after done is closed
}

// acquire takes a connection from the pool, or makes one.
func (d *DB) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	r := &d.reconnects
	r.mu.Lock()
	if r.failed.IsZero() {
		r.mu.Unlock()
		return d.connect(ctx)
	}
	if now := r.now; now != nil {
		r.mu.Unlock()
		select {
		case <-now.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if now.err != nil {
			return nil, now.err
		}
		return d.connect(ctx)
	}
	now, wait := &attempt{done: make(chan struct{})}, reconnectPause-time.Since(r.failed)
	r.now = now
	r.mu.Unlock()
	var pc *pgxpool.Conn
	var err error
	if wait <= 0 || pause(ctx, wait) {
		pc, err = d.connect(ctx)
	} else {
		err = ctx.Err()
	}
	if now.err = err; ctx.Err() != nil { // that does not concern the other calls
		now.err = fmt.Errorf("postgres: another call stopped connecting: %w: %w", errAgain, backend.ErrUnavailable)
	}
	r.mu.Lock()
	r.now = nil
	r.mu.Unlock()
	close(now.done)
	return pc, err
}

// connect is acquire without waiting for other calls. It records whether the server can be reached.
func (d *DB) connect(ctx context.Context) (*pgxpool.Conn, error) {
	pc, err := d.pool.Acquire(ctx)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil { // connect_timeout of the URL
		err = fmt.Errorf("postgres: the server does not answer: %w: %w", errLost, backend.ErrUnavailable)
	} else {
		err = translate(err)
	}
	r := &d.reconnects
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err == nil:
		r.failed = time.Time{}
	case errors.Is(err, errLost):
		r.failed = time.Now()
	}
	return pc, err
}
