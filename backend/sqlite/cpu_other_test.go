//go:build !unix

package sqlite

import "time"

// cpuTime is not available on this platform.
func cpuTime() time.Duration { return 0 }
