//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package sqlite

import (
	"errors"
	"os"
)

// tryLock refuses: without a lock two processes could write to one directory.
func tryLock(*os.File) (bool, error) {
	return false, errors.New("this operating system has no file lock that contextmem knows")
}

func unlock(*os.File) error { return nil }

func syncDir(string) error { return nil }
