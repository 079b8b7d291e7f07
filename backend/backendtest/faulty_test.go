package backendtest_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/backend/inmem"
)

var errFault = errors.New("fault")

func openFaulty(t *testing.T, faults ...backendtest.Fault) (*backendtest.Plan, backend.Backend, backend.Workspace) {
	t.Helper()
	plan := backendtest.NewPlan(faults...)
	b := backendtest.Faulty(inmem.New(), plan)
	w, err := b.OpenWorkspace(t.Context(), backendtest.UID("w"))
	require.NoError(t, err)
	return plan, b, w
}

// TestFaultyWithoutFaults runs the conformance suite with an empty plan, which must change nothing.
func TestFaultyWithoutFaults(t *testing.T) {
	var mu sync.Mutex
	byDir := map[string]*inmem.Backend{}
	backendtest.Run(t, backendtest.Harness{Open: func(t testing.TB, dir string) backend.Backend {
		mu.Lock()
		defer mu.Unlock()
		b := byDir[dir]
		if b == nil {
			b = inmem.New()
		} else {
			var err error
			b, err = b.Reopen()
			require.NoError(t, err)
		}
		byDir[dir] = b
		return backendtest.Faulty(b, backendtest.NewPlan())
	}})
}

func TestFaultyBeforeAndAfter(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	plan, b, w := openFaulty(t,
		backendtest.Fault{Method: "Store.Set", Call: 2, Err: errFault},
		backendtest.Fault{Method: "Store.Set", Call: 3, After: true, Err: errFault},
		backendtest.Fault{Method: "Registry.WriteRecords", Err: errFault},
	)
	s := w.Store()
	get := func() string {
		v, err := s.Get(ctx, "name")
		require.NoError(t, err)
		return string(v)
	}
	require.NoError(t, s.Set(ctx, "name", nil, []byte("one")))
	require.ErrorIs(t, s.Set(ctx, "name", []byte("one"), []byte("two")), errFault)
	assert.Equal(t, "one", get(), "a fault before the call keeps it from happening")
	require.ErrorIs(t, s.Set(ctx, "name", []byte("one"), []byte("three")), errFault)
	assert.Equal(t, "three", get(), "a fault after it does not")
	require.NoError(t, s.Set(ctx, "name", []byte("three"), []byte("four")))
	assert.Equal(t, 4, plan.Calls("Store.Set"))
	assert.Equal(t, 2, plan.Calls("Store.Get"))

	for range 3 {
		require.ErrorIs(t, b.Registry().WriteRecords(ctx, nil), errFault, "call 0 is every call")
	}
	plan.Clear()
	require.NoError(t, b.Registry().WriteRecords(ctx, nil))
	plan.Add(backendtest.Fault{Method: "Store.Content", After: true, Err: errFault})
	_, err := s.Content(ctx, 1, backend.Original)
	require.ErrorIs(t, err, backend.ErrNotFound, "the real call's own error comes first")
}

// TestFaultyEveryMethod injects a fault into each method in turn.
func TestFaultyEveryMethod(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	plan, b, w := openFaulty(t)
	ignore := func(_ any, err error) error { return err }
	r, s, v, k, g := b.Registry(), w.Store(), w.Vectors(), w.Keywords(), w.Graph()
	part := backend.Partition{Class: backend.Memory, Sub: "s"}
	now := time.Now()
	for name, call := range map[string]func() error{
		"Backend.OpenWorkspace":   func() error { return ignore(b.OpenWorkspace(ctx, backendtest.UID("x"))) },
		"Backend.RemoveWorkspace": func() error { return b.RemoveWorkspace(ctx, backendtest.UID("x")) },
		"Backend.Close":           b.Close,
		"Workspace.Close":         w.Close,

		"Registry.CreateTenant":    func() error { return r.CreateTenant(ctx, backend.Tenant{}, 0) },
		"Registry.Tenant":          func() error { return ignore(r.Tenant(ctx, "", "")) },
		"Registry.TenantByUID":     func() error { return ignore(r.TenantByUID(ctx, "")) },
		"Registry.Tenants":         func() error { return ignore(r.Tenants(ctx, "", "", 1)) },
		"Registry.UpdateTenant":    func() error { return ignore(r.UpdateTenant(ctx, backend.Tenant{})) },
		"Registry.DeletingTenants": func() error { return ignore(r.DeletingTenants(ctx, 1)) },
		"Registry.ForgetTenant":    func() error { return r.ForgetTenant(ctx, "") },
		"Registry.SetWake":         func() error { return r.SetWake(ctx, "", now) },
		"Registry.Awake":           func() error { return ignore(r.Awake(ctx, now, 1)) },
		"Registry.WriteRecords":    func() error { return r.WriteRecords(ctx, nil) },
		"Registry.Record":          func() error { return ignore(r.Record(ctx, "", "", "")) },
		"Registry.Records":         func() error { return ignore(r.Records(ctx, "", "", "", 1)) },
		"Registry.AllRecords":      func() error { return ignore(r.AllRecords(ctx, "", "", "", 1)) },
		"Registry.AddDeliveries":   func() error { return r.AddDeliveries(ctx, nil) },
		"Registry.ClaimDeliveries": func() error {
			return ignore(r.ClaimDeliveries(ctx, backend.DeliveryClaim{Now: now, LeaseUntil: now, Token: "t", Limit: 1, PerURL: 1}))
		},
		"Registry.FinishDelivery":  func() error { return r.FinishDelivery(ctx, backend.Delivery{}) },
		"Registry.RequeueDelivery": func() error { return r.RequeueDelivery(ctx, "", "", now) },
		"Registry.Delivery":        func() error { return ignore(r.Delivery(ctx, "", "")) },
		"Registry.Deliveries":      func() error { return ignore(r.Deliveries(ctx, backend.DeliveryQuery{})) },
		"Registry.NextDelivery":    func() error { return ignore(r.NextDelivery(ctx)) },
		"Registry.PruneDeliveries": func() error { return ignore(r.PruneDeliveries(ctx, now, 1)) },
		"Store.Accept":             func() error { return ignore(s.Accept(ctx, nil)) },
		"Store.Claim":              func() error { return ignore(s.Claim(ctx, "t", now, now, 1, 0)) },
		"Store.Renew":              func() error { return s.Renew(ctx, "t", nil, now) },
		"Store.Index":              func() error { return ignore(s.Index(ctx, nil)) },
		"Store.Finish":             func() error { return ignore(s.Finish(ctx, nil)) },
		"Store.Defer":              func() error { return s.Defer(ctx, nil) },
		"Store.Backlog":            func() error { _, _, err := s.Backlog(ctx); return err },
		"Store.Requeue":            func() error { return s.Requeue(ctx, part, "a") },
		"Store.Delete":             func() error { return ignore(s.Delete(ctx, part, nil, backend.DeleteOptions{})) },
		"Store.DeleteSub":          func() error { return ignore(s.DeleteSub(ctx, "", 1)) },
		"Store.Expire":             func() error { _, _, err := s.Expire(ctx, now, 1); return err },
		"Store.UpdateMetadata": func() error {
			return ignore(s.UpdateMetadata(ctx, part, "a", backend.Version{}, nil, nil, nil, nil, now))
		},
		"Store.Sources":           func() error { return ignore(s.Sources(ctx, part, nil)) },
		"Store.SourcesByNum":      func() error { return ignore(s.SourcesByNum(ctx, nil)) },
		"Store.FindSubs":          func() error { return ignore(s.FindSubs(ctx, backend.Memory, "a")) },
		"Store.Content":           func() error { return ignore(s.Content(ctx, 1, backend.Text)) },
		"Store.List":              func() error { _, _, err := s.List(ctx, backend.ListQuery{}); return err },
		"Store.Chunks":            func() error { return ignore(s.Chunks(ctx, nil, now)) },
		"Store.SourceChunks":      func() error { return ignore(s.SourceChunks(ctx, 1, 0, 1, false)) },
		"Store.ChunkNums":         func() error { return ignore(s.ChunkNums(ctx, part, nil)) },
		"Store.Subs":              func() error { return ignore(s.Subs(ctx)) },
		"Store.Stats":             func() error { return ignore(s.Stats(ctx, backend.Memory)) },
		"Store.Entities":          func() error { return ignore(s.Entities(ctx, nil)) },
		"Store.EntitiesByKey":     func() error { return ignore(s.EntitiesByKey(ctx, part, nil)) },
		"Store.Relations":         func() error { return ignore(s.Relations(ctx, backend.RelationQuery{})) },
		"Store.OwnEntities":       func() error { return ignore(s.OwnEntities(ctx, part, []string{"a"})) },
		"Store.MentionsOf":        func() error { return ignore(s.MentionsOf(ctx, part, []string{"a"}, 1)) },
		"Store.Stated":            func() error { return ignore(s.Stated(ctx, backend.StatedQuery{Part: part})) },
		"Store.MergeEntities":     func() error { return ignore(s.MergeEntities(ctx, part, "a", "b", "", now)) },
		"Store.UndoMerge":         func() error { return s.UndoMerge(ctx, 1) },
		"Store.ListEntities":      func() error { return ignore(s.ListEntities(ctx, backend.EntityQuery{})) },
		"Store.Sessions":          func() error { return ignore(s.Sessions(ctx, backend.SessionsQuery{})) },
		"Store.SessionSources":    func() error { return ignore(s.SessionSources(ctx, backend.SessionQuery{})) },
		"Store.Merges":            func() error { return ignore(s.Merges(ctx, part, 0, 1)) },
		"Store.Events":            func() error { return ignore(s.Events(ctx, 1)) },
		"Store.Acknowledge":       func() error { return s.Acknowledge(ctx, 1) },
		"Store.Changes":           func() error { return ignore(s.Changes(ctx, 0, 1)) },
		"Store.PutVectors":        func() error { return ignore(s.PutVectors(ctx, 1, nil)) },
		"Store.MissingVectors":    func() error { return ignore(s.MissingVectors(ctx, 1, 0, 1)) },
		"Store.DropLane":          func() error { return ignore(s.DropLane(ctx, 1, 0, 1)) },
		"Store.Uncompared":        func() error { return ignore(s.Uncompared(ctx, 1, 0, 1)) },
		"Store.Compare":           func() error { return ignore(s.Compare(ctx, 1, nil)) },
		"Store.PutSuccession":     func() error { return ignore(s.PutSuccession(ctx, backend.Succession{})) },
		"Store.UndoSuccession":    func() error { return s.UndoSuccession(ctx, 1, now) },
		"Store.Successions":       func() error { return ignore(s.Successions(ctx, backend.SuccessionQuery{})) },
		"Store.CompactFeed":       func() error { _, err := s.CompactFeed(ctx, 0, 1); return err },
		"Store.Get":               func() error { return ignore(s.Get(ctx, "n")) },
		"Store.Set":               func() error { return s.Set(ctx, "n", nil, nil) },
		"Store.Close":             s.Close,
		"Vectors.SearchVectors":   func() error { return ignore(v.SearchVectors(ctx, backend.VectorQuery{})) },
		"Keywords.SearchKeywords": func() error { return ignore(k.SearchKeywords(ctx, backend.KeywordQuery{})) },
		"Keywords.SearchSessions": func() error { return ignore(k.SearchSessions(ctx, backend.KeywordQuery{})) },
		"Keywords.Terms":          func() error { _, _, _, err := k.Terms(ctx, part, ""); return err },
		"Graph.Neighbours":        func() error { return ignore(g.Neighbours(ctx, part, nil)) },
		"Graph.SessionChunks":     func() error { return ignore(g.SessionChunks(ctx, part, 1, 1)) },
		"Graph.MatchEntities":     func() error { return ignore(g.MatchEntities(ctx, part, nil)) },
		"Graph.Mentions":          func() error { return ignore(g.Mentions(ctx, part, nil)) },
		"Graph.MentionedIn":       func() error { return ignore(g.MentionedIn(ctx, part, nil, 1)) },
		"Graph.Info":              func() error { return ignore(g.Info(ctx, part)) },
		"Vectors.Apply":           func() error { return v.Apply(ctx, nil) },
		"Keywords.Flush":          func() error { return k.Flush(ctx) },
		"Graph.Reset":             func() error { return g.Reset(ctx) },
		"Index.Apply":             func() error { return w.Indexes()[0].Apply(ctx, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			fault := fmt.Errorf("fault of %s", name)
			plan.Clear()
			plan.Add(backendtest.Fault{Method: name, Err: fault})
			before := plan.Calls(name)
			assert.ErrorIs(t, call(), fault)
			assert.Equal(t, before+1, plan.Calls(name), name)
		})
	}
}

// TestFaultyIndexes checks that a fault for one index does not reach the others of its workspace.
func TestFaultyIndexes(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	plan := backendtest.NewPlan(backendtest.Fault{Method: "Keywords.Apply", Err: errFault})
	b := backendtest.Faulty(split{inmem.New(), inmem.New()}, plan)
	w, err := b.OpenWorkspace(ctx, backendtest.UID("w"))
	require.NoError(t, err)
	indexes := w.Indexes()
	require.Len(t, indexes, 2)
	assert.Same(t, indexes[0], w.Vectors(), "the same value serves")
	assert.Same(t, indexes[0], w.Graph())
	assert.Same(t, indexes[1], w.Keywords())
	require.NoError(t, w.Vectors().Apply(ctx, nil))
	require.NoError(t, w.Graph().Apply(ctx, nil))
	require.ErrorIs(t, w.Keywords().Apply(ctx, nil), errFault)
	assert.Equal(t, []int{3, 2, 1, 2}, []int{
		plan.Calls("Index.Apply"), plan.Calls("Vectors.Apply"), plan.Calls("Keywords.Apply"), plan.Calls("Graph.Apply"),
	})
}

// split is a backend whose Keywords are an index of their own.
type split struct {
	backend.Backend
	words *inmem.Backend
}

type splitWorkspace struct {
	backend.Workspace
	words backend.IndexSet
}

func (s split) OpenWorkspace(ctx context.Context, uid string) (backend.Workspace, error) {
	w, err := s.Backend.OpenWorkspace(ctx, uid)
	if err != nil {
		return nil, err
	}
	x, err := s.words.OpenIndexes(ctx, uid)
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return splitWorkspace{w, x}, nil
}

func (w splitWorkspace) Keywords() backend.Keywords { return w.words.Keywords() }

func (w splitWorkspace) Indexes() []backend.Index {
	return append(w.Workspace.Indexes(), w.words.Indexes()...)
}

func TestFaultyOpenAfter(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	b := backendtest.Faulty(inmem.New(), backendtest.NewPlan(backendtest.Fault{Method: "Backend.OpenWorkspace", Call: 1, After: true, Err: errFault}))
	_, err := b.OpenWorkspace(ctx, backendtest.UID("w"))
	require.ErrorIs(t, err, errFault)
	w, err := b.OpenWorkspace(ctx, backendtest.UID("w"))
	require.NoError(t, err, "a workspace that nobody heard of is not left open")
	require.NoError(t, w.Close())
}

func TestFaultyDelayAndBlock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		plan, _, w := openFaulty(t,
			backendtest.Fault{Method: "Store.Get", Call: 1, Delay: time.Minute},
			backendtest.Fault{Method: "Store.Set", Call: 1, Block: true},
			backendtest.Fault{Method: "Store.Set", Call: 2, Block: true, After: true},
			backendtest.Fault{Method: "Store.Set", Call: 3, Block: true, Err: errFault},
			backendtest.Fault{Method: "Workspace.Close", Call: 1, Block: true, Err: errFault},
		)
		s := w.Store()
		start := time.Now()
		_, err := s.Get(ctx, "name")
		require.NoError(t, err)
		assert.Equal(t, time.Minute, time.Since(start))

		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		require.Equal(t, context.DeadlineExceeded, s.Set(short, "name", nil, []byte("one")), "it hangs until its context ends")
		v, err := s.Get(ctx, "name")
		require.NoError(t, err)
		require.Nil(t, v)

		short, cancel = context.WithTimeout(ctx, time.Second)
		defer cancel()
		require.Equal(t, context.DeadlineExceeded, s.Set(short, "name", nil, []byte("two")))
		v, err = s.Get(ctx, "name")
		require.NoError(t, err)
		require.Equal(t, "two", string(v), "it took effect before it hung")

		results := make(chan error, 2)
		go func() { results <- s.Set(ctx, "name", []byte("two"), []byte("three")) }()
		go func() { results <- w.Close() }()
		require.NoError(t, plan.Await(ctx, "Store.Set", 3))
		require.NoError(t, plan.Await(ctx, "Workspace.Close", 1))
		synctest.Wait()
		require.Empty(t, results, "both hang")
		plan.Release()
		plan.Release()
		require.ErrorIs(t, <-results, errFault)
		require.ErrorIs(t, <-results, errFault)
		require.NoError(t, w.Close())

		late, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		require.Equal(t, context.DeadlineExceeded, plan.Await(late, "Store.Set", 99))
	})
}

func TestFaultyConcurrent(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	plan, _, w := openFaulty(t)
	for n := 2; n <= 100; n += 2 {
		plan.Add(backendtest.Fault{Method: "Store.Set", Call: n, Err: errFault})
	}
	var mu sync.Mutex
	failed := 0
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			for range 10 {
				if err := w.Store().Set(ctx, "name", nil, nil); err != nil {
					assert.ErrorIs(t, err, errFault)
					mu.Lock()
					failed++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	assert.Equal(t, 50, failed, "each fault strikes once")
	assert.Equal(t, 100, plan.Calls("Store.Set"))
}
