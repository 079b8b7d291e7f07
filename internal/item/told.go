package item

import (
	"time"

	"github.com/contextmem/contextmem/backend"
)

// Told returns when a memory was told: its own time, or else when it was accepted.
func Told(src *backend.Source) time.Time {
	if src.Time.IsZero() {
		return src.CreatedAt
	}
	return src.Time
}
