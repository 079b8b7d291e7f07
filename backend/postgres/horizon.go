package postgres

import (
	"context"
	"sync"
	"time"
)

const (
	// maxHorizonWait is how long an erasure waits for transactions that began before it.
	maxHorizonWait = 30 * time.Second
	horizonPoll    = 20 * time.Millisecond
)

// horizon knows whether VACUUM could remove what erasures deleted. VACUUM keeps a deleted row version while a snapshot may see it, that is one
// of the same database or of a replica, taken while the deleting transaction or an older one in any database of the server ran.
type horizon struct {
	mu   sync.Mutex
	kept int64 // number of a transaction: row versions deleted before it may be kept; 0: none is
}

// reach waits until VACUUM can remove all row versions that are deleted now. After a time it gives up; remains says so then.
func (h *horizon) reach(ctx context.Context, d *DB) error {
	until := time.Now().Add(d.horizonWait)
	var xid int64 // transactions that are committed have smaller numbers
	err := d.ask(ctx, "SELECT pg_current_xact_id()::text::bigint", func(r *row) { xid = r.int(0) })
	if err != nil {
		return err
	}
	reached, err := d.reachSnapshots(ctx, xid, until)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case !reached:
		h.kept = max(h.kept, xid)
	case xid >= h.kept:
		h.kept = 0
	}
	return nil
}

func (h *horizon) remains() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.kept == 0 {
		return nil
	}
	return []string{"deleted row versions in the tables, which a transaction that began before and did not end may see, until it ends and VACUUM runs"}
}

// reachSnapshots waits until no snapshot may see what transactions before xid deleted, and reports whether that came before the deadline.
func (d *DB) reachSnapshots(ctx context.Context, xid int64, until time.Time) (bool, error) {
	// Once no transaction before xid runs, no new snapshot sees what they deleted. Slots and replicas hold row versions for themselves.
	reached, err := d.poll(ctx, until, `SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint >= $1::bigint
		AND NOT EXISTS (SELECT 1 FROM pg_replication_slots WHERE age(xmin) > age($1::text::xid8::xid))
		AND NOT EXISTS (SELECT 1 FROM pg_stat_replication WHERE age(backend_xmin) > age($1::text::xid8::xid))`, xid)
	if err != nil || !reached {
		return false, err
	}
	// Older snapshots belong to transactions of this database that run now. All users may see their locks. VACUUM has a transaction too, but
	// holds nothing unless it is FULL.
	var running []byte
	err = d.ask(ctx, `SELECT coalesce(string_agg(l.virtualtransaction, ','), '')::bytea FROM pg_locks l JOIN pg_stat_activity a USING (pid)
		WHERE l.locktype = 'virtualxid' AND l.mode = 'ExclusiveLock' AND l.pid <> pg_backend_pid()
			AND a.datid = (SELECT oid FROM pg_database WHERE datname = current_database())
			AND coalesce(a.query, '') NOT LIKE 'autovacuum: VACUUM%' AND coalesce(a.query, '') NOT LIKE 'VACUUM (INDEX%'`,
		func(r *row) { running = r.blob(0) })
	if err != nil {
		return false, err
	}
	return d.poll(ctx, until, `SELECT NOT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'virtualxid' AND mode = 'ExclusiveLock'
		AND virtualtransaction = ANY(string_to_array(convert_from($1, 'UTF8'), ',')))`, running)
}

// poll asks until the answer is true, and reports whether that came before the deadline. It asks at least once.
func (d *DB) poll(ctx context.Context, until time.Time, sql string, args ...any) (is bool, err error) {
	for {
		if err := d.ask(ctx, sql, func(r *row) { is = r.bool(0) }, args...); err != nil || is || !time.Now().Before(until) {
			return is, err
		}
		timer := time.NewTimer(horizonPoll)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return false, ctx.Err()
		}
	}
}

// ask passes the only row of a query about the server to f.
func (d *DB) ask(ctx context.Context, sql string, f func(r *row), args ...any) error {
	return d.query(ctx, everything, func(c *conn) error {
		c.scope = nil
		_, err := c.one(ctx, sql, func(r *row) error {
			f(r)
			return nil
		}, args...)
		return err
	})
}
