// Package documents reads and deletes stored items: originals, lists, states, versions and sessions.
package documents

import (
	"log/slog"
	"time"
)

// Engine reads and deletes items. It is safe for concurrent use.
type Engine struct {
	// Presign returns a URL that serves a version of a workspace until the given time.
	Presign func(uid string, num int64, until time.Time) string
	// Deleted is called after items of a workspace were deleted.
	Deleted func(uid string)
	Logger  *slog.Logger
}
