package documents

import (
	"context"
	"errors"
	"time"

	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/workspace"
)

// Gone returns the error for a version that no longer exists.
func Gone(op string) error {
	return &fault.Error{Op: op, Kind: fault.KindNotFound, Resource: fault.File, Err: errors.New("file not found")}
}

// LoadVersion reads a version with its original content; see Load.
func LoadVersion(ctx context.Context, op string, sp *workspace.Space, num int64) (*content.Fetched, error) {
	srcs, err := sp.Store.SourcesByNum(ctx, []int64{num})
	if err != nil {
		return nil, fault.Wrap(op, fault.File, "", err)
	}
	if srcs[0] == nil || item.Expired(srcs[0], time.Now()) {
		return nil, Gone(op)
	}
	return Load(ctx, op, sp, srcs[0], true, ShowOriginal)
}
