//go:build !cgo || !(linux || darwin || freebsd)

package sealedvfs

import (
	"errors"

	"github.com/contextmem/contextmem/internal/atrest"
)

// Register fails: encrypted files need cgo, and Linux, macOS or FreeBSD.
func Register(*atrest.Cipher) (name string, release func(), err error) {
	return "", nil, errors.New("sqlite: encrypted files need cgo and Linux, macOS or FreeBSD")
}
