package workspace

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend/inmem"
)

// TestTallies stores, loads and removes tallies of many workspaces.
func TestTallies(t *testing.T) {
	t.Parallel()
	ctx, reg := t.Context(), inmem.New().Registry()
	x := newTallies()
	require.NoError(t, x.load(ctx, reg))
	const n = 2*tallyPage + 7
	for i := range n {
		x.set(fmt.Sprintf("uid%05d", i), Tally{States: map[string]int{"completed": i + 1}})
	}
	require.NoError(t, x.store(ctx, reg))
	assert.Empty(t, x.dirty)
	x.set("uid00003", Tally{States: map[string]int{"completed": 4}})
	assert.Empty(t, x.dirty, "it is as it was")

	y := newTallies()
	y.set("uid00000", Tally{States: map[string]int{"completed": 100}, Errors: map[string]int{"E1": 2}}) // counted before the others are read
	y.drop("uid00001")
	require.NoError(t, y.load(ctx, reg))
	sum := func(x *tallies) (tenants, items int) {
		x.each(func(_ string, t Tally) { tenants, items = tenants+1, items+t.States["completed"] })
		return tenants, items
	}
	tenants, items := sum(y)
	assert.Equal(t, []int{n - 1, n*(n+1)/2 - 1 - 2 + 100}, []int{tenants, items})
	require.NoError(t, y.store(ctx, reg))
	x.read = time.Time{} // long ago: y is another process
	x.set("uid00002", Tally{})
	require.NoError(t, x.load(ctx, reg))
	assert.Equal(t, Tally{}, x.by["uid00002"])
	assert.Equal(t, y.by["uid00000"], x.by["uid00000"])
	assert.NotContains(t, x.by, "uid00001")
	z := newTallies()
	require.NoError(t, z.load(ctx, reg))
	assert.Equal(t, y.by, z.by)
}
