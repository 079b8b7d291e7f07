// Package documents reads and deletes stored items: originals, lists, states, versions and sessions.
package documents

import (
	"context"
	"log/slog"
	"time"

	"github.com/contextmem/contextmem/internal/lease"
)

// Engine reads and deletes items. It is safe for concurrent use.
type Engine struct {
	// Presign returns a URL that serves a version of a workspace until the given time.
	Presign func(uid string, num int64, until time.Time) string
	// Deleted is called after items of a workspace were deleted.
	Deleted func(uid string)
	// Admit runs store, which records something that the scheduler has to see to, also after a kill.
	Admit func(ctx context.Context, uid string, store func() error) error
	// Leases is nil if only this process has the deployment open.
	Leases *lease.Keeper
	Logger *slog.Logger
}
