package readcache

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func value(n int) func() (int, error) { return func() (int, error) { return n, nil } }

func TestCache(t *testing.T) {
	t.Parallel()
	t.Run("reads once", func(t *testing.T) {
		t.Parallel()
		c := New[string, int](2)
		for range 2 {
			v, err := c.Get("a", value(1))
			require.NoError(t, err)
			require.Equal(t, 1, v)
		}
		v, err := c.Get("a", value(2))
		require.NoError(t, err)
		require.Equal(t, 1, v)
	})
	t.Run("is bounded", func(t *testing.T) {
		t.Parallel()
		c := New[int, int](3)
		for i := range 100 {
			_, err := c.Get(i, value(i))
			require.NoError(t, err)
			c.Drop(-i) // drops of what is not there leave nothing behind
		}
		require.Equal(t, 3, c.Len())
	})
	t.Run("keeps no error", func(t *testing.T) {
		t.Parallel()
		c := New[string, int](2)
		_, err := c.Get("a", func() (int, error) { return 0, errors.New("no") })
		require.Error(t, err)
		v, err := c.Get("a", value(3))
		require.NoError(t, err)
		require.Equal(t, 3, v)
	})
	t.Run("drop beats a read under way", func(t *testing.T) {
		t.Parallel()
		c := New[string, int](2)
		_, err := c.Get("a", func() (int, error) {
			c.Drop("a") // the record was changed after it was read
			return 1, nil
		})
		require.NoError(t, err)
		v, err := c.Get("a", value(2))
		require.NoError(t, err)
		require.Equal(t, 2, v)
	})
}
