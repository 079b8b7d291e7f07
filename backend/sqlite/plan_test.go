package sqlite

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// mayScan lists the tables that are small or are scanned on purpose.
var mayScan = map[string]bool{
	"p":           true, // partitions: Subs and Stats
	"json_each":   true, // arguments
	"j":           true, // arguments
	"k":           true, // arguments
	"m":           true, // members of a merge
	"f":           true, // a subquery's result
	"u":           true, // the addresses of deliveries
	"events":      true, // from the first, up to the limit
	"aliases":     true, // whether there is one
	"successions": true, // whether there is one
}

var scan = regexp.MustCompile(`SCAN (\S+).*`)

// TestPlans runs every call and then checks SQLite's plan of each statement: none may
// scan a whole table, and pages are read in order from an index.
func TestPlans(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	d, s := openTest(t)
	r := rand.New(rand.NewPCG(9, 9))
	accepted := ingest(t, s, r, 0, 8)
	nums := []int64{accepted[0].Num, accepted[1].Num}
	srcs, err := s.SourcesByNum(ctx, nums)
	require.NoError(t, err)
	ids := []string{srcs[0].ID, srcs[1].ID}
	_, err = s.UpdateMetadata(ctx, testPart, ids[0], newestOf(t, s, testPart, ids[0]), nil, nil, nil, []uint64{1}, testTime)
	require.NoError(t, err)
	for _, q := range []backend.ListQuery{
		{Limit: 5}, {Limit: 5, Filter: backend.Filter{All: [][]uint64{{1, 2}}}}, {Limit: 5, IDs: ids}, {Limit: 5, States: []backend.State{backend.Errored}},
		{Limit: 5, After: &backend.ListPlace{Updated: testTime, ID: "a"}}, {Limit: 5, Before: &backend.ListPlace{Updated: testTime, ID: "a"}},
		{Limit: 5, After: &backend.ListPlace{ID: "a"}}, {Limit: 5, Before: &backend.ListPlace{ID: "a"}},
		{Limit: 5, States: []backend.State{backend.Queued}}, {Limit: 5, States: []backend.State{backend.Completed}},
	} {
		q.Part = testPart
		_, _, err := s.List(ctx, q)
		require.NoError(t, err)
	}
	for _, q := range []backend.RelationQuery{{}, {Sources: nums}, {Chunks: nums}, {Entities: nums}, {Entities: nums, Predicates: []string{"knows"}}, {Entities: nums, Own: true}, {Predicates: []string{"knows"}}, {AsOf: testTime}} {
		q.Part, q.Limit = testPart, 10
		_, err := s.Relations(ctx, q)
		require.NoError(t, err)
	}
	for _, limited := range []bool{false, true} {
		_, err := s.Stated(ctx, backend.StatedQuery{Part: testPart, Limited: limited})
		require.NoError(t, err)
	}
	_, err = s.MentionsOf(ctx, testPart, []string{"anna"}, 5)
	require.NoError(t, err)
	_, err = s.OwnEntities(ctx, testPart, []string{"anna"})
	require.NoError(t, err)
	merge, err := s.MergeEntities(ctx, testPart, "anna", "robert", "test", testTime)
	require.NoError(t, err)
	ingest(t, s, r, 8, 16)
	require.NoError(t, s.UndoMerge(ctx, merge))
	_, err = s.Sessions(ctx, backend.SessionsQuery{Part: testPart, Limit: 5})
	require.NoError(t, err)
	_, err = s.SessionSources(ctx, backend.SessionQuery{Part: testPart, Session: "s", Limit: 5})
	require.NoError(t, err)
	_, err = s.ListEntities(ctx, backend.EntityQuery{Part: testPart, Prefix: "a", Limit: 5})
	require.NoError(t, err)
	_, err = s.Merges(ctx, testPart, 0, 5)
	require.NoError(t, err)
	_, err = s.Changes(ctx, 0, 100)
	require.NoError(t, err)
	for _, call := range []func() error{
		func() error { _, err := s.Chunks(ctx, nums, testTime); return err },
		func() error { _, err := s.ErrorCodes(ctx); return err },
		func() error { _, err := s.SourceChunks(ctx, nums[0], 0, 1, true); return err },
		func() error { _, err := s.ChunkNums(ctx, testPart, ids); return err },
		func() error { _, err := s.Sources(ctx, testPart, ids); return err },
		func() error { _, err := s.FindSubs(ctx, backend.Memory, ids[0]); return err },
		func() error { _, err := s.Content(ctx, nums[0], backend.Original); return err },
		func() error { _, err := s.Entities(ctx, nums); return err },
		func() error { _, err := s.EntitiesByKey(ctx, testPart, ids); return err },
		func() error { _, err := s.Events(ctx, 5); return err },
		func() error { return s.Acknowledge(ctx, 2) },
		func() error { _, _, err := s.Backlog(ctx); return err },
		func() error { return s.VoidLeases(ctx) },
		func() error { _, err := s.Claimants(ctx); return err },
		func() error { _, err := s.EndClaims(ctx, []string{"t"}, 8); return err },
		func() error { _, err := s.Subs(ctx); return err },
		func() error { _, err := s.Stats(ctx, backend.Memory); return err },
		func() error { _, _, err := s.Expire(ctx, testTime, 5); return err },
		func() error {
			_, err := s.PutVectors(ctx, 1, []backend.LaneVectors{{Source: newestOf(t, s, testPart, ids[1]), Vectors: make([][]float32, 1)}})
			return err
		},
		func() error { _, err := s.MissingVectors(ctx, 1, 0, 5); return err },
		func() error { _, err := s.DropLane(ctx, 1, 0, 5); return err },
		func() error { _, err := s.Delete(ctx, testPart, ids, backend.DeleteOptions{}); return err },
		func() error { _, err := s.DeleteSub(ctx, testPart.Sub, 3); return err },
		func() error { _, err := s.CompactFeed(ctx, s.LastSeq(), 100); return err },
	} {
		require.NoError(t, call())
	}
	g := d.reg
	delivery := backend.Delivery{ID: "d", URL: "u", Status: backend.DeliveryPending, NextAttempt: testTime}
	require.NoError(t, g.AddDeliveries(ctx, []backend.Delivery{delivery}))
	require.NoError(t, g.CreateTenant(ctx, backend.Tenant{UID: testUID, Org: "o", ID: "t", State: backend.TenantReady}, 0))
	for _, call := range []func() error{
		func() error { _, err := g.Tenant(ctx, "o", "t"); return err },
		func() error { _, err := g.Tenants(ctx, "o", "", 5); return err },
		func() error { _, err := g.DeletingTenants(ctx, 5); return err },
		func() error { _, err := g.Awake(ctx, testTime, 5); return err },
		func() error { return g.SetWake(ctx, testUID, testTime) },
		func() error {
			_, err := g.ClaimDeliveries(ctx, backend.DeliveryClaim{Now: testTime, LeaseUntil: testTime, Token: "t", Limit: 5, PerURL: 5})
			return err
		},
		func() error { _, err := g.Deliveries(ctx, backend.DeliveryQuery{Org: "o", Limit: 5}); return err },
		func() error {
			_, err := g.Deliveries(ctx, backend.DeliveryQuery{Org: "o", Status: backend.DeliveryPending, Limit: 5})
			return err
		},
		func() error { _, err := g.NextDelivery(ctx); return err },
		func() error { _, err := g.PruneDeliveries(ctx, testTime, 5); return err },
		func() error { _, err := g.Records(ctx, "k", "o", "", 5); return err },
		func() error { _, err := g.AllRecords(ctx, "k", "o", "", 5); return err },
	} {
		require.NoError(t, call())
	}
	seen := 0
	for _, f := range []*file{s.file, g.file} {
		c := f.w.c
		for _, c := range []*conn{c, <-f.readers.free} {
			for sql := range c.stmts {
				seen++
				explain(t, c, sql)
			}
		}
	}
	assert.Greater(t, seen, 80)
}

func explain(t *testing.T, c *conn, sql string) {
	t.Helper()
	if verb, _, _ := strings.Cut(sql, " "); !strings.Contains("SELECT UPDATE DELETE WITH", verb) {
		return
	}
	ds, err := c.dc.Prepare("EXPLAIN QUERY PLAN " + sql)
	require.NoError(t, err)
	args := make([]any, ds.NumInput())
	require.NoError(t, ds.Close())
	var plan []string
	require.NoError(t, c.each(bg, "EXPLAIN QUERY PLAN "+sql, func(r *row) error {
		plan = append(plan, r.str(3))
		return nil
	}, args...))
	text := strings.Join(plan, "\n")
	for _, m := range scan.FindAllStringSubmatch(text, -1) {
		partial := strings.Contains(m[0], "INDEX tenants_deleting") || strings.Contains(m[0], "INDEX sources_pending") || strings.Contains(m[0], "INDEX deliveries_sweeping")
		result := strings.HasPrefix(m[1], "(subquery-") // the plan of the subquery is checked by itself
		assert.True(t, mayScan[m[1]] || m[1] == "CONSTANT" || partial || result, "%s\n%s", sql, text)
	}
}
