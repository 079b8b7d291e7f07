//go:build unix

package local

import (
	"syscall"
	"time"
)

// cpuTime is the processor time of this process, which says more than the clock on a machine that does other things as well.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
