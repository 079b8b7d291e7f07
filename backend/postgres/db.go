// Package postgres stores a deployment in PostgreSQL 15 or newer, for any number of concurrent processes. Workspaces are
// rows of shared tables, which are partitioned by workspace.
//
// # Walls between tenants
//
// Every statement has a condition on its workspace. Row-level security is a second wall: each transaction sets its workspace,
// or in the registry its organisation, and the server hides rows of others even if a statement lacks the condition. A
// workspace belongs to one organisation. [Open] returns an error for a role that bypasses row-level security.
//
// # Changes
//
// A transaction that changes a workspace locks the row of its ledger until the commit, so sequence numbers of the change feed
// have no gaps and are in the order of commits. A call that no other process or call interferes with is one message to the server; see assume.go. Concurrent calls of one process share a transaction. Workers claim with FOR
// UPDATE SKIP LOCKED and without that lock. If a connection is lost during a commit, the process asks the server whether the
// commit took place, so that nothing is done twice.
//
// Other processes are notified of changes with LISTEN and NOTIFY. In case notifications are lost, they also poll every [Options].Poll.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// Defaults of [Options].
const (
	DefaultPartitions       = 16
	DefaultStatementTimeout = 30 * time.Second
	DefaultRetry            = 15 * time.Second
	DefaultPoll             = time.Second
	DefaultConns            = 16
)

// Options configures a deployment. The zero value selects the defaults.
type Options struct {
	// Partitions is the number of partitions of the tables when they are created; default DefaultPartitions, at most 1024. It is
	// ignored if the tables exist.
	Partitions int
	// StatementTimeout is the maximal duration of a statement. If a statement exceeds it, the call returns [backend.ErrUnavailable].
	// Default DefaultStatementTimeout; the minimum is one millisecond.
	StatementTimeout time.Duration
	// Retry is how long a call is retried after deadlocks, and while the server shuts down, fails over or is unreachable.
	// After that time the call returns [backend.ErrUnavailable]. Default DefaultRetry; negative: no retries.
	Retry time.Duration
	// Poll is the interval at which the process polls for changes by others, in case it missed a notification; default
	// DefaultPoll, at least a millisecond.
	Poll time.Duration
	// ListenURL is the URL of the connection for LISTEN, which must lead to the server directly. Default: the URL of the
	// deployment, unless a pooler answers there; then the process only polls.
	ListenURL string
	// Moving allows opening a deployment whose content [DB.Side] has moved elsewhere, or whose filling is incomplete. Otherwise Open returns [backend.ErrMoved].
	Moving bool
	// Rewrite makes erasing rewrite the tables with the tenant's rows by VACUUM FULL, so that their files contain no old row versions.
	// Calls on these tables, which other tenants share, wait meanwhile, and the disk must have space for a copy. Default: old row versions are
	// removed from the tables, but stay in the files until the space is reused.
	Rewrite bool
}

func (o *Options) complete() (Options, error) {
	c := Options{}
	if o != nil {
		c = *o
	}
	if c.Partitions == 0 {
		c.Partitions = DefaultPartitions
	}
	for _, d := range [...]struct {
		at  *time.Duration
		def time.Duration
	}{{&c.StatementTimeout, DefaultStatementTimeout}, {&c.Retry, DefaultRetry}, {&c.Poll, DefaultPoll}} {
		if *d.at == 0 {
			*d.at = d.def
		}
	}
	var errs []error
	if c.Partitions < 1 || c.Partitions > 1024 {
		errs = append(errs, fmt.Errorf("postgres: Partitions is %d, want 1 to 1024", c.Partitions))
	}
	if c.StatementTimeout < time.Millisecond {
		errs = append(errs, fmt.Errorf("postgres: StatementTimeout is %s, want at least 1ms", c.StatementTimeout))
	}
	if c.Poll < time.Millisecond {
		errs = append(errs, fmt.Errorf("postgres: Poll is %s, want at least 1ms", c.Poll))
	}
	return c, errors.Join(errs...)
}

// DB is an open deployment. It implements [backend.Stores]. Safe for concurrent use.
type DB struct {
	storerules.Gate
	o          Options
	pool       *pgxpool.Pool
	keeps      bool // the server keeps plans of statements
	generic    bool // writing calls use genericPlans, and reads by keys keyPlans
	reg        *registry
	watch      *watch
	reconnects reconnects
	resets     atomic.Int64 // number of times that all connections of pool were closed because one was lost
	// horizonWait is how long an erasure waits for transactions that may see what it deletes.
	horizonWait time.Duration

	mu   sync.Mutex
	open map[string]*store // nil while one is being opened or removed
}

var _ backend.Stores = (*DB)(nil)

// Open opens the deployment at a URL such as postgres://user:password@host:5432/database, and creates missing tables.
// The URL may name several hosts, with target_session_attrs=read-write, and may set pool_max_conns (default DefaultConns).
// The role must own the database or be able to create tables in its schema. It must not be a superuser or have BYPASSRLS.
// Open returns [backend.ErrNewerSchema] if a newer release created the tables, and [backend.ErrUnavailable] if no server answers within
// [Options].Retry. ctx limits only the opening. nil options select the defaults.
func Open(ctx context.Context, url string, o *Options) (*DB, error) {
	opts, err := o.complete()
	if err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errors.New("postgres: the URL cannot be read: want postgres://user:password@host:port/database") // the error of the parser may quote the password
	}
	if !strings.Contains(url, "pool_max_conns") {
		config.MaxConns = DefaultConns
	}
	var pooled bool
	var partitions int64
	err = retryFor(ctx, opts.Retry, func() (err error) {
		pooled, partitions, err = prepare(ctx, config.ConnConfig, &opts)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open deployment: %w", err)
	}
	if pooled && !strings.Contains(url, "default_query_exec_mode") {
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open deployment: %w", translate(err))
	}
	cached := config.ConnConfig.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement // otherwise each call would make such a plan
	d := &DB{o: opts, pool: pool, keeps: cached, generic: cached && partitions <= genericPartitions, horizonWait: maxHorizonWait, open: make(map[string]*store)}
	d.reg = &registry{db: d}
	var listen *pgx.ConnConfig
	switch {
	case opts.ListenURL != "":
		if listen, err = pgx.ParseConfig(opts.ListenURL); err != nil {
			pool.Close()
			return nil, errors.New("postgres: ListenURL cannot be read: want postgres://user:password@host:port/database")
		}
	case !pooled:
		listen = config.ConnConfig.Copy()
	}
	d.watch = startWatch(d, listen)
	return d, nil
}

// addresses returns the hosts and ports of the servers that a configuration names.
func addresses(c *pgx.ConnConfig) string {
	at := []string{net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))}
	for _, f := range c.Fallbacks {
		if next := net.JoinHostPort(f.Host, strconv.Itoa(int(f.Port))); !slices.Contains(at, next) {
			at = append(at, next)
		}
	}
	return strings.Join(at, ", ")
}

// prepare creates the tables, and returns the number of their partitions. pooled reports whether a pooler is in front of the server. prepare recognises a pooler by the process
// number of a connection, which a pooler invents.
func prepare(ctx context.Context, config *pgx.ConnConfig, o *Options) (pooled bool, partitions int64, err error) {
	config = config.Copy()
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // the presence of a pooler is not known yet
	c, err := pgx.ConnectConfig(ctx, config)
	if err = translate(err); errors.Is(err, errLost) {
		return false, 0, fmt.Errorf("postgres: no server answers at %s: %w", addresses(config), err)
	} else if err != nil {
		return false, 0, err
	}
	defer func() { _ = c.Close(bg) }()
	var pid, version int32
	var free bool
	var role string
	err = c.QueryRow(ctx, `SELECT pg_backend_pid(), current_setting('server_version_num')::int, rolsuper OR rolbypassrls, current_user::text FROM pg_roles WHERE rolname = current_user`).
		Scan(&pid, &version, &free, &role)
	switch {
	case err != nil:
		return false, 0, translate(err)
	case version < 150000:
		return false, 0, fmt.Errorf("postgres: the server is of version %d, want 15 or newer", version/10000)
	case free:
		return false, 0, fmt.Errorf("postgres: row-level security does not bind the role %q: connect as one that is neither superuser nor has BYPASSRLS", role)
	}
	if err := migrate(ctx, c, o.Partitions); err != nil {
		return false, 0, err
	}
	if !o.Moving {
		if err := checkMoved(ctx, c); err != nil {
			return false, 0, err
		}
	}
	err = c.QueryRow(ctx, "SELECT partitions FROM contextmem_schema").Scan(&partitions)
	return uint32(pid) != c.PgConn().PID(), partitions, translate(err)
}

// Registry returns the registry of the deployment.
func (d *DB) Registry() backend.Registry { return d.reg }

// OpenStore opens the store of the workspace uid, 32 lower-case hexadecimal characters, and creates it if it is missing.
// It returns [backend.ErrConflict] if the store is open in this process.
func (d *DB) OpenStore(ctx context.Context, uid string) (backend.Store, error) {
	if err := d.Enter(ctx); err != nil {
		return nil, err
	}
	defer d.Leave()
	if err := d.reserve(uid, "open"); err != nil {
		return nil, err
	}
	s, err := d.openStore(ctx, uid)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		delete(d.open, uid)
		return nil, fmt.Errorf("open workspace %s: %w", uid, err)
	}
	d.open[uid] = s
	return s, nil
}

func (d *DB) openStore(ctx context.Context, uid string) (*store, error) {
	ws, err := d.workspace(ctx, uid, true)
	if err != nil {
		return nil, err
	}
	s := newStore(d, uid, ws)
	return s, s.query(ctx, func(c *conn) error { return s.epochs.read(ctx, c, -1) })
}

// workspace returns the number of a workspace. If there is none, it creates one if create is set, and otherwise returns 0.
func (d *DB) workspace(ctx context.Context, uid string, create bool) (ws int64, err error) {
	find := func(c *conn) error {
		_, err := c.one(ctx, "SELECT ws FROM workspaces WHERE uid = $1 AND NOT gone", func(r *row) error {
			ws = r.int(0)
			return nil
		}, plain(uid))
		return err
	}
	if err := d.query(ctx, everything, find); err != nil {
		return 0, err
	}
	for create && ws == 0 {
		err := d.write(ctx, everything, func(c *conn) error {
			_, err := c.one(bg, "INSERT INTO workspaces (uid) VALUES ($1) ON CONFLICT (uid) WHERE NOT gone DO NOTHING RETURNING ws", func(r *row) error {
				ws = r.int(0)
				return nil
			}, plain(uid))
			if err != nil || ws == 0 {
				return err
			}
			c.pending = append(c.pending, ofWorkspace(ws).limits(d.o.StatementTimeout))
			return c.do("INSERT INTO ledgers (ws) VALUES ($1)", ws)
		})
		if err == nil && ws == 0 { // another process has just made it
			err = d.query(ctx, everything, find)
		}
		if err != nil {
			return 0, err
		}
	}
	return ws, nil
}

// RemoveStore deletes the workspace uid. It returns no error if there is none, and [backend.ErrConflict] if it is open in this process. In
// another process that has it open, calls return [backend.ErrClosed] from then on.
func (d *DB) RemoveStore(ctx context.Context, uid string) error {
	if err := d.Enter(ctx); err != nil {
		return err
	}
	defer d.Leave()
	if err := d.reserve(uid, "remove"); err != nil {
		return err
	}
	defer d.release(uid)
	if err := d.removeStore(ctx, uid); err != nil {
		return fmt.Errorf("remove workspace %s: %w", uid, err)
	}
	return nil
}

// removeRows is the number of rows that one transaction deletes from a table.
const removeRows = 5000

func (d *DB) removeStore(ctx context.Context, uid string) error {
	var gone []int64
	err := d.write(ctx, everything, func(c *conn) error {
		gone = nil
		if err := c.do("UPDATE workspaces SET gone = true WHERE uid = $1 AND NOT gone", plain(uid)); err != nil {
			return err
		}
		err := c.each(bg, "SELECT ws FROM workspaces WHERE uid = $1 AND gone", func(r *row) error {
			gone = append(gone, r.int(0))
			return nil
		}, plain(uid))
		for _, ws := range gone {
			if err == nil { // from now on, processes that have the workspace open cannot write
				c.pending = append(c.pending, ofWorkspace(ws).limits(d.o.StatementTimeout))
				err = c.do("DELETE FROM ledgers WHERE ws = $1", ws)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, ws := range gone {
		for _, table := range storeTables {
			for n := int64(removeRows); n == removeRows; {
				if err := ctx.Err(); err != nil {
					return err
				}
				err := d.write(ctx, ofWorkspace(ws), func(c *conn) (err error) {
					n, err = c.exec(bg, "DELETE FROM "+table+" WHERE ws = $1 AND ctid = ANY(ARRAY(SELECT ctid FROM "+table+" WHERE ws = $1 LIMIT $2))", removeRows)
					return err
				})
				if err != nil {
					return err
				}
			}
		}
		err := d.write(ctx, everything, func(c *conn) error { return c.do("DELETE FROM workspaces WHERE ws = $1 AND gone", ws) })
		if err != nil {
			return err
		}
	}
	return nil
}

// storeTables are the tables with workspace data, except ledgers.
var storeTables = []string{
	"epochs", "vals", "sources", "parts", "tags", "blobs", "blob_parts", "chunks", "vectors", "mentions", "entity_sources",
	"entities", "aliases", "merges", "stated_aliases", "relations", "events", "changes", "successions",
}

// Close closes the deployment and all open workspaces. It waits for calls in flight. Further
// calls do nothing.
func (d *DB) Close() error {
	if !d.Shut() {
		return nil
	}
	d.mu.Lock()
	var stores []*store
	for _, s := range d.open {
		if s != nil {
			stores = append(stores, s)
		}
	}
	d.mu.Unlock()
	for _, s := range stores {
		_ = s.Close()
	}
	d.reg.Shut()
	d.watch.stop()
	d.pool.Close()
	return nil
}

// reserve checks that a uid is well-formed and ensures that only one call at a time uses it.
func (d *DB) reserve(uid, what string) error {
	if err := backend.CheckUID(uid); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.open[uid]; ok {
		return fmt.Errorf("%s workspace %s: it is open: %w", what, uid, backend.ErrConflict)
	}
	d.open[uid] = nil
	return nil
}

func (d *DB) release(uid string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.open, uid)
}
