package openset

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

const uid = "0123456789abcdef0123456789abcdef"

// thing notes that it was closed.
type thing struct{ closed int }

func (t *thing) Close() error {
	t.closed++
	return nil
}

func TestSet(t *testing.T) {
	ctx := t.Context()
	var s Set[*thing]
	open := func() (*thing, error) { return &thing{}, nil }
	broken := errors.New("broken")
	_, err := s.Open(ctx, uid, func() (*thing, error) { return nil, broken })
	require.ErrorIs(t, err, broken)
	require.False(t, s.Has(uid))
	x, err := s.Open(ctx, uid, open)
	require.NoError(t, err, "what failed to open is not open")
	_, err = s.Open(ctx, uid, open)
	require.ErrorIs(t, err, backend.ErrConflict)
	require.ErrorIs(t, s.Remove(ctx, uid, func() error { panic("it is open") }), backend.ErrConflict)
	require.True(t, s.Has(uid))
	s.Release(uid)
	require.NoError(t, s.Remove(ctx, uid, func() error {
		assert.True(t, s.Has(uid), "while it is removed")
		_, err := s.Open(ctx, uid, open)
		assert.ErrorIs(t, err, backend.ErrConflict, "while it is removed")
		return nil
	}))
	_, err = s.Open(ctx, "../"+uid, open)
	require.Error(t, err)
	y, err := s.Open(ctx, uid, open)
	require.NoError(t, err)
	first, err := s.Close()
	require.NoError(t, err)
	assert.True(t, first)
	first, err = s.Close()
	require.NoError(t, err)
	assert.False(t, first)
	assert.Equal(t, 0, x.closed, "it was released")
	assert.Positive(t, y.closed)
	_, err = s.Open(ctx, uid, open)
	require.ErrorIs(t, err, backend.ErrClosed)
}

// What is opened while Close runs is closed.
func TestOpenBesideClose(t *testing.T) {
	var s Set[*thing]
	x := &thing{}
	_, err := s.Open(t.Context(), uid, func() (*thing, error) {
		_, err := s.Close()
		return x, err
	})
	require.ErrorIs(t, err, backend.ErrClosed)
	assert.Equal(t, 1, x.closed)
}
