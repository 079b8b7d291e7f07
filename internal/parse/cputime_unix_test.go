//go:build unix

package parse

import (
	"syscall"
	"time"
)

// spent returns the processor time of the process so far, which other processes do not affect much.
func spent() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
