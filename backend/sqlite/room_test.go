package sqlite

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// TestRoomIsLentToOneStore checks that a store with many waiting items gets a larger page cache, that a second one does not meanwhile, and that the
// first one gives it back when its items are taken, and when it is closed.
func TestRoomIsLentToOneStore(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	d, first := openTest(t)
	opened, err := d.OpenStore(ctx, "fedcba9876543210fedcba9876543210")
	require.NoError(t, err)
	second := opened.(*store)
	lease := testTime.Add(time.Hour)
	claim := func(s *store, limit int) int {
		claims, err := s.Claim(ctx, fmt.Sprint("token", limit), testTime, lease, limit, 0)
		require.NoError(t, err)
		return len(claims)
	}
	cache := func(s *store) (kiB int64) {
		require.NoError(t, s.change(ctx, func(x *tx) error {
			_, err := x.c.one(bg, "PRAGMA cache_size", func(r *row) error {
				kiB = -r.int(0)
				return nil
			})
			return err
		}))
		return kiB
	}
	fill := func(s *store, n int) {
		var in []backend.Incoming
		for i := range n {
			in = append(in, item(fmt.Sprint("item", i))...)
		}
		_, err := s.Accept(ctx, in)
		require.NoError(t, err)
	}
	const plain, roomy = DefaultCacheBytes / 1024, DefaultCacheBytes / 1024 * roomFactor
	fill(first, borrowFrom+keepFrom+1)
	fill(second, 2*borrowFrom)
	require.EqualValues(t, plain, cache(first))

	require.Equal(t, borrowFrom, claim(first, borrowFrom))
	require.EqualValues(t, roomy, cache(first))
	require.Equal(t, borrowFrom, claim(second, borrowFrom))
	require.EqualValues(t, plain, cache(second), "one store at a time")

	require.Equal(t, keepFrom, claim(first, keepFrom))
	require.EqualValues(t, roomy, cache(first), "a claim of some items takes nothing away")
	require.Equal(t, 1, claim(first, borrowFrom))
	require.EqualValues(t, plain, cache(first))
	for i := range roomyEntities {
		first.tx.entities.Add(storerules.EntityKey{Part: int64(i)}, storerules.EntityRef{})
	}
	require.Equal(t, entityCacheSize, first.tx.entities.Len())

	require.Equal(t, borrowFrom, claim(second, 2*borrowFrom))
	require.EqualValues(t, roomy, cache(second))
	require.NoError(t, second.Close())
	fill(first, borrowFrom)
	claim(first, borrowFrom)
	require.EqualValues(t, roomy, cache(first), "the second one is closed")
}
