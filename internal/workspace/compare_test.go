package workspace

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// lookedAt counts how often a store is asked which versions were not compared.
type lookedAt struct {
	backend.Store
	after []int64
}

func (s *lookedAt) Uncompared(_ context.Context, _, after int64, limit int) ([]int64, error) {
	s.after = append(s.after, after)
	return make([]int64, min(limit, 3)), nil
}

type someComparer struct{ Comparer }

func (someComparer) Generation() int64 { return 1 }

// A space that was just opened is not read as a whole for a recall that might wait; once memories are completed it is asked for
// those from the first of them on.
func TestFewToCompare(t *testing.T) {
	t.Parallel()
	st := &lookedAt{}
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
