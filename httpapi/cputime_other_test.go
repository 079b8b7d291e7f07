//go:build !unix

package httpapi

import "time"

// cpuTime is unknown here.
func cpuTime() time.Duration { return 0 }
