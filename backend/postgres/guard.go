package postgres

import (
	"bytes"
	"context"
	"fmt"

	"github.com/contextmem/contextmem/backend"
)

// condition is a precondition of changes: a value of the workspace must equal the given value. A nil condition always holds.
type condition struct {
	name  string
	value []byte
}

// check compares the values under the workspace lock. Setting a value takes the same lock.
func (g *condition) check(t *tx) error {
	if g == nil {
		return nil
	}
	have, err := readValue(bg, t.c, g.name)
	if err == nil && !bytes.Equal(have, g.value) {
		err = fmt.Errorf("%q was changed since it was read: %w", g.name, backend.ErrConflict)
	}
	return err
}

// guardedStore is a store whose vector changes require a condition.
type guardedStore struct {
	*store
	on condition
}

var _ backend.Guarder = (*store)(nil)

// Guard implements [backend.Guarder].
func (s *store) Guard(name string, value []byte) backend.Store {
	return &guardedStore{s, condition{name, bytes.Clone(value)}}
}

func (s *guardedStore) Index(ctx context.Context, items []backend.Indexed) ([]bool, error) {
	return s.indexed(ctx, &s.on, items)
}

func (s *guardedStore) PutVectors(ctx context.Context, lane backend.Lane, items []backend.LaneVectors) ([]bool, error) {
	return s.fill(ctx, &s.on, lane, items)
}

func (s *guardedStore) DropLane(ctx context.Context, lane backend.Lane, after int64, limit int) (int64, error) {
	return s.dropLane(ctx, &s.on, lane, after, limit)
}
