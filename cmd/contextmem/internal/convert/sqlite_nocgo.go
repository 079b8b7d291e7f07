//go:build !cgo

package convert

import _ "github.com/ncruces/go-sqlite3/driver" // the driver "sqlite3" of mem0's history
