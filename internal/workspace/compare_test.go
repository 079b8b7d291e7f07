package workspace

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// countingStore is a store that counts calls of Uncompared.
type countingStore struct {
	backend.Store
	after []int64
}

func (s *countingStore) Uncompared(_ context.Context, _, after int64, limit int) ([]int64, error) {
	s.after = append(s.after, after)
	return make([]int64, min(limit, 3)), nil
}

type someComparer struct{ Comparer }

func (someComparer) Generation() int64 { return 1 }

// TestFewToCompare checks that a recall does not read all versions of a space that was just opened. Once memories are completed,
// only versions from the first of them on are read.
func TestFewToCompare(t *testing.T) {
	t.Parallel()
	st := &countingStore{}
	sp := &Space{Store: st}
	few := func(n int) bool {
		t.Helper()
		ok, err := (&Set{}).FewToCompare(t.Context(), sp, someComparer{}, n)
		require.NoError(t, err)
		return ok
	}
	require.False(t, few(5))
	require.Empty(t, st.after)
	sp.comparing.advance(0, 90, false)
	sp.Uncompared([]int64{71, 70})
	require.True(t, few(5))
	require.False(t, few(2))
	require.Equal(t, []int64{69, 69}, st.after)
}
