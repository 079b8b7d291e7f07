// Package purego is SQLite without cgo for backend/sqlite: SQLite's own code, translated to Go by way of WebAssembly
// (github.com/ncruces/go-sqlite3). A program imports it for that:
//
//	import _ "github.com/contextmem/contextmem/backend/sqlite/purego"
//
// Databases are the same with both, and may be opened with either. It is slower than the one that is built with cgo; see
// docs/decisions/0022-sqlite-without-cgo.md.
package purego

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/contextmem/contextmem/backend/sqlite"
)

func init() { sqlite.Register(Driver()) }

// busy is how long a statement waits for a lock.
const busy = 5 * time.Second

// Driver returns what the package registers.
func Driver() sqlite.Driver {
	return sqlite.Driver{
		Open: func(uri string) (driver.Conn, error) {
			c, err := sqlite3.Open(uri)
			if err != nil {
				return nil, err
			}
			if err := c.BusyTimeout(busy); err != nil {
				return nil, errors.Join(err, c.Close())
			}
			return &conn{c}, nil
		},
		InTransaction: func(dc driver.Conn) bool {
			c, ok := dc.(*conn)
			return ok && !c.c.GetAutocommit()
		},
		Code: func(err error) (int, error, bool) {
			var e *sqlite3.Error
			if errors.As(err, &e) {
				return int(e.Code()), e.Unwrap(), true
			}
			var x sqlite3.ExtendedErrorCode
			if errors.As(err, &x) {
				return int(x) & 0xff, nil, true
			}
			var c sqlite3.ErrorCode
			if errors.As(err, &c) {
				return int(c), nil, true
			}
			return 0, nil, false
		},
	}
}

type conn struct{ c *sqlite3.Conn }

// within makes a call that ends early with ctx.
func (c *conn) within(ctx context.Context, call func() error) error {
	if ctx.Done() == nil {
		return call()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	old := c.c.SetInterrupt(ctx)
	defer c.c.SetInterrupt(old)
	err := call()
	if err != nil && ctx.Err() != nil && errors.Is(err, sqlite3.INTERRUPT) {
		return ctx.Err()
	}
	return err
}

// Prepare implements driver.Conn.
func (c *conn) Prepare(query string) (driver.Stmt, error) {
	s, tail, err := c.c.Prepare(query)
	if err == nil && tail != "" {
		err = errors.Join(errors.New("a prepared text holds one statement"), s.Close())
	}
	if err != nil {
		return nil, err
	}
	return &stmt{c: c, s: s}, nil
}

// Close implements driver.Conn.
func (c *conn) Close() error { return c.c.Close() }

// Begin implements driver.Conn.
func (c *conn) Begin() (driver.Tx, error) { return nil, errors.ErrUnsupported }

// ExecContext implements driver.ExecerContext: all statements of a text, or one with arguments.
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if len(args) == 0 {
		return driver.ResultNoRows, c.within(ctx, func() error { return c.c.Exec(query) })
	}
	s, err := c.Prepare(query)
	if err != nil {
		return nil, err
	}
	res, err := s.(*stmt).ExecContext(ctx, args)
	return res, errors.Join(err, s.Close())
}

type stmt struct {
	c *conn
	s *sqlite3.Stmt
}

// NumInput implements driver.Stmt.
func (s *stmt) NumInput() int { return s.s.BindCount() }

// Close implements driver.Stmt.
func (s *stmt) Close() error { return s.s.Close() }

// Exec implements driver.Stmt.
func (s *stmt) Exec([]driver.Value) (driver.Result, error) { return nil, errors.ErrUnsupported }

// Query implements driver.Stmt.
func (s *stmt) Query([]driver.Value) (driver.Rows, error) { return nil, errors.ErrUnsupported }

func (s *stmt) bind(args []driver.NamedValue) error {
	if len(args) != s.s.BindCount() {
		return fmt.Errorf("a statement of %d parameters got %d", s.s.BindCount(), len(args))
	}
	for _, a := range args {
		var err error
		switch v := a.Value.(type) {
		case nil:
			err = s.s.BindNull(a.Ordinal)
		case int64:
			err = s.s.BindInt64(a.Ordinal, v)
		case float64:
			err = s.s.BindFloat(a.Ordinal, v)
		case bool:
			err = s.s.BindBool(a.Ordinal, v)
		case string:
			err = s.s.BindText(a.Ordinal, v)
		case []byte:
			if v == nil {
				err = s.s.BindNull(a.Ordinal)
			} else {
				err = s.s.BindBlob(a.Ordinal, v)
			}
		default:
			err = fmt.Errorf("a parameter is a %T", v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ExecContext implements driver.StmtExecContext.
func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if err := s.bind(args); err != nil {
		return nil, errors.Join(err, s.s.ClearBindings())
	}
	err := s.c.within(ctx, s.s.Exec)
	if cerr := s.s.ClearBindings(); err == nil {
		err = cerr
	}
	return driver.RowsAffected(s.c.c.Changes()), err
}

// QueryContext implements driver.StmtQueryContext.
func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if err := s.bind(args); err != nil {
		return nil, errors.Join(err, s.s.ClearBindings())
	}
	return &rows{s: s, ctx: ctx}, nil
}

type rows struct {
	s   *stmt
	ctx context.Context
}

// Columns implements driver.Rows.
func (r *rows) Columns() []string {
	names := make([]string, r.s.s.ColumnCount())
	for i := range names {
		names[i] = r.s.s.ColumnName(i)
	}
	return names
}

// Next implements driver.Rows. Texts and blobs are copies.
func (r *rows) Next(to []driver.Value) error {
	err := r.s.c.within(r.ctx, func() error {
		if r.s.s.Step() {
			return nil
		}
		if err := r.s.s.Err(); err != nil {
			return err
		}
		return io.EOF
	})
	if err != nil {
		return err
	}
	for i := range to {
		switch r.s.s.ColumnType(i) {
		case sqlite3.INTEGER:
			to[i] = r.s.s.ColumnInt64(i)
		case sqlite3.FLOAT:
			to[i] = r.s.s.ColumnFloat(i)
		case sqlite3.TEXT:
			to[i] = r.s.s.ColumnText(i)
		case sqlite3.BLOB:
			to[i] = r.s.s.ColumnBlob(i, []byte{})
		default:
			to[i] = nil
		}
	}
	return nil
}

// Close implements driver.Rows.
func (r *rows) Close() error {
	err := r.s.s.Reset()
	if cerr := r.s.s.ClearBindings(); err == nil {
		err = cerr
	}
	return err
}
