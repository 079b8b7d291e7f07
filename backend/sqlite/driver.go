package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/contextmem/contextmem/backend"
)

// Driver is a SQLite driver to use in place of the cgo one; see [Register].
type Driver struct {
	// Open opens the database with a SQLite URI such as "file:/data/store.db?mode=rw", with a busy timeout of 5 s. Only one
	// goroutine at a time uses the connection. The connection and its statements implement driver.ExecerContext,
	// StmtExecContext and StmtQueryContext. Values of rows are int64, float64, string, []byte and nil; the driver must
	// not change a []byte later.
	Open func(uri string) (driver.Conn, error)
	// InTransaction reports whether a transaction is open. SQLite ends a transaction by itself after some errors.
	InTransaction func(driver.Conn) bool
	// Code returns the primary result code of an error of the driver, and the system error that caused it, if known. ok is false
	// for errors that are not the driver's.
	Code func(err error) (code int, system error, ok bool)
}

// Register sets the driver of all databases that are opened later. Call it from the init function of a package that
// programs import for its driver, such as backend/sqlite/purego, which needs no cgo.
func Register(d Driver) { current = &d }

// current is the driver in use; nil: there is none.
var current = builtin

var errNeedsCgo = errors.New("this program was built without cgo and without another SQLite: build it with CGO_ENABLED=1 and a C compiler, " +
	"import backend/sqlite/purego, or use another backend such as backend/inmem")

// openDriver opens a connection of the driver itself. database/sql would add a lock, a
// pool and conversions to each of the many small statements of this package.
func openDriver(uri string) (driver.Conn, error) {
	if current == nil {
		return nil, errNeedsCgo
	}
	return current.Open(uri)
}

func inTransaction(dc driver.Conn) bool { return current != nil && current.InTransaction(dc) }

// Primary result codes of SQLite (https://sqlite.org/rescode.html).
const (
	codePerm       = 3
	codeBusy       = 5
	codeLocked     = 6
	codeNoMemory   = 7
	codeReadOnly   = 8
	codeInterrupt  = 9
	codeIO         = 10
	codeCorrupt    = 11
	codeFull       = 13
	codeCantOpen   = 14
	codeProtocol   = 15
	codeConstraint = 19
	codeFormat     = 24
	codeNotADB     = 26
)

// translate converts an error of the driver to one of package backend. It returns other
// errors, such as those of a context, unchanged.
func translate(err error) error {
	if err == nil || current == nil {
		return err
	}
	code, system, ok := current.Code(err)
	if !ok {
		return err
	}
	switch code {
	case codeFull, codeIO, codeBusy, codeLocked, codeNoMemory, codeCantOpen, codeProtocol, codeReadOnly, codePerm, codeInterrupt:
		if system != nil { // callers distinguish a lack of file descriptors from other errors
			return fmt.Errorf("sqlite: %v: %w: %w", err, backend.ErrUnavailable, system)
		}
		return fmt.Errorf("sqlite: %v: %w", err, backend.ErrUnavailable)
	case codeCorrupt, codeNotADB, codeFormat:
		return fmt.Errorf("sqlite: %v: %w", err, backend.ErrCorrupt)
	case codeConstraint:
		return fmt.Errorf("sqlite: %v: %w", err, errConstraint)
	}
	return fmt.Errorf("sqlite: %v", err)
}
