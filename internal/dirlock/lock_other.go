//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package dirlock

import (
	"errors"
	"os"
)

// TryLock always fails: without a lock, two processes could write to one directory.
func TryLock(*os.File) (bool, error) {
	return false, errors.New("this operating system has no file lock that contextmem knows")
}

// Unlock does nothing.
func Unlock(*os.File) error { return nil }
