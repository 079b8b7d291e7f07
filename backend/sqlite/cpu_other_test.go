//go:build !unix

package sqlite

import "time"

// cpuTime is not known here.
func cpuTime() time.Duration { return 0 }
