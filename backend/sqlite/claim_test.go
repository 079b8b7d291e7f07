package sqlite

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

func TestVoidLeases(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	_, s := openTest(t)
	_, err := s.Accept(ctx, append(item("held"), item("waits")...))
	require.NoError(t, err)
	lease := testTime.Add(time.Hour)
	claims, err := s.Claim(ctx, "dead", testTime, lease, 2, 0)
	require.NoError(t, err)
	require.Len(t, claims, 2)
	require.NoError(t, s.Defer(ctx, []backend.Deferred{{
		Num: claims[1].Num, Token: "dead", State: backend.Processing, NotBefore: testTime.Add(time.Minute),
	}}))
	none, err := s.Claim(ctx, "next", testTime, lease, 2, 0)
	require.NoError(t, err)
	require.Empty(t, none)
	require.NoError(t, s.VoidLeases(ctx))
	again, err := s.Claim(ctx, "next", testTime, lease, 2, 0)
	require.NoError(t, err)
	require.Len(t, again, 1, "a retry still waits for its time")
	assert.Equal(t, "held", again[0].ID)
	ok, err := s.Index(ctx, []backend.Indexed{{Num: claims[0].Num, Token: "dead"}})
	require.NoError(t, err)
	assert.Equal(t, []bool{false}, ok, "the dead one holds nothing")
	check(t, s)
}
