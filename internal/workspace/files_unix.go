//go:build unix

package workspace

import "syscall"

// fileLimit returns the number of files that the process may have open.
func fileLimit() (int, bool) {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r); err != nil || uint64(r.Cur) > 1<<30 {
		return 0, false
	}
	return int(r.Cur), true
}
