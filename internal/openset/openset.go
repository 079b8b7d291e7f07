// Package openset keeps what is open of the workspaces of a deployment: each is opened, or removed, once at a time, and Close closes
// what is left.
package openset

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/contextmem/contextmem/backend"
)

// Set is what is open, by workspace. It is safe for concurrent use; the zero value is empty.
type Set[T interface{ Close() error }] struct {
	mu     sync.Mutex
	closed bool
	open   map[string]*T // nil: being opened or removed
}

// Open opens a workspace. [backend.ErrConflict] when it is open, [backend.ErrClosed] after Close. What open returns calls Release when
// it is closed.
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

// Remove runs remove while the workspace cannot be opened. [backend.ErrConflict] when it is open.
func (s *Set[T]) Remove(ctx context.Context, uid string, remove func() error) error {
	if err := s.reserve(ctx, uid, "remove"); err != nil {
		return err
	}
	defer s.Release(uid)
	return remove()
}

// reserve makes sure that a uid is well-formed and used by one call at a time.
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

// Release lets a workspace be opened again.
func (s *Set[T]) Release(uid string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, uid)
}

// Close closes what is open and turns later calls away. It reports whether it is the first to do so.
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
