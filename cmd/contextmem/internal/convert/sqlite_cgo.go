//go:build cgo

package convert

import _ "github.com/mattn/go-sqlite3" // the driver "sqlite3" of mem0's history
