// Package transfer moves tenants as a whole: to a file of lines and back.
package transfer

import (
	"context"
	"log/slog"
	"time"

	"github.com/contextmem/contextmem/internal/lease"
	"github.com/contextmem/contextmem/internal/workspace"
)

// Scheduler processes what an import brings.
type Scheduler interface {
	// Admit puts a workspace in line for processing around a commit of items.
	Admit(ctx context.Context, uid string, store func() error) error
	PlanExpiry(uid string, at time.Time)
	// DrainSpace waits until nothing is pending in one workspace.
	DrainSpace(ctx context.Context, uid string) error
}

// Engine exports and imports tenants. It is safe for concurrent use.
type Engine struct {
	Set      *workspace.Set
	Gate     *workspace.Gate
	Schedule Scheduler
	Leases   *lease.Keeper // nil: no other process has the deployment open
	MaxLine  int64         // bytes of a line of an import
	Versions int           // of an item that are kept behind the newest
	Logger   *slog.Logger
}
