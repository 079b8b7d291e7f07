package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/contextmem/contextmem/backend"
)

// scope defines which rows a transaction may see.
type scope struct {
	setting, value string
	args           []any // first arguments of each statement
}

// everything is the scope for rows of no organisation, or of all.
var everything = scope{setting: "contextmem.org", value: "*"}

func ofWorkspace(ws int64) scope {
	return scope{"contextmem.ws", strconv.FormatInt(ws, 10), []any{ws}}
}

func ofOrg(org string) scope {
	return scope{setting: "contextmem.org", value: fmt.Sprintf("%x", hashOf(org))}
}

// limits returns the statement that sets the visible rows and the statement timeout for one transaction.
func (s scope) limits(timeout time.Duration) statement {
	return statement{sql: "SELECT set_config($1, $2, true), set_config('statement_timeout', $3, true)",
		args: []any{s.setting, s.value, strconv.FormatInt(timeout.Milliseconds(), 10)}}
}

// Expressions that choose between plans of prepared statements for the rest of a transaction. The server prefers to plan a statement on a
// partitioned table again for each call, because a plan of one partition looks cheaper. For rows found by their keys the planning takes
// longer than the rest. Left to itself it still makes, once for each connection and statement, a plan of all partitions for its sixth call, to compare.
const (
	genericPlans = "set_config('plan_cache_mode', 'force_generic_plan', true)"
	customPlans  = "set_config('plan_cache_mode', 'force_custom_plan', true)"
	autoPlans    = "set_config('plan_cache_mode', 'auto', true)"
)

// keyPlans is genericPlans for transactions that only read rows by their keys. The server keeps such a plan until it analyses a table
// again, and the table may have been nearly empty when the plan was made. So the plan may only be one that stays good: for each row an access by an index.
// The server takes what is switched off for so expensive that it would compile such plans to machine code at each call, which takes seconds.
const keyPlans = genericPlans + `, set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true),
	set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), set_config('jit', 'off', true)`

// genericPartitions is the largest number of partitions for which transactions use genericPlans. Such a plan includes all partitions.
const genericPartitions = 16

// query runs f without a common snapshot: each statement sees the rows at its own time. It is meant for reads of one statement.
func (d *DB) query(ctx context.Context, s scope, f func(c *conn) error) error {
	return d.queryLimited(ctx, s, d.limits, f)
}

// queryKeys is query for reads of rows by their keys.
func (d *DB) queryKeys(ctx context.Context, s scope, f func(c *conn) error) error {
	return d.queryLimited(ctx, s, d.keyLimits, f)
}

// limits returns the statement that begins a read.
func (d *DB) limits(c *conn, s scope) statement {
	limits := s.limits(d.o.StatementTimeout)
	if d.young(c) {
		limits.sql += ", " + customPlans
	}
	return limits
}

// youngCalls is the number of calls of a connection for which the server makes no plan of all partitions. Such a plan takes it tens of
// milliseconds, since it reads the definitions of all partitions. After a fail-over all connections are new, and many calls wait for them.
const youngCalls = 64

// callsKey is the key of the number of calls, up to youngCalls, in the data of a connection.
const callsKey = "contextmem.calls"

// young reports whether the call that begins is one of the first of a connection, and counts it.
func (d *DB) young(c *conn) bool {
	if !d.keeps {
		return false
	}
	data := c.pg.PgConn().CustomData()
	n, _ := data[callsKey].(int)
	if n >= youngCalls {
		return false
	}
	data[callsKey] = n + 1
	return true
}

// keyLimits is limits for a read of rows by their keys.
func (d *DB) keyLimits(c *conn, s scope) statement {
	limits := s.limits(d.o.StatementTimeout)
	if d.young(c) {
		limits.sql += ", " + customPlans
	} else if d.generic {
		limits.sql += ", " + keyPlans
	}
	return limits
}

func (d *DB) queryLimited(ctx context.Context, s scope, limits func(*conn, scope) statement, f func(c *conn) error) error {
	return d.retry(ctx, func() error {
		return d.with(ctx, s, func(c *conn) error {
			c.single = []statement{limits(c, s)}
			return f(c)
		})
	})
}

// read runs f so that all its statements see the same snapshot.
func (d *DB) read(ctx context.Context, s scope, f func(c *conn) error) error {
	return d.readLimited(ctx, s, d.limits, f)
}

// readKeys is read for reads of rows by their keys.
func (d *DB) readKeys(ctx context.Context, s scope, f func(c *conn) error) error {
	return d.readLimited(ctx, s, d.keyLimits, f)
}

func (d *DB) readLimited(ctx context.Context, s scope, limits func(*conn, scope) statement, f func(c *conn) error) error {
	return d.retry(ctx, func() error {
		return d.with(ctx, s, func(c *conn) error {
			c.pending = append(c.pending, statement{sql: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"}, limits(c, s))
			err := f(c)
			if err == nil {
				c.pending = append(c.pending, statement{sql: "COMMIT"})
				err = c.flush(ctx)
			}
			return err
		})
	})
}

// with runs f with a connection. The connection is returned without an open transaction.
func (d *DB) with(ctx context.Context, s scope, f func(c *conn) error) error {
	pc, err := d.acquire(ctx)
	if err != nil {
		return err
	}
	c, resets := &conn{pg: pc.Conn(), scope: s.args}, d.resets.Load()
	err = f(c)
	giveBack(pc)
	// The other connections are probably lost too. Connections that were made since another call closed the lost ones are kept: if all
	// callers connect and prepare their statements again and again, a fail-over takes seconds longer.
	if errors.Is(err, errLost) && d.resets.CompareAndSwap(resets, resets+1) {
		d.pool.Reset()
	}
	return err
}

// rollbackTime is the maximal wait for a rollback.
const rollbackTime = 5 * time.Second

// giveBack returns a connection to the pool, after rolling back an open transaction.
func giveBack(pc *pgxpool.Conn) {
	if pg := pc.Conn(); !pg.IsClosed() && pg.PgConn().TxStatus() != 'I' {
		ctx, cancel := context.WithTimeout(bg, rollbackTime)
		if _, err := pg.Exec(ctx, "ROLLBACK", pgx.QueryExecModeSimpleProtocol); err != nil {
			_ = pg.Close(ctx)
		}
		cancel()
	}
	pc.Release()
}

// write runs f in a transaction and returns when the transaction is durable. It may run f several times; only the last run
// counts. Once f has begun, write ignores ctx. If the connection is lost during the commit and the server has restarted since, f
// runs again even if the commit took place, so f must be idempotent.
func (d *DB) write(ctx context.Context, s scope, f func(c *conn) error) error {
	return d.retry(ctx, func() error {
		var begun transaction
		return d.writeOnce(ctx, s, &begun, f, begun.happened)
	})
}

// writeAsking is like write, for changes that must not be done twice. happened finds out whether a commit without a response took place.
func (d *DB) writeAsking(ctx context.Context, s scope, happened func(c *conn) (bool, error), f func(c *conn) error) error {
	return d.retry(ctx, func() error { return d.writeOnce(ctx, s, nil, f, happened) })
}

func (d *DB) writeOnce(ctx context.Context, s scope, begun *transaction, f func(c *conn) error, happened func(c *conn) (bool, error)) error {
	committing := false
	err := d.with(ctx, s, func(c *conn) error {
		limits := s.limits(d.o.StatementTimeout)
		c.plans = autoPlans
		if d.young(c) {
			c.plans = customPlans
			limits.sql += ", " + customPlans
		} else if c.generic = d.generic && begun == nil; c.generic {
			limits.sql += ", " + genericPlans
		}
		c.pending = append(c.pending, statement{sql: "BEGIN"}, limits)
		if begun != nil {
			c.asked = statement{sql: "SELECT pg_current_xact_id()::text, pg_postmaster_start_time()::text"}
			c.answer = begun
		}
		err := f(c)
		if err == nil && c.asked.sql != "" {
			err = c.flush(bg) // the transaction needs a number to find out later whether it was committed
		}
		if err != nil {
			return err
		}
		c.pending = append(c.pending, statement{sql: "COMMIT"})
		committing = true
		return c.flush(bg)
	})
	if !committing || !errors.Is(err, errLost) {
		return err
	}
	// The response to COMMIT did not arrive.
	done := false
	aerr := d.query(bg, s, func(c *conn) (err error) {
		done, err = happened(c)
		return err
	})
	switch {
	case aerr != nil:
		return fmt.Errorf("whether a commit took place is not known: %w", errors.Join(aerr, backend.ErrUnavailable))
	case done:
		return nil
	}
	return err
}

// transaction identifies a transaction of a server.
type transaction struct{ xid, started string }

// happened reports whether the transaction was committed. It returns false if that is unknown, since a killed server assigns numbers again.
func (x *transaction) happened(c *conn) (done bool, err error) {
	c.scope = nil
	status := ""
	_, err = c.one(bg, "SELECT coalesce(CASE WHEN pg_postmaster_start_time()::text = $2 THEN pg_xact_status($1::xid8) END, '')", func(r *row) error {
		status = r.str(0)
		return nil
	}, plain(x.xid), plain(x.started))
	switch {
	case err != nil:
		return false, err
	case status == "in progress": // the server has not noticed yet
		return false, fmt.Errorf("in progress: %w", errAgain)
	}
	return status == "committed", nil
}

// Bounds of the wait between two attempts of a call.
const (
	firstWait = 5 * time.Millisecond
	lastWait  = 500 * time.Millisecond
	lostWait  = 100 * time.Millisecond // lastWait after a lost connection; acquire bounds the number of attempts to connect
)

// retry runs f until it succeeds, fails permanently, or the time [Options].Retry is over.
func (d *DB) retry(ctx context.Context, f func() error) error { return retryFor(ctx, d.o.Retry, f) }

// retryFor runs f until it succeeds, fails permanently, or a time is over.
func retryFor(ctx context.Context, limit time.Duration, f func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	start, wait := time.Now(), firstWait
	for {
		err := f()
		if cerr := ctx.Err(); err != nil && cerr != nil && (errors.Is(err, cerr) || again(err)) {
			return cerr
		}
		if err == nil || !again(err) || time.Since(start) > limit {
			return err
		}
		if errors.Is(err, errLost) {
			wait = min(wait, lostWait)
		}
		timer := time.NewTimer(wait/2 + rand.N(wait)) // random, so that not all callers retry at once
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
		wait = min(2*wait, lastWait)
	}
}
