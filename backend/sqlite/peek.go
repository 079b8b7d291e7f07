package sqlite

import (
	"context"

	"github.com/contextmem/contextmem/backend"
)

// reader runs a function in a snapshot of the database.
type reader = func(ctx context.Context, fn func(c *conn) error) error

// peeking is a store whose reads wait neither for a commit in flight nor for long reads of others.
type peeking struct{ *store }

var _ backend.Peeker = (*store)(nil)

// Peek implements [backend.Peeker].
func (s *store) Peek() backend.Store { return peeking{s} }

func (p peeking) Sources(ctx context.Context, part backend.Partition, ids []string) ([]*backend.Source, error) {
	return sources(ctx, p.readSoon, part, ids)
}

func (p peeking) SourcesByNum(ctx context.Context, nums []int64) ([]*backend.Source, error) {
	return sourcesByNum(ctx, p.readSoon, nums)
}

func (p peeking) Subs(ctx context.Context) ([]backend.SubInfo, error) { return subs(ctx, p.readSoon) }
