// Package transfer exports whole tenants to files of JSON lines, and imports such files.
package transfer

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/contextmem/contextmem/internal/lease"
	"github.com/contextmem/contextmem/internal/workspace"
)

// Scheduler processes imported items.
type Scheduler interface {
	// Admit calls store, which commits items, and schedules the workspace for processing.
	Admit(ctx context.Context, uid string, store func() error) error
	PlanExpiry(uid string, at time.Time)
	// DrainSpace waits until no work is pending in the workspace.
	DrainSpace(ctx context.Context, uid string) error
}

// Engine exports and imports tenants. It is safe for concurrent use.
type Engine struct {
	Set      *workspace.Set
	Gate     *workspace.Gate
	Schedule Scheduler
	Leases   *lease.Keeper // nil: no other process has the deployment open
	MaxLine  int64         // bytes of an import line
	Versions int           // earlier versions kept per item
	Logger   *slog.Logger

	running sync.Map // ids of the records of imports that this process makes
}
