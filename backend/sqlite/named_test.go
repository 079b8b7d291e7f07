package sqlite

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNamedValues checks that changed values are read again, that callers may overwrite returned values and that the cache is bounded.
func TestNamedValues(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	_, s := openTest(t)
	for range 2 { // from the database, then from the cache
		v, err := s.Get(ctx, "a")
		require.NoError(t, err)
		require.Nil(t, v)
	}
	require.NoError(t, s.Set(ctx, "a", nil, []byte("one")))
	for range 2 {
		v, err := s.Get(ctx, "a")
		require.NoError(t, err)
		require.Equal(t, "one", string(v))
		clear(v)
	}
	large := bytes.Repeat([]byte("x"), 2*maxNamedBytes)
	require.NoError(t, s.Set(ctx, "large", nil, large))
	for i := range 2 * maxNamed {
		_, err := s.Get(ctx, fmt.Sprint("name", i))
		require.NoError(t, err)
	}
	v, err := s.Get(ctx, "large")
	require.NoError(t, err)
	require.Equal(t, large, v)
	require.Len(t, s.cache.named, maxNamed)
	require.NoError(t, s.Set(ctx, "a", []byte("one"), nil))
	v, err = s.Get(ctx, "a")
	require.NoError(t, err)
	require.Nil(t, v)
}
