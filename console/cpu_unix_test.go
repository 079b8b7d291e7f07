//go:build unix

package console_test

import (
	"syscall"
	"time"
)

// cpuTime returns the processor time of this process, which depends less on the load of the machine than wall clock
// does.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
