package sqlite

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// TestWalkVisitsEveryItemOnce checks that a walk visits every item once; an item replaced meanwhile is visited again as its newer version.
func TestWalkVisitsEveryItemOnce(t *testing.T) {
	t.Parallel()
	d, err := Open(t.Context(), t.TempDir(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	st, err := d.OpenStore(t.Context(), "0123456789abcdef0123456789abcdef")
	require.NoError(t, err)
	accept := func(ids ...string) {
		var in []backend.Incoming
		for _, id := range ids {
			in = append(in, backend.Incoming{Source: backend.Source{Part: backend.Partition{Class: backend.Memory, Sub: id}, ID: id, CreatedAt: time.Now(), UpdatedAt: time.Now()}})
		}
		_, err := st.Accept(t.Context(), in)
		require.NoError(t, err)
	}
	accept("c", "a", "b")
	var ids []string
	after := int64(0)
	for {
		page, err := st.(backend.Walker).Walk(t.Context(), after, 2)
		require.NoError(t, err)
		if len(page) == 0 {
			break
		}
		for _, src := range page {
			require.Greater(t, src.Num, after)
			after = src.Num
			ids = append(ids, src.ID)
		}
		if len(ids) == 2 {
			accept("b")
		}
	}
	require.Equal(t, []string{"c", "a", "b"}, ids)
}
