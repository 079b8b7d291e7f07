package reuse

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSlot: memory is free once the result that lies in it was reset, and goes to one taker.
func TestSlot(t *testing.T) {
	t.Parallel()
	require.Nil(t, From(t.Context()))
	s := new(Slot)
	require.Same(t, s, From(With(t.Context(), s)))
	require.Nil(t, s.Take())
	s.Keep("a")
	require.Nil(t, s.Take(), "it is read")
	s.Reset()
	require.Equal(t, "a", s.Take())
	require.Nil(t, s.Take(), "another has it")
	s.Keep("b")
	s.Keep("c") // a second result of the same call: the first is left to the garbage collector
	s.Reset()
	s.Reset()
	require.Equal(t, "c", s.Take())
}
