//go:build !cgo

package sqlite

import (
	"database/sql/driver"
	"errors"
)

var errNeedsCgo = errors.New("this program was built without cgo, which SQLite needs: " +
	"build with CGO_ENABLED=1 and a C compiler, or use another backend such as backend/inmem")

func openDriver(string) (driver.Conn, error) { return nil, errNeedsCgo }

func translate(err error) error { return err }

func inTransaction(driver.Conn) bool { return false }
