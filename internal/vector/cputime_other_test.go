//go:build !unix

package vector

import (
	"testing"
	"time"
)

var processStart = time.Now()

// cpuTime is the time that has passed: there is no better measure here.
func cpuTime(*testing.B) time.Duration { return time.Since(processStart) }
