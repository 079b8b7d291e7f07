package backendtest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

func testRegistryHostile(t *testing.T, e *registryEnv) {
	ctx := t.Context()
	var writes []backend.RecordWrite
	for i, s := range hostile {
		writes = append(writes, write("k"+s, "o"+s, "i"+s, s, 0))
		in := backend.Tenant{Org: s, ID: s, UID: UID(fmt.Sprint("hostile", i)), State: backend.TenantReady, Data: []byte(s), Error: s}
		require.NoError(t, e.CreateTenant(ctx, in, 0))
		d := delivery("d"+s, s, at(0))
		d.Org, d.ItemID, d.Payload, d.ErrorMessage = s, s, []byte(s), s
		require.NoError(t, e.AddDeliveries(ctx, []backend.Delivery{d}))
	}
	require.NoError(t, e.WriteRecords(ctx, writes))
	for i, s := range hostile {
		rec, err := e.Record(ctx, "k"+s, "o"+s, "i"+s)
		require.NoError(t, err)
		require.True(t, rec.ID == "i"+s && string(rec.Data) == s, "record %d", i)
		got, err := e.Tenant(ctx, s, s)
		require.NoError(t, err)
		require.True(t, got.UID == UID(fmt.Sprint("hostile", i)) && got.ID == s && string(got.Data) == s && got.Error == s, "tenant %d", i)
		d, err := e.Delivery(ctx, s, "d"+s)
		require.NoError(t, err)
		require.True(t, d.ItemID == s && d.URL == s && string(d.Payload) == s && d.ErrorMessage == s, "delivery %d", i)
	}
}

func testRegistryCopies(t *testing.T, e *registryEnv) {
	ctx := t.Context()
	data := []byte("data")
	in := tenant("a")
	in.Data = data
	require.NoError(t, e.CreateTenant(ctx, in, 0))
	require.NoError(t, e.WriteRecords(ctx, []backend.RecordWrite{{Record: backend.Record{Kind: "k", ID: "a", Data: data}}}))
	d := delivery("a", "u", at(0))
	d.Payload = data
	require.NoError(t, e.AddDeliveries(ctx, []backend.Delivery{d}))
	data[0] = 'X'
	for range 2 { // the second round sees whether changing answers of the first changed the registry
		got, err := e.Tenant(ctx, "org", "a")
		require.NoError(t, err)
		require.Equal(t, "data", string(got.Data))
		got.Data[0] = 'X'
		rec, err := e.Record(ctx, "k", "", "a")
		require.NoError(t, err)
		require.Equal(t, "data", string(rec.Data))
		rec.Data[0] = 'X'
		del, err := e.Delivery(ctx, "org", "a")
		require.NoError(t, err)
		require.Equal(t, "data", string(del.Payload))
		del.Payload[0] = 'X'
	}
}

// fillRegistry puts tenants, records and deliveries into a registry.
func fillRegistry(t *testing.T, r backend.Registry) {
	t.Helper()
	ctx := t.Context()
	require.NoError(t, r.CreateTenant(ctx, tenant("a"), 0))
	require.NoError(t, r.CreateTenant(ctx, tenant("b"), 0))
	require.NoError(t, r.SetWake(ctx, UID("a"), at(5)))
	b, err := r.Tenant(ctx, "org", "b")
	require.NoError(t, err)
	b.State = backend.TenantDeleting
	_, err = r.UpdateTenant(ctx, b)
	require.NoError(t, err)
	require.NoError(t, r.WriteRecords(ctx, []backend.RecordWrite{write("k", "o", "x", "1", 0), write("k", "o", "x", "2", 1)}))
	done := delivery("done", "v", at(0))
	done.Status = backend.DeliveryDelivered
	require.NoError(t, r.AddDeliveries(ctx, []backend.Delivery{delivery("a", "u", at(0)), delivery("b", "u", at(1)), done}))
	claimed, err := r.ClaimDeliveries(ctx, backend.DeliveryClaim{Now: at(0), LeaseUntil: at(50), Token: "w", Limit: 10, PerURL: 10})
	require.NoError(t, err)
	require.Len(t, claimed, 1)
}

// dumpRegistry returns everything that fillRegistry and registryCalls may change.
func dumpRegistry(t *testing.T, r backend.Registry) string {
	t.Helper()
	ctx := t.Context()
	ts, err := r.Tenants(ctx, "org", "", 100)
	require.NoError(t, err)
	del, err := r.DeletingTenants(ctx, 100)
	require.NoError(t, err)
	awake, err := r.Awake(ctx, at(1e6), 100)
	require.NoError(t, err)
	recs, err := r.AllRecords(ctx, "k", "", "", 100)
	require.NoError(t, err)
	ds, err := r.Deliveries(ctx, backend.DeliveryQuery{Org: "org", Limit: 100})
	require.NoError(t, err)
	next, err := r.NextDelivery(ctx)
	require.NoError(t, err)
	return fmt.Sprintf("tenants %+v\ndeleting %+v\nawake %+v\nrecords %+v\ndeliveries %+v\nnext %v", ts, del, awake, recs, ds, next)
}

func testRegistryReopen(t *testing.T, e *registryEnv) {
	fillRegistry(t, e)
	before := dumpRegistry(t, e)
	e.reopen(t)
	require.Equal(t, before, dumpRegistry(t, e))
	require.NoError(t, e.AddDeliveries(t.Context(), []backend.Delivery{delivery("c", "u", at(0))}))
	ds, err := e.Deliveries(t.Context(), backend.DeliveryQuery{Org: "org", Limit: 10})
	require.NoError(t, err)
	require.Equal(t, "c", ds[0].ID, "numbers go on rising")
}

// call is a method call whose arguments would let it succeed, or change something.
type call struct {
	name string
	f    func(ctx context.Context) error
}

func registryCalls(r backend.Registry) []call {
	ignore := func(_ any, err error) error { return err }
	a := tenant("a")
	a.Rev = 1
	return []call{
		{"CreateTenant", func(ctx context.Context) error { return r.CreateTenant(ctx, tenant("new"), 0) }},
		{"Tenant", func(ctx context.Context) error { return ignore(r.Tenant(ctx, "org", "a")) }},
		{"TenantByUID", func(ctx context.Context) error { return ignore(r.TenantByUID(ctx, UID("a"))) }},
		{"Tenants", func(ctx context.Context) error { return ignore(r.Tenants(ctx, "org", "", 10)) }},
		{"UpdateTenant", func(ctx context.Context) error { return ignore(r.UpdateTenant(ctx, a)) }},
		{"DeletingTenants", func(ctx context.Context) error { return ignore(r.DeletingTenants(ctx, 10)) }},
		{"ForgetTenant", func(ctx context.Context) error { return r.ForgetTenant(ctx, UID("b")) }},
		{"SetWake", func(ctx context.Context) error { return r.SetWake(ctx, UID("a"), at(77)) }},
		{"Awake", func(ctx context.Context) error { return ignore(r.Awake(ctx, at(100), 10)) }},
		{"WriteRecords", func(ctx context.Context) error {
			return r.WriteRecords(ctx, []backend.RecordWrite{write("k", "o", "y", "1", -1)})
		}},
		{"Record", func(ctx context.Context) error { return ignore(r.Record(ctx, "k", "o", "x")) }},
		{"Records", func(ctx context.Context) error { return ignore(r.Records(ctx, "k", "o", "", 10)) }},
		{"AllRecords", func(ctx context.Context) error { return ignore(r.AllRecords(ctx, "k", "", "", 10)) }},
		{"AddDeliveries", func(ctx context.Context) error {
			return r.AddDeliveries(ctx, []backend.Delivery{delivery("new", "u", at(0))})
		}},
		{"ClaimDeliveries", func(ctx context.Context) error {
			return ignore(r.ClaimDeliveries(ctx, backend.DeliveryClaim{Now: at(10), LeaseUntil: at(99), Token: "x", Limit: 10, PerURL: 10}))
		}},
		{"FinishDelivery", func(ctx context.Context) error {
			d := delivery("a", "u", at(0))
			d.Token, d.Status = "w", backend.DeliveryDelivered
			return r.FinishDelivery(ctx, d)
		}},
		{"RequeueDelivery", func(ctx context.Context) error { return r.RequeueDelivery(ctx, "org", "a", at(0)) }},
		{"Delivery", func(ctx context.Context) error { return ignore(r.Delivery(ctx, "org", "a")) }},
		{"Deliveries", func(ctx context.Context) error {
			return ignore(r.Deliveries(ctx, backend.DeliveryQuery{Org: "org", Limit: 10}))
		}},
		{"NextDelivery", func(ctx context.Context) error { return ignore(r.NextDelivery(ctx)) }},
		{"PruneDeliveries", func(ctx context.Context) error { return ignore(r.PruneDeliveries(ctx, at(1e6), 10)) }},
	}
}

// requireEnded makes each call with a cancelled and an expired context. The call must return the
// unwrapped error of the context.
func requireEnded(t *testing.T, calls []call) {
	t.Helper()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancelLate := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancelLate()
	for _, c := range calls {
		assert.Equal(t, context.Canceled, c.f(cancelled), "%s with a cancelled context", c.name)
		assert.Equal(t, context.DeadlineExceeded, c.f(late), "%s past its deadline", c.name)
	}
}

func requireClosed(t *testing.T, calls []call) {
	t.Helper()
	for _, c := range calls {
		assert.ErrorIs(t, c.f(t.Context()), backend.ErrClosed, "%s after Close", c.name)
	}
}

func testRegistryCancelled(t *testing.T, e *registryEnv) {
	fillRegistry(t, e)
	before := dumpRegistry(t, e)
	requireEnded(t, registryCalls(e))
	require.Equal(t, before, dumpRegistry(t, e), "nothing is left behind")
}

func testRegistryClosed(t *testing.T, e *registryEnv) {
	fillRegistry(t, e)
	require.NoError(t, e.stores.Close())
	requireClosed(t, append(registryCalls(e),
		call{"OpenStore", func(ctx context.Context) error { _, err := e.stores.OpenStore(ctx, UID("a")); return err }},
		call{"RemoveStore", func(ctx context.Context) error { return e.stores.RemoveStore(ctx, UID("a")) }},
	))
}

func testRegistryConcurrent(t *testing.T, e *registryEnv) {
	ctx := t.Context()
	const n = 6
	require.NoError(t, e.WriteRecords(ctx, []backend.RecordWrite{write("k", "o", "counter", "", 0)}))
	var mu sync.Mutex
	created, won, claimed := 0, 0, map[string]int{}
	var ds []backend.Delivery
	for i := range 4 * n {
		ds = append(ds, delivery(fmt.Sprint("d", i), "u", at(i)))
	}
	require.NoError(t, e.AddDeliveries(ctx, ds))
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			in := tenant("same")
			in.UID = UID(fmt.Sprint("same", i))
			err := e.CreateTenant(ctx, in, 0)
			if err != nil {
				assert.ErrorIs(t, err, backend.ErrExists)
			}
			errWrite := e.WriteRecords(ctx, []backend.RecordWrite{write("k", "o", "counter", "", 1)})
			if errWrite != nil {
				assert.ErrorIs(t, errWrite, backend.ErrConflict)
			}
			got, errClaim := e.ClaimDeliveries(ctx, backend.DeliveryClaim{Now: at(1000), LeaseUntil: at(2000), Token: fmt.Sprint("w", i), Limit: 4, PerURL: 100})
			assert.NoError(t, errClaim)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				created++
			}
			if errWrite == nil {
				won++
			}
			for _, d := range got {
				claimed[d.ID]++
			}
		})
	}
	wg.Wait()
	assert.Equal(t, 1, created, "one of many takes a name")
	assert.Equal(t, 1, won, "one of many writes a revision")
	assert.Len(t, claimed, 4*n)
	for id, times := range claimed {
		assert.Equal(t, 1, times, "delivery %s is claimed once", id)
	}
}
