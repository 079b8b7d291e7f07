// Package documents reads items back: their originals, pages of them, their states; and deletes them.
package documents

import (
	"log/slog"
	"time"
)

// Engine reads and deletes items. It is safe for concurrent use.
type Engine struct {
	// Presign returns a URL that serves a version of a workspace until a time.
	Presign func(uid string, num int64, until time.Time) string
	// Deleted says that items of a workspace are gone.
	Deleted func(uid string)
	Logger  *slog.Logger
}
