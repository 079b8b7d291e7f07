package backendtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// testEraseEvents checks that a store erases the events of the items that are named, in one sub-tenant, or of all its items.
func testEraseEvents(t *testing.T, e *storeEnv) {
	x, ok := e.Store.(backend.EventEraser)
	if !ok {
		return
	}
	ctx := t.Context()
	items := []item{memory("a"), memory("b"), memory("b").in(files), memory("a").in(other)}
	nums, token := e.index(items...)
	in := make([]backend.Finished, len(items))
	for i := range items {
		in[i] = backend.Finished{Num: nums[i], Token: token, State: backend.Completed, Event: true}
	}
	_, err := e.Finish(ctx, in)
	require.NoError(t, err)
	left := func() (out []string) {
		events, err := e.Events(ctx, 10)
		require.NoError(t, err)
		for _, v := range events {
			out = append(out, v.Part.Sub+"/"+v.ItemID)
		}
		return out
	}
	erase := func(sub string, ids []string) int {
		n, err := x.EraseEvents(ctx, e.uid, sub, ids)
		require.NoError(t, err)
		return n
	}
	require.ElementsMatch(t, []string{"notes/a", "notes/b", "notes/b", "other/a"}, left())
	assert.Zero(t, erase("notes", []string{}), "no ids are not all")
	assert.Equal(t, 2, erase("notes", []string{"b", "nobody"}), "of both classes")
	assert.ElementsMatch(t, []string{"notes/a", "other/a"}, left())
	assert.Equal(t, 1, erase("notes", nil))
	assert.ElementsMatch(t, []string{"other/a"}, left())
}

// testPurge checks that a store forgets merges of names that no entity has any more, and keeps the others.
func testPurge(t *testing.T, e *storeEnv) {
	x, ok := e.Store.(backend.Purger)
	if !ok {
		return
	}
	ctx := t.Context()
	e.complete(memory("a", "x").mention(0, "bob").mention(0, "rob"), memory("b", "x").mention(0, "tim").mention(0, "tom"), memory("c", "x").mention(0, "ann"), memory("d", "x").mention(0, "anna"))
	for _, m := range [][2]string{{"bob", "rob"}, {"tim", "tom"}, {"ann", "anna"}} {
		_, err := e.MergeEntities(ctx, notes, m[0], m[1], "", at(1))
		require.NoError(t, err)
	}
	e.remove("a", "c")
	require.NoError(t, x.Purge(ctx))
	names := []string{}
	for _, m := range e.merges() {
		names = append(names, m.From)
	}
	assert.Equal(t, []string{"tim", "ann"}, names, "nothing has the names of a; anna is still there")
	e.complete(memory("a", "x").mention(0, "bob").mention(0, "rob"), memory("c", "x").mention(0, "ann"))
	assert.Equal(t, []string{"bob", "tom", "anna"}, []string{e.standsFor("bob"), e.standsFor("tim"), e.standsFor("ann")})
}

// testEraseDeliveries checks that a registry erases the deliveries of the items that are named, in any state.
func testEraseDeliveries(t *testing.T, e *registryEnv) {
	x, ok := e.Registry.(backend.EventEraser)
	if !ok {
		return
	}
	ctx := t.Context()
	make := func(id, uid, sub, item string, status backend.DeliveryStatus) backend.Delivery {
		d := delivery(id, "u", at(1))
		d.TenantUID, d.Collection, d.ItemID, d.Status = UID(uid), sub, item, status
		return d
	}
	require.NoError(t, e.AddDeliveries(ctx, []backend.Delivery{
		make("1", "t", "c", "a", backend.DeliveryPending), make("2", "t", "c", "a", backend.DeliveryDelivered), make("3", "t", "c", "b", backend.DeliveryFailed),
		make("4", "t", "other", "a", backend.DeliveryPending), make("5", "else", "c", "a", backend.DeliveryPending)}))
	left := func() []string {
		all, err := e.Deliveries(ctx, backend.DeliveryQuery{Org: "org", Limit: 10})
		require.NoError(t, err)
		return deliveryIDs(all)
	}
	erase := func(ids []string) int {
		n, err := x.EraseEvents(ctx, UID("t"), "c", ids)
		require.NoError(t, err)
		return n
	}
	assert.Zero(t, erase([]string{}), "no ids are not all")
	assert.Equal(t, 2, erase([]string{"a"}))
	assert.ElementsMatch(t, []string{"3", "4", "5"}, left())
	assert.Equal(t, 1, erase(nil))
	assert.ElementsMatch(t, []string{"4", "5"}, left())
	due, err := e.ClaimDeliveries(ctx, backend.DeliveryClaim{Now: at(5), LeaseUntil: at(9), Token: "x", Limit: 10, PerURL: 10})
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"4", "5"}, deliveryIDs(due), "what was erased is not sent")
}
