//go:build cgo

package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/mattn/go-sqlite3"

	"github.com/contextmem/contextmem/backend"
)

// openDriver opens a connection of SQLite itself: database/sql would add a lock, a
// pool and conversions to each of the small statements that this package lives on.
func openDriver(dsn string) (driver.Conn, error) { return (&sqlite3.SQLiteDriver{}).Open(dsn) }

// translate turns an error of the driver into one of package backend. Errors that
// are not the driver's, those of a context for one, pass unchanged.
func translate(err error) error {
	var e sqlite3.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code {
	case sqlite3.ErrFull, sqlite3.ErrIoErr, sqlite3.ErrBusy, sqlite3.ErrLocked, sqlite3.ErrNomem,
		sqlite3.ErrCantOpen, sqlite3.ErrProtocol, sqlite3.ErrReadonly, sqlite3.ErrPerm, sqlite3.ErrInterrupt:
		if e.SystemErrno != 0 { // callers tell a lack of file descriptors from other trouble
			return fmt.Errorf("sqlite: %v: %w: %w", e, backend.ErrUnavailable, e.SystemErrno)
		}
		return fmt.Errorf("sqlite: %v: %w", e, backend.ErrUnavailable)
	case sqlite3.ErrCorrupt, sqlite3.ErrNotADB, sqlite3.ErrFormat:
		return fmt.Errorf("sqlite: %v: %w", e, backend.ErrCorrupt)
	case sqlite3.ErrConstraint:
		return fmt.Errorf("sqlite: %v: %w", e, errConstraint)
	}
	return fmt.Errorf("sqlite: %v", e)
}

// inTransaction reports whether a transaction is open; SQLite ends it by itself
// after some errors.
func inTransaction(dc driver.Conn) bool {
	c, ok := dc.(*sqlite3.SQLiteConn)
	return ok && !c.AutoCommit()
}
