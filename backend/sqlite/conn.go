package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"unsafe"

	"github.com/contextmem/contextmem/backend"
)

// errConstraint is wrapped by errors of violated UNIQUE and other constraints.
var errConstraint = errors.New("constraint")

// conn is a connection with its prepared statements. It is not safe for concurrent use.
type conn struct {
	dc     driver.Conn
	stmts  map[string]*stmt
	recent [recentStmts]*stmt // some of stmts, indexed by the address of their text
}

// maxKeptBuf is the maximal size of a row.buf that a statement keeps for its next query.
const maxKeptBuf = 64 << 10

// recentStmts is a power of two and greater than the number of statements of ingestion.
const recentStmts = 128

type stmt struct {
	driver.Stmt
	sql   string
	exec  driver.StmtExecContext
	query driver.StmtQueryContext
	args  []driver.NamedValue
	vals  []driver.Value
	row   row // current row of a query
}

// connOptions are the settings that differ between connections.
type connOptions struct {
	readOnly   bool
	cacheBytes int
	vfs        string // SQLite VFS of the file; empty: the default one
}

// walPages is the size of the write-ahead log, in pages of 4 KiB, from which on a
// commit moves it into the database. With a larger log, pages that change often are
// moved less often: ingestion into 50,000 memories takes an eighth less processor time
// with 16384 than with 4096. 8192 pages, 32 MiB, are a compromise.
const walPages = 8192

// openConn opens a database file. It creates the file if there is none.
func openConn(path string, o connOptions) (*conn, error) {
	dc, err := openDriver(fileURL(path, strings.TrimPrefix(o.inVFS(), "&")))
	if err != nil {
		return nil, translate(err)
	}
	c := &conn{dc: dc, stmts: make(map[string]*stmt)}
	pragmas := fmt.Sprintf(`PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON;
		PRAGMA temp_store=MEMORY; PRAGMA mmap_size=0; PRAGMA cache_size=-%d;
		PRAGMA wal_autocheckpoint=%d; PRAGMA journal_size_limit=%d;`, o.cacheKiB(), walPages, logLimit)
	if o.readOnly {
		pragmas += "PRAGMA query_only=ON"
	} else {
		pragmas = "PRAGMA journal_mode=WAL; " + pragmas
	}
	if err := c.script(pragmas); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// inVFS returns the URI parameter that selects the VFS.
func (o connOptions) inVFS() string {
	if o.vfs == "" {
		return ""
	}
	return "&vfs=" + o.vfs
}

// fileURL returns the URI of a database file with parameters of its connection.
func fileURL(path, query string) string {
	name := filepath.ToSlash(path)
	if !strings.HasPrefix(name, "/") {
		name = "/" + name // the path begins with a Windows drive
	}
	u := url.URL{Scheme: "file", Path: name, RawQuery: query}
	return u.String()
}

func (o connOptions) cacheKiB() int { return max(o.cacheBytes/1024, 64) }

// becomeReader makes a connection read-only.
func (c *conn) becomeReader(o connOptions) error {
	return c.script(fmt.Sprintf("PRAGMA cache_size=-%d; PRAGMA query_only=ON", o.cacheKiB()))
}

// script runs statements without arguments. It does not keep them prepared.
func (c *conn) script(sql string) error {
	e, ok := c.dc.(driver.ExecerContext)
	if !ok {
		return errors.New("sqlite: the driver cannot run scripts")
	}
	_, err := e.ExecContext(context.Background(), sql, nil)
	return translate(err)
}

// prepare returns the prepared statement of a text, from the cache if it was used before.
// Texts are constants, so the cache is bounded.
func (c *conn) prepare(sql string) (*stmt, error) {
	// A look-up by the content of a text takes a tenth of the time of a small statement. The address is enough, since the statement keeps its text in memory.
	place := unsafe.StringData(sql)
	recent := &c.recent[uintptr(unsafe.Pointer(place))/16%recentStmts]
	if s := *recent; s != nil && unsafe.StringData(s.sql) == place && len(s.sql) == len(sql) {
		return s, nil
	}
	if s := c.stmts[sql]; s != nil {
		if unsafe.StringData(s.sql) == place {
			*recent = s
		}
		return s, nil
	}
	ds, err := c.dc.Prepare(sql)
	if err != nil {
		return nil, translate(err)
	}
	s := &stmt{Stmt: ds, sql: sql}
	var ok1, ok2 bool
	s.exec, ok1 = ds.(driver.StmtExecContext)
	s.query, ok2 = ds.(driver.StmtQueryContext)
	if !ok1 || !ok2 {
		return nil, errors.Join(errors.New("sqlite: the driver's statements take no context"), ds.Close())
	}
	c.stmts[sql], *recent = s, s
	return s, nil
}

func (s *stmt) bind(args []any) {
	s.args = s.args[:0]
	for i, a := range args {
		v := driver.Value(a)
		switch x := a.(type) {
		case int:
			v = int64(x)
		case uint64:
			v = int64(x)
		case uint32:
			v = int64(x)
		}
		s.args = append(s.args, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
}

// unbind releases the values, which may be large.
func (s *stmt) unbind() { clear(s.args) }

// exec runs a statement and returns the number of changed rows. It cannot be
// interrupted, so callers check their ctx before.
func (c *conn) exec(sql string, args ...any) (int64, error) {
	s, err := c.prepare(sql)
	if err != nil {
		return 0, err
	}
	s.bind(args)
	res, err := s.exec.ExecContext(context.Background(), s.args)
	s.unbind()
	if err != nil {
		return 0, translate(err)
	}
	return res.RowsAffected()
}

// do runs a statement.
func (c *conn) do(sql string, args ...any) error {
	_, err := c.exec(sql, args...)
	return err
}

// each calls f for each row of a query. f must not run the same query again.
func (c *conn) each(ctx context.Context, sql string, f func(r *row) error, args ...any) error {
	s, err := c.prepare(sql)
	if err != nil {
		return err
	}
	s.bind(args)
	rows, err := s.query.QueryContext(ctx, s.args)
	s.unbind()
	if err != nil {
		return translate(err)
	}
	if s.vals == nil {
		s.vals = make([]driver.Value, len(rows.Columns()))
	}
	r := &s.row
	*r = row{vals: s.vals, buf: r.buf}
	if cap(r.buf) > maxKeptBuf {
		r.buf = nil
	}
	for err == nil {
		if err = rows.Next(r.vals); err == nil {
			if err = f(r); err == nil {
				err = r.err
			}
		}
	}
	clear(s.vals)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if cerr := rows.Close(); err == nil {
		err = cerr
	}
	return translate(err)
}

// one calls f for the first row of a query and reports whether there is one.
func (c *conn) one(ctx context.Context, sql string, f func(r *row) error, args ...any) (found bool, err error) {
	err = c.each(ctx, sql, func(r *row) error {
		if found {
			return nil
		}
		found = true
		return f(r)
	}, args...)
	return found, err
}

// close finalizes the statements and closes the connection.
func (c *conn) close() error {
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.Close())
	}
	clear(c.stmts)
	clear(c.recent[:])
	return translate(errors.Join(append(errs, c.dc.Close())...))
}

// row is the current row of a query. Reading a value as a wrong type sets err, which ends
// the query.
type row struct {
	vals []driver.Value
	err  error
	buf  []byte // for checksums
}

func (r *row) wrong(i int) {
	r.err = fmt.Errorf("sqlite: column %d holds %T: %w", i, r.vals[i], backend.ErrCorrupt)
}

func (r *row) null(i int) bool { return r.vals[i] == nil }

func (r *row) int(i int) int64 {
	v, ok := r.vals[i].(int64)
	if !ok {
		r.wrong(i)
	}
	return v
}

func (r *row) float(i int) float64 {
	v, ok := r.vals[i].(float64)
	if !ok {
		r.wrong(i)
	}
	return v
}

func (r *row) str(i int) string {
	v, ok := r.vals[i].(string)
	if !ok {
		r.wrong(i)
	}
	return v
}

// blob returns bytes, or nil for NULL.
func (r *row) blob(i int) []byte {
	if r.vals[i] == nil {
		return nil
	}
	v, ok := r.vals[i].([]byte)
	if !ok {
		r.wrong(i)
	}
	return v
}
