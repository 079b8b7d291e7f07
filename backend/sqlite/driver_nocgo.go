//go:build !cgo

package sqlite

// builtin is missing: SQLite in C needs cgo.
var builtin *Driver
