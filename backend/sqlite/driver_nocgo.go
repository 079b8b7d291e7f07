//go:build !cgo

package sqlite

// builtin is nil, since the built-in driver needs cgo.
var builtin *Driver
