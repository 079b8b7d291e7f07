package item

import (
	"time"

	"github.com/contextmem/contextmem/backend"
)

// StatedAt returns when a memory was stated: its own time, or else when it was accepted.
func StatedAt(src *backend.Source) time.Time {
	if src.Time.IsZero() {
		return src.CreatedAt
	}
	return src.Time
}
