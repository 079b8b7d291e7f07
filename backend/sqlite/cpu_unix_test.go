//go:build unix

package sqlite

import (
	"syscall"
	"time"
)

// cpuTime returns the processor time of this process, which other load on the machine
// affects less than wall-clock time.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
