// Package reuse lets a caller inside this module lend memory to the calls that it makes, without showing that to users.
// The REST handler lends the memory of results that it has written to the recalls that follow.
package reuse

import (
	"context"
	"sync"
)

// Slot holds the memory of one result. It is safe for concurrent use. A nil slot keeps nothing.
type Slot struct {
	mu   sync.Mutex
	free any // may be written over
	used any // of a result that is read
}

// Take returns the memory that is free, nil for none. Nobody else gets it.
func (s *Slot) Take() any {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.free
	s.free = nil
	return m
}

// Keep notes the memory of a result that the slot's owner reads.
func (s *Slot) Keep(m any) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = m
}

// Reset makes the memory of the result free again. Nothing of the result may be used any more.
func (s *Slot) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used != nil {
		s.free, s.used = s.used, nil
	}
}

type key struct{}

// With returns a context whose calls may use the slot.
func With(ctx context.Context, s *Slot) context.Context { return context.WithValue(ctx, key{}, s) }

// From returns the slot of a context, nil for none.
func From(ctx context.Context) *Slot {
	s, _ := ctx.Value(key{}).(*Slot)
	return s
}

// Zeroed returns n zero elements, never nil, in the memory of old where it is large enough.
func Zeroed[T any](old []T, n int) []T {
	clear(old)
	if old == nil || cap(old) < n {
		return make([]T, n)
	}
	return old[:n]
}
