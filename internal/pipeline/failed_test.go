package pipeline

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// damagedStore defers no items of which one is number 1.
type damagedStore struct {
	backend.Store
	deferred []int64
}

func (s *damagedStore) Defer(_ context.Context, items []backend.Deferred) error {
	if slices.ContainsFunc(items, func(d backend.Deferred) bool { return d.Num == 1 }) {
		return backend.ErrCorrupt
	}
	for _, d := range items {
		s.deferred = append(s.deferred, d.Num)
	}
	return nil
}

// TestDamagedItemKeepsNoOtherWaiting checks that the items of a batch that could not be stored are tried again soon, though one of them is damaged.
func TestDamagedItemKeepsNoOtherWaiting(t *testing.T) {
	t.Parallel()
	st := &damagedStore{}
	require.NoError(t, deferEach(t.Context(), st, []backend.Deferred{{Num: 1}, {Num: 2}, {Num: 3}}))
	assert.Equal(t, []int64{2, 3}, st.deferred)
	require.ErrorIs(t, deferEach(t.Context(), st, []backend.Deferred{{Num: 1}}), backend.ErrCorrupt)
}
