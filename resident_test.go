package contextmem_test

import (
	"os"
	"strconv"
	"strings"
)

// residentBytes returns the resident memory of the process in bytes, or 0 if the system does not report it.
func residentBytes() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	f := strings.Fields(string(b))
	if len(f) < 2 {
		return 0
	}
	n, _ := strconv.ParseInt(f[1], 10, 64)
	return n * int64(os.Getpagesize())
}
