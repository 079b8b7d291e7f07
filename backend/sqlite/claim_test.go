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

func TestVoidDeliveryLeases(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	b, _ := openTest(t)
	g := b.Registry()
	var ds []backend.Delivery
	for _, id := range []string{"held", "waits"} {
		ds = append(ds, backend.Delivery{ID: id, Org: "o", URL: "u", Status: backend.DeliveryPending, CreatedAt: testTime, UpdatedAt: testTime, NextAttempt: testTime})
	}
	require.NoError(t, g.AddDeliveries(ctx, ds))
	lease := testTime.Add(time.Hour)
	got, err := g.ClaimDeliveries(ctx, backend.DeliveryClaim{Now: testTime, LeaseUntil: lease, Token: "dead", Limit: 2, PerURL: 0})
	require.NoError(t, err)
	require.Len(t, got, 2)
	waits := got[1]
	waits.Status, waits.NextAttempt = backend.DeliveryFailed, testTime.Add(time.Minute)
	require.NoError(t, g.FinishDelivery(ctx, waits))
	none, err := g.ClaimDeliveries(ctx, backend.DeliveryClaim{Now: testTime, LeaseUntil: lease, Token: "next", Limit: 2, PerURL: 0})
	require.NoError(t, err)
	require.Empty(t, none)
	require.NoError(t, g.(backend.LeaseVoider).VoidLeases(ctx))
	again, err := g.ClaimDeliveries(ctx, backend.DeliveryClaim{Now: testTime, LeaseUntil: lease, Token: "next", Limit: 2, PerURL: 1})
	require.NoError(t, err)
	require.Len(t, again, 1, "a retry still waits for its time")
	assert.Equal(t, "held", again[0].ID)
	assert.Zero(t, again[0].Attempts, "the attempt that was cut off does not count")
	require.ErrorIs(t, g.FinishDelivery(ctx, got[0]), backend.ErrConflict, "the dead one holds nothing")
}
