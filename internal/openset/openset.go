// Package openset tracks the open workspaces of a deployment. Each workspace is opened or removed by one call at a time, and
// Close closes all that are open.
package openset

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/contextmem/contextmem/backend"
)

// Set holds the open workspaces by uid. It is safe for concurrent use; the zero value is empty.
type Set[T interface{ Close() error }] struct {
	mu     sync.Mutex
	closed bool
	open   map[string]*T // nil: being opened or removed
}

// Open opens a workspace with open. It returns [backend.ErrConflict] if the workspace is open and [backend.ErrClosed] after
// Close. The opened value must call Release when it is closed.
func (s *Set[T]) Open(ctx context.Context, uid string, open func() (T, error)) (x T, err error) {
	var none T
	if err := s.reserve(ctx, uid, "open"); err != nil {
		return none, err
	}
	if x, err = open(); err != nil {
		s.Release(uid)
		return none, err
	}
	s.mu.Lock()
	closed := s.closed
	if !closed {
		s.open[uid] = &x
	}
	s.mu.Unlock()
	if closed {
		return none, errors.Join(backend.ErrClosed, x.Close())
	}
	return x, nil
}

// Remove calls remove while the workspace cannot be opened. It returns [backend.ErrConflict] if the workspace is open.
func (s *Set[T]) Remove(ctx context.Context, uid string, remove func() error) error {
	if err := s.reserve(ctx, uid, "remove"); err != nil {
		return err
	}
	defer s.Release(uid)
	return remove()
}

// reserve checks that a uid is well-formed and reserves it for one call.
func (s *Set[T]) reserve(ctx context.Context, uid, what string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := backend.CheckUID(uid); err != nil {
		return fmt.Errorf("%s indexes: %w", what, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return backend.ErrClosed
	}
	if _, ok := s.open[uid]; ok {
		return fmt.Errorf("%s indexes of %s: they are open: %w", what, uid, backend.ErrConflict)
	}
	if s.open == nil {
		s.open = make(map[string]*T)
	}
	s.open[uid] = nil
	return nil
}

// Has reports whether a workspace is open, or is being opened or removed.
func (s *Set[T]) Has(uid string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.open[uid]
	return ok
}

// Release allows a workspace to be opened again.
func (s *Set[T]) Release(uid string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, uid)
}

// Close closes all open workspaces and makes later calls fail. first reports whether this is the first call of Close.
func (s *Set[T]) Close() (first bool, err error) {
	s.mu.Lock()
	first, s.closed = !s.closed, true
	var left []T
	for _, x := range s.open {
		if x != nil {
			left = append(left, *x)
		}
	}
	s.mu.Unlock()
	var errs []error
	for _, x := range left {
		errs = append(errs, x.Close())
	}
	return first, errors.Join(errs...)
}
