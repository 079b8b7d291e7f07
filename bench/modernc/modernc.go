// Package modernc makes backend/sqlite use modernc.org/sqlite, so that it can be measured beside the other drivers; see
// docs/decisions/0022-sqlite-without-cgo.md.
package modernc

import (
	"context"
	"database/sql/driver"
	"errors"
	"strings"

	msqlite "modernc.org/sqlite"

	"github.com/contextmem/contextmem/backend/sqlite"
)

func init() {
	sqlite.Register(sqlite.Driver{
		Open: func(uri string) (driver.Conn, error) {
			sep := "?"
			if strings.Contains(uri, "?") {
				sep = "&"
			}
			return new(msqlite.Driver).Open(uri + sep + "_pragma=busy_timeout(5000)")
		},
		InTransaction: inTransaction,
		Code: func(err error) (int, error, bool) {
			var e *msqlite.Error
			if !errors.As(err, &e) {
				return 0, nil, false
			}
			return e.Code() & 0xff, nil, true
		},
	})
}

// inTransaction reports whether dc is in a transaction. It tries a second BEGIN, as the driver does not report the state.
func inTransaction(dc driver.Conn) bool {
	e, ok := dc.(driver.ExecerContext)
	if !ok {
		return false
	}
	if _, err := e.ExecContext(context.Background(), "BEGIN", nil); err != nil {
		return true
	}
	_, _ = e.ExecContext(context.Background(), "ROLLBACK", nil) // end the empty transaction that BEGIN opened
	return false
}
