//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package dirlock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// TryLock locks an open file without waiting. It returns false if another process holds the lock. The lock ends when the last
// descriptor of the file is closed, or when the process dies.
func TryLock(f *os.File) (taken bool, err error) {
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return false, err
		}
	}
}

// Unlock releases the lock. Closing the file does not suffice: a child process that is being started holds a copy of every
// descriptor until it executes.
func Unlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }
