package backendtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

func write(kind, org, id, data string, ifRev int64) backend.RecordWrite {
	return backend.RecordWrite{Record: backend.Record{Kind: kind, Org: org, ID: id, Data: []byte(data)}, IfRev: ifRev}
}

func erase(kind, org, id string, ifRev int64) backend.RecordWrite {
	w := write(kind, org, id, "", ifRev)
	w.Delete = true
	return w
}

func testRecordRevisions(t *testing.T, e *registryEnv) {
	ctx := t.Context()
	put := func(w backend.RecordWrite) error { return e.WriteRecords(ctx, []backend.RecordWrite{w}) }
	get := func(id string) backend.Record {
		rec, err := e.Record(ctx, "key", "org", id)
		require.NoError(t, err)
		return rec
	}
	require.ErrorIs(t, put(write("key", "org", "a", "x", 1)), backend.ErrNotFound, "revision of nothing")
	require.NoError(t, put(write("key", "org", "a", "one", 0)))
	assert.Equal(t, backend.Record{Kind: "key", Org: "org", ID: "a", Rev: 1, Data: []byte("one")}, get("a"))
	require.ErrorIs(t, put(write("key", "org", "a", "x", 0)), backend.ErrExists)
	require.ErrorIs(t, put(write("key", "org", "a", "x", 7)), backend.ErrConflict)
	assert.Equal(t, "one", string(get("a").Data))
	require.NoError(t, put(write("key", "org", "a", "two", 1)))
	assert.Equal(t, int64(2), get("a").Rev)
	require.NoError(t, put(write("key", "org", "a", "three", -1)))
	assert.Equal(t, backend.Record{Kind: "key", Org: "org", ID: "a", Rev: 3, Data: []byte("three")}, get("a"))
	require.NoError(t, put(write("key", "org", "b", "new", -1)), "whatever is there, nothing included")
	assert.Equal(t, int64(1), get("b").Rev)

	require.ErrorIs(t, put(erase("key", "org", "a", 2)), backend.ErrConflict)
	require.ErrorIs(t, put(erase("key", "org", "a", 0)), backend.ErrExists)
	require.NoError(t, put(erase("key", "org", "a", 3)))
	_, err := e.Record(ctx, "key", "org", "a")
	require.ErrorIs(t, err, backend.ErrNotFound)
	require.ErrorIs(t, put(erase("key", "org", "a", 3)), backend.ErrNotFound)
	require.NoError(t, put(erase("key", "org", "a", -1)), "whatever is there")

	for _, miss := range [][3]string{{"keys", "org", "b"}, {"key", "org2", "b"}, {"key", "org", "c"}} {
		_, err := e.Record(ctx, miss[0], miss[1], miss[2])
		require.ErrorIs(t, err, backend.ErrNotFound, "%v", miss)
	}
}

func testRecordBatch(t *testing.T, e *registryEnv) {
	ctx := t.Context()
	require.NoError(t, e.WriteRecords(ctx, []backend.RecordWrite{write("k", "o", "a", "1", 0), write("k", "o", "b", "1", 0)}))
	err := e.WriteRecords(ctx, []backend.RecordWrite{
		write("k", "o", "a", "2", 1), erase("k", "o", "b", 1), write("k", "o", "c", "1", 0), write("k", "o", "d", "1", 9),
	})
	require.ErrorIs(t, err, backend.ErrNotFound)
	recs, err := e.Records(ctx, "k", "o", "", 10)
	require.NoError(t, err)
	require.Len(t, recs, 2, "none of a batch is there when one write fails")
	assert.Equal(t, int64(1), recs[0].Rev)
	require.NoError(t, e.WriteRecords(ctx, []backend.RecordWrite{
		write("k", "o", "a", "2", 1), write("k", "o", "a", "3", 2), erase("k", "o", "b", 1), write("k", "o", "b", "again", 0),
	}), "a write sees those before it")
	recs, err = e.Records(ctx, "k", "o", "", 10)
	require.NoError(t, err)
	require.Len(t, recs, 2)
	assert.Equal(t, "3", string(recs[0].Data))
	assert.Equal(t, "again", string(recs[1].Data))
	require.NoError(t, e.WriteRecords(ctx, nil))
}

func testRecordPages(t *testing.T, e *registryEnv) {
	ctx := t.Context()
	var writes []backend.RecordWrite
	for _, org := range []string{"", "o1", "o2"} {
		for i := range 3 {
			writes = append(writes, write("k", org, fmt.Sprint("id", 2-i), org, 0))
		}
	}
	writes = append(writes, write("k2", "o1", "id0", "other kind", 0))
	require.NoError(t, e.WriteRecords(ctx, writes))
	page, err := e.Records(ctx, "k", "o1", "", 2)
	require.NoError(t, err)
	require.Len(t, page, 2)
	assert.Equal(t, []string{"id0", "id1"}, []string{page[0].ID, page[1].ID})
	page, err = e.Records(ctx, "k", "o1", "id1", 2)
	require.NoError(t, err)
	require.Len(t, page, 1)
	assert.Equal(t, "id2", page[0].ID)

	var all []string
	org, id := "", ""
	for {
		page, err := e.AllRecords(ctx, "k", org, id, 2)
		require.NoError(t, err)
		if len(page) == 0 {
			break
		}
		for _, r := range page {
			all = append(all, r.Org+"/"+r.ID)
		}
		org, id = page[len(page)-1].Org, page[len(page)-1].ID
	}
	assert.Equal(t, []string{"/id0", "/id1", "/id2", "o1/id0", "o1/id1", "o1/id2", "o2/id0", "o2/id1", "o2/id2"}, all)
}

func delivery(id, url string, due time.Time) backend.Delivery {
	return backend.Delivery{
		ID: id, Org: "org", URL: url, Event: "indexed", ItemID: "item", Database: "db", TenantUID: UID("t"),
		Collection: "c", IndexingStatus: "completed", Status: backend.DeliveryPending, Payload: []byte("{}\x00"),
		CreatedAt: at(0), UpdatedAt: at(0), NextAttempt: due,
	}
}

func deliveryIDs(ds []backend.Delivery) []string {
	ids := []string{}
	for _, d := range ds {
		ids = append(ids, d.ID)
	}
	return ids
}

func testAddDeliveries(t *testing.T, e *registryEnv) {
	ctx := t.Context()
	first := delivery("a", "u", at(1))
	require.NoError(t, e.AddDeliveries(ctx, []backend.Delivery{first}))
	changed := delivery("a", "elsewhere", at(9))
	require.NoError(t, e.AddDeliveries(ctx, []backend.Delivery{changed, delivery("b", "u", at(2)), delivery("b", "twice", at(3))}))
	a, err := e.Delivery(ctx, "org", "a")
	require.NoError(t, err)
	first.Num = a.Num
	require.Equal(t, first, a, "an event handed over twice makes one record")
	b, err := e.Delivery(ctx, "org", "b")
	require.NoError(t, err)
	assert.Equal(t, "u", b.URL)
	assert.Greater(t, b.Num, a.Num)
	all, err := e.Deliveries(ctx, backend.DeliveryQuery{Org: "org", Limit: 10})
	require.NoError(t, err)
	assert.Equal(t, []string{"b", "a"}, deliveryIDs(all))
	_, err = e.Delivery(ctx, "org2", "a")
	require.ErrorIs(t, err, backend.ErrNotFound, "of another organisation")
	_, err = e.Delivery(ctx, "org", "c")
	require.ErrorIs(t, err, backend.ErrNotFound)
}

func testClaimDeliveries(t *testing.T, e *registryEnv) {
	ctx := t.Context()
	next, err := e.NextDelivery(ctx)
	require.NoError(t, err)
	require.True(t, next.IsZero(), "nothing waits")
	failed := delivery("failed", "u2", at(5))
	failed.Status = backend.DeliveryFailed
	done := delivery("done", "u3", at(0))
	done.Status = backend.DeliveryDelivered
	dead := delivery("dead", "u3", at(0))
	dead.Status = backend.DeliveryPermanentlyFailed
	require.NoError(t, e.AddDeliveries(ctx, []backend.Delivery{
		delivery("late", "u1", at(20)), delivery("u1-b", "u1", at(4)), delivery("u1-a", "u1", at(3)), failed, done, dead,
		delivery("u1-c", "u1", at(6)),
	}))
	next, err = e.NextDelivery(ctx)
	require.NoError(t, err)
	require.Equal(t, at(3), next)

	claim := func(now int, token string, limit, perURL int) []string {
		ds, err := e.ClaimDeliveries(ctx, backend.DeliveryClaim{Now: at(now), LeaseUntil: at(now + 100), Token: token, Limit: limit, PerURL: perURL})
		require.NoError(t, err)
		for _, d := range ds {
			require.Equal(t, backend.DeliverySweeping, d.Status)
			require.Equal(t, token, d.Token)
			require.Equal(t, at(now+100), d.LeaseUntil)
			stored, err := e.Delivery(ctx, "org", d.ID)
			require.NoError(t, err)
			require.Equal(t, d, stored)
		}
		return deliveryIDs(ds)
	}
	assert.Empty(t, claim(2, "w", 10, 10), "none is due")
	assert.Equal(t, []string{"u1-a", "failed"}, claim(10, "w1", 10, 1), "one of a URL")
	assert.Empty(t, claim(10, "w2", 10, 1), "those under way count")
	assert.Equal(t, []string{"u1-b"}, claim(10, "w2", 1, 10), "limit")
	assert.Empty(t, claim(10, "w3", 10, 2), "over several claims too")
	assert.Equal(t, []string{"u1-c"}, claim(10, "w3", 10, 3), "leased ones are left alone")
	next, err = e.NextDelivery(ctx)
	require.NoError(t, err)
	assert.Equal(t, at(20), next)
	assert.Equal(t, []string{"late"}, claim(20, "w4", 10, 10), "at its time")
	next, err = e.NextDelivery(ctx)
	require.NoError(t, err)
	assert.Equal(t, at(110), next, "when the first lease lapses")
	assert.Empty(t, claim(109, "w5", 10, 10))
	assert.ElementsMatch(t, []string{"u1-a", "failed", "u1-b", "u1-c"}, claim(110, "w5", 10, 10), "lapsed leases")
	a, err := e.Delivery(ctx, "org", "u1-a")
	require.NoError(t, err)
	assert.Zero(t, a.Attempts, "a claim counts no attempt")
}

// testClaimShares checks that one organisation with many waiting URLs does not keep others from being claimed.
func testClaimShares(t *testing.T, e *registryEnv) {
	ctx := t.Context()
	var ds []backend.Delivery
	for i := range 12 {
		ds = append(ds, delivery(fmt.Sprint("many", i), fmt.Sprint("u", i%3), at(0)))
	}
	few := delivery("few", "v", at(5))
	few.Org = "org2"
	shared := delivery("shared", "u0", at(5))
	shared.Org = "org3"
	require.NoError(t, e.AddDeliveries(ctx, append(ds, few)))
	claim := func(now int, c backend.DeliveryClaim) []string {
		c.Now, c.LeaseUntil, c.Token = at(now), at(now+100), "w"
		got, err := e.ClaimDeliveries(ctx, c)
		require.NoError(t, err)
		return deliveryIDs(got)
	}
	assert.Equal(t, []string{"many0", "many1"}, claim(1, backend.DeliveryClaim{Limit: 10, PerURL: 1, Skip: []string{"u2"}}), "a URL that is skipped gets nothing")
	assert.Equal(t, []string{"few", "many2"}, claim(10, backend.DeliveryClaim{Limit: 2, PerURL: 4}), "the shortest queue comes first")
	assert.Equal(t, []string{"many3"}, claim(10, backend.DeliveryClaim{Limit: 10, PerURL: 4, PerOrg: 4}), "those under way count")
	require.NoError(t, e.AddDeliveries(ctx, []backend.Delivery{shared}))
	assert.Empty(t, claim(10, backend.DeliveryClaim{Limit: 10, PerURL: 2, PerOrg: 4, Skip: []string{"u0"}}))
	assert.Len(t, claim(200, backend.DeliveryClaim{Limit: 100}), 14, "without shares everything is taken")
}

func testFinishDelivery(t *testing.T, e *registryEnv) {
	ctx := t.Context()
	require.NoError(t, e.AddDeliveries(ctx, []backend.Delivery{delivery("a", "u", at(0))}))
	unclaimed := delivery("a", "u", at(0))
	unclaimed.Status = backend.DeliveryDelivered
	require.ErrorIs(t, e.FinishDelivery(ctx, unclaimed), backend.ErrConflict, "nobody claimed it")
	claimed, err := e.ClaimDeliveries(ctx, backend.DeliveryClaim{Now: at(1), LeaseUntil: at(100), Token: "w", Limit: 1, PerURL: 1})
	require.NoError(t, err)
	require.Len(t, claimed, 1)
	d := claimed[0]
	d.Status, d.ErrorCode, d.ErrorMessage = backend.DeliveryFailed, "E1", "it said no"
	d.LastError, d.LastStatusCode = "status 503", 503
	d.NextAttempt, d.UpdatedAt = at(60), at(2)
	d.Attempts = 3
	d.URL, d.Payload = "elsewhere", []byte("other") // not stored by a finish
	wrong := d
	wrong.Token = "somebody else"
	require.ErrorIs(t, e.FinishDelivery(ctx, wrong), backend.ErrConflict)
	require.NoError(t, e.FinishDelivery(ctx, d))
	got, err := e.Delivery(ctx, "org", "a")
	require.NoError(t, err)
	assert.Equal(t, backend.DeliveryFailed, got.Status)
	assert.Equal(t, []any{"E1", "it said no", "status 503", 503}, []any{got.ErrorCode, got.ErrorMessage, got.LastError, got.LastStatusCode})
	assert.Equal(t, []time.Time{at(60), at(2)}, []time.Time{got.NextAttempt, got.UpdatedAt})
	assert.Equal(t, "u", got.URL)
	assert.Equal(t, "{}\x00", string(got.Payload))
	assert.Equal(t, 3, got.Attempts)
	require.ErrorIs(t, e.FinishDelivery(ctx, d), backend.ErrConflict, "it is finished")
	missing := d
	missing.ID = "nobody"
	require.ErrorIs(t, e.FinishDelivery(ctx, missing), backend.ErrNotFound)

	claimed, err = e.ClaimDeliveries(ctx, backend.DeliveryClaim{Now: at(60), LeaseUntil: at(61), Token: "slow", Limit: 1, PerURL: 1})
	require.NoError(t, err)
	require.Len(t, claimed, 1)
	_, err = e.ClaimDeliveries(ctx, backend.DeliveryClaim{Now: at(61), LeaseUntil: at(200), Token: "fast", Limit: 1, PerURL: 1})
	require.NoError(t, err)
	require.ErrorIs(t, e.FinishDelivery(ctx, claimed[0]), backend.ErrConflict, "another holds the lease")
}

func testRequeueDelivery(t *testing.T, e *registryEnv) {
	ctx := t.Context()
	dead := delivery("dead", "u", at(0))
	dead.Status = backend.DeliveryPermanentlyFailed
	failed := delivery("failed", "u", at(1000))
	failed.Status = backend.DeliveryFailed
	done := delivery("done", "u", at(0))
	done.Status = backend.DeliveryDelivered
	require.NoError(t, e.AddDeliveries(ctx, []backend.Delivery{dead, failed, done, delivery("pending", "u", at(1000))}))
	require.ErrorIs(t, e.RequeueDelivery(ctx, "org2", "dead", at(5)), backend.ErrNotFound)
	require.ErrorIs(t, e.RequeueDelivery(ctx, "org", "nobody", at(5)), backend.ErrNotFound)
	require.ErrorIs(t, e.RequeueDelivery(ctx, "org", "done", at(5)), backend.ErrConflict)
	require.ErrorIs(t, e.RequeueDelivery(ctx, "org", "pending", at(5)), backend.ErrConflict)
	for _, id := range []string{"dead", "failed"} {
		require.NoError(t, e.RequeueDelivery(ctx, "org", id, at(5)))
		got, err := e.Delivery(ctx, "org", id)
		require.NoError(t, err)
		assert.Equal(t, backend.DeliveryPending, got.Status)
		assert.Equal(t, at(5), got.NextAttempt)
	}
	claimed, err := e.ClaimDeliveries(ctx, backend.DeliveryClaim{Now: at(5), LeaseUntil: at(100), Token: "w", Limit: 10, PerURL: 10})
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"dead", "failed"}, deliveryIDs(claimed))
	require.ErrorIs(t, e.RequeueDelivery(ctx, "org", "dead", at(6)), backend.ErrConflict, "it is on its way")
}

func testDeliveryPages(t *testing.T, e *registryEnv) {
	ctx := t.Context()
	for i := range 5 {
		d := delivery(fmt.Sprint("d", i), "u", at(i))
		if i%2 == 1 {
			d.Status = backend.DeliveryDelivered
		}
		require.NoError(t, e.AddDeliveries(ctx, []backend.Delivery{d}))
	}
	foreign := delivery("foreign", "u", at(0))
	foreign.Org = "org2"
	require.NoError(t, e.AddDeliveries(ctx, []backend.Delivery{foreign}))
	page, err := e.Deliveries(ctx, backend.DeliveryQuery{Org: "org", Limit: 3})
	require.NoError(t, err)
	require.Equal(t, []string{"d4", "d3", "d2"}, deliveryIDs(page))
	page, err = e.Deliveries(ctx, backend.DeliveryQuery{Org: "org", Limit: 3, Before: page[2].Num})
	require.NoError(t, err)
	assert.Equal(t, []string{"d1", "d0"}, deliveryIDs(page))
	page, err = e.Deliveries(ctx, backend.DeliveryQuery{Org: "org", Status: backend.DeliveryDelivered, Limit: 10})
	require.NoError(t, err)
	assert.Equal(t, []string{"d3", "d1"}, deliveryIDs(page))
	page, err = e.Deliveries(ctx, backend.DeliveryQuery{Org: "nobody", Limit: 10})
	require.NoError(t, err)
	assert.Empty(t, page)
}

func testPruneDeliveries(t *testing.T, e *registryEnv) {
	ctx := t.Context()
	for i, status := range []backend.DeliveryStatus{
		backend.DeliveryDelivered, backend.DeliveryPermanentlyFailed, backend.DeliveryPending, backend.DeliveryFailed,
		backend.DeliveryDelivered,
	} {
		d := delivery(fmt.Sprint("d", i), "u", at(0))
		d.Status, d.UpdatedAt = status, at(i)
		require.NoError(t, e.AddDeliveries(ctx, []backend.Delivery{d}))
	}
	n, err := e.PruneDeliveries(ctx, at(4), 1)
	require.NoError(t, err)
	require.Equal(t, 1, n, "at most limit")
	n, err = e.PruneDeliveries(ctx, at(4), 10)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	n, err = e.PruneDeliveries(ctx, at(4), 10)
	require.NoError(t, err)
	require.Zero(t, n)
	left, err := e.Deliveries(ctx, backend.DeliveryQuery{Org: "org", Limit: 10})
	require.NoError(t, err)
	assert.Equal(t, []string{"d4", "d3", "d2"}, deliveryIDs(left), "updated at the given time is not before it")
}
