//go:build !unix

package vector

import (
	"testing"
	"time"
)

var processStart = time.Now()

// cpuTime returns the elapsed time, since processor time is not available on this system.
func cpuTime(*testing.B) time.Duration { return time.Since(processStart) }
