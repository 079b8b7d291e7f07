//go:build unix

package parse

import (
	"syscall"
	"time"
)

// spent is the processor time of the process so far: what a busy machine leaves unchanged.
func spent() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
