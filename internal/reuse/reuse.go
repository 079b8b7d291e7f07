// Package reuse lets a caller inside this module lend memory to calls without a public API. The REST handler reuses the memory
// of written results for later recalls.
package reuse

import (
	"context"
	"sync"
)

// Slot holds reusable memory of one result. It is safe for concurrent use. A nil slot holds nothing.
type Slot struct {
	mu   sync.Mutex
	free any // may be overwritten
	used any // memory of a result in use
}

// Take removes and returns the free memory, or returns nil if there is none.
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

// Keep records the memory of a result that the slot's owner is using.
func (s *Slot) Keep(m any) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = m
}

// Reset makes the memory of the result free again. The result must not be used afterwards.
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

// From returns the slot of a context, or nil if there is none.
func From(ctx context.Context) *Slot {
	s, _ := ctx.Value(key{}).(*Slot)
	return s
}

// Zeroed returns a non-nil slice of n zero elements. It uses the memory of old if its capacity suffices.
func Zeroed[T any](old []T, n int) []T {
	clear(old)
	if old == nil || cap(old) < n {
		return make([]T, n)
	}
	return old[:n]
}
