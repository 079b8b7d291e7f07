package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/move"
)

// movedCode is the SQLSTATE that the trigger contextmem_moved raises.
const movedCode = "CM001"

// guarded are the tables that cannot be changed after the deployment has moved.
var guarded = []string{"ledgers", "sources", "events", "workspaces", "tenants", "records", "deliveries"}

// side implements the interface of package move for a deployment.
type side struct {
	d      *DB
	name   string
	shot   string        // snapshot to read from; empty: the current state
	frozen *pgxpool.Conn // connection of a transaction that blocks all writes; nil: writes are not blocked
}

// Side returns the deployment as one side of a move. Other processes may use the deployment until its content has moved elsewhere.
// After that their writes fail with [backend.ErrUnavailable].
func (d *DB) Side(ctx context.Context) (move.Side, error) {
	s := &side{d: d}
	err := d.query(ctx, everything, func(c *conn) error {
		_, err := c.one(ctx, "SELECT current_database()::text, id FROM contextmem_schema", func(r *row) error {
			s.name = fmt.Sprintf("postgres:%s:%s", r.str(0), r.str(1))
			return nil
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Snapshot returns a snapshot of the deployment as a move.Side for reading. It is valid until end is called. revs are the stamps of the deployment, read before the snapshot.
func (d *DB) Snapshot(ctx context.Context) (from move.Side, revs map[string]int64, end func(), err error) {
	x, err := d.Side(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	s := x.(*side)
	if revs, err = s.Stamps(ctx); err != nil {
		return nil, nil, nil, err
	}
	err = d.retry(ctx, func() error {
		pc, err := d.pool.Acquire(ctx)
		if err != nil {
			return translate(err)
		}
		for _, sql := range []string{"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "SET LOCAL idle_in_transaction_session_timeout = 0"} {
			if _, err := pc.Exec(ctx, sql); err != nil {
				giveBack(pc)
				return translate(err)
			}
		}
		if err := pc.QueryRow(ctx, "SELECT pg_export_snapshot()").Scan(&s.shot); err != nil {
			giveBack(pc)
			return translate(err)
		}
		end = func() { giveBack(pc) }
		return nil
	})
	return s, revs, end, err
}

// checkMoved returns an error if the content of the database has moved elsewhere.
func checkMoved(ctx context.Context, c *pgx.Conn) error {
	var state, peer string
	err := c.QueryRow(ctx, "SELECT moving, peer FROM contextmem_schema").Scan(&state, &peer)
	switch {
	case err != nil:
		return translate(err)
	case state == string(move.Filling):
		return fmt.Errorf("it is being copied from %s: %w", peer, backend.ErrMoved)
	case state != "":
		return fmt.Errorf("its content lives at %s: %w", peer, backend.ErrMoved)
	}
	return nil
}

// Name implements move.Side.
func (s *side) Name() string { return s.name }

// State implements move.Side.
func (s *side) State(ctx context.Context) (st move.State, err error) {
	err = s.d.query(ctx, everything, func(c *conn) error {
		_, err := c.one(ctx, "SELECT moving, peer FROM contextmem_schema", func(r *row) error {
			st = move.State{Name: move.Phase(r.str(0)), Peer: r.str(1)}
			return nil
		})
		return err
	})
	return st, err
}

// SetState implements move.Side.
func (s *side) SetState(ctx context.Context, st move.State) error {
	var sql strings.Builder
	for _, t := range guarded {
		fmt.Fprintf(&sql, "DROP TRIGGER IF EXISTS contextmem_moved ON %s;\n", t)
		if st.Name == move.Moved {
			fmt.Fprintf(&sql, "CREATE TRIGGER contextmem_moved BEFORE INSERT OR UPDATE OR DELETE ON %s FOR EACH STATEMENT EXECUTE FUNCTION contextmem_moved();\n", t)
		}
	}
	set := func(pg *pgx.Conn) error {
		if _, err := pg.Exec(ctx, "UPDATE contextmem_schema SET moving = $1, peer = $2", string(st.Name), st.Peer); err != nil {
			return translate(err)
		}
		if _, err := pg.PgConn().Exec(ctx, sql.String()).ReadAll(); err != nil {
			return translateScript(err)
		}
		return nil
	}
	if pc := s.frozen; pc != nil {
		if err := set(pc.Conn()); err != nil {
			return err
		}
		_, err := pc.Exec(ctx, "COMMIT")
		return translate(err)
	}
	return s.d.retry(ctx, func() error {
		return s.d.with(ctx, everything, func(c *conn) error {
			if _, err := c.pg.Exec(ctx, "BEGIN"); err != nil {
				return translate(err)
			}
			if err := set(c.pg); err != nil {
				return err
			}
			_, err := c.pg.Exec(ctx, "COMMIT")
			return translate(err)
		})
	})
}

// Stamps implements move.Side. Claims are not counted, since no worker holds a claim after a move.
func (s *side) Stamps(ctx context.Context) (stamps map[string]int64, err error) {
	err = s.d.query(ctx, everything, func(c *conn) error {
		stamps = make(map[string]int64)
		return c.each(ctx, "SELECT w.uid, l.rev FROM workspaces w JOIN ledgers l ON l.ws = w.ws WHERE NOT w.gone AND l.rev > 0", func(r *row) error {
			stamps[r.str(0)] = r.int(1)
			return nil
		})
	})
	return stamps, err
}

// Freeze implements move.Side. It locks all tables in a mode that allows reads.
func (s *side) Freeze(ctx context.Context) (thaw func(), err error) {
	tables := append([]string{"ledgers"}, storeTables...)
	for _, t := range guarded {
		if t != "ledgers" && t != "sources" && t != "events" {
			tables = append(tables, t)
		}
	}
	err = s.d.retry(ctx, func() error {
		pc, err := s.d.pool.Acquire(ctx)
		if err != nil {
			return translate(err)
		}
		for _, sql := range []string{"BEGIN", "SET LOCAL statement_timeout = 0", "SET LOCAL idle_in_transaction_session_timeout = 0", "SET LOCAL lock_timeout = '20s'",
			"LOCK TABLE " + strings.Join(tables, ", ") + " IN EXCLUSIVE MODE"} {
			if _, err := pc.Exec(ctx, sql); err != nil {
				giveBack(pc)
				return translate(err)
			}
		}
		s.frozen = pc
		return nil
	})
	return func() {
		giveBack(s.frozen)
		s.frozen = nil
	}, err
}

// Workspaces implements move.Side.
func (s *side) Workspaces(ctx context.Context) (uids []string, err error) {
	err = s.d.query(ctx, everything, func(c *conn) error {
		uids = nil
		return c.each(ctx, "SELECT uid FROM workspaces WHERE NOT gone", func(r *row) error {
			uids = append(uids, r.str(0))
			return nil
		})
	})
	return uids, err
}

// Remove implements move.Side.
func (s *side) Remove(ctx context.Context, uid string) error { return s.d.RemoveStore(ctx, uid) }

// scopeOf returns the scope of a workspace, or of the registry.
func (s *side) scopeOf(ctx context.Context, uid string, create bool) (sc scope, found bool, err error) {
	if uid == "" {
		return everything, true, nil
	}
	ws, err := s.d.workspace(ctx, uid, create)
	return ofWorkspace(ws), ws != 0, err
}

// Read implements move.Side.
func (s *side) Read(ctx context.Context, uid string, f func(move.View) error) error {
	sc, found, err := s.scopeOf(ctx, uid, false)
	if err != nil {
		return err
	}
	if !found {
		return f(emptyView{})
	}
	return s.d.read(ctx, sc, func(c *conn) error {
		if s.shot != "" { // must precede all queries of the transaction
			c.pending = slices.Insert(c.pending, 1, statement{sql: "SET TRANSACTION SNAPSHOT '" + s.shot + "'"})
		}
		return f(&view{sc, func(_ context.Context, g func(*conn) error) error { return g(c) }})
	})
}

// Write implements move.Side.
func (s *side) Write(ctx context.Context, uid string) (move.Place, error) {
	sc, _, err := s.scopeOf(ctx, uid, true)
	if err != nil {
		return nil, err
	}
	return &spot{view{sc, func(ctx context.Context, g func(*conn) error) error { return s.d.query(ctx, sc, g) }}, s.d}, nil
}
