//go:build !cgo

package main

import _ "github.com/contextmem/contextmem/backend/sqlite/purego" // SQLite
