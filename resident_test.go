package contextmem_test

import (
	"os"
	"strconv"
	"strings"
)

// resident is the resident memory of the process in bytes; 0 where the system does not tell.
func resident() int64 {
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
