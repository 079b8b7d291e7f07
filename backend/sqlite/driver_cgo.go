//go:build cgo

package sqlite

import (
	"database/sql/driver"
	"errors"
	"strings"

	"github.com/mattn/go-sqlite3"
)

// builtin is the cgo driver.
var builtin = &Driver{
	Open: func(uri string) (driver.Conn, error) {
		sep := "?"
		if strings.Contains(uri, "?") {
			sep = "&"
		}
		return (&sqlite3.SQLiteDriver{}).Open(uri + sep + "_mutex=no&_busy_timeout=5000")
	},
	InTransaction: func(dc driver.Conn) bool {
		c, ok := dc.(*sqlite3.SQLiteConn)
		return ok && !c.AutoCommit()
	},
	Code: func(err error) (int, error, bool) {
		var e sqlite3.Error
		if !errors.As(err, &e) {
			return 0, nil, false
		}
		if e.SystemErrno != 0 {
			return int(e.Code), e.SystemErrno, true
		}
		return int(e.Code), nil, true
	},
}
