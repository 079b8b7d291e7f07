package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/embed/static"
	"github.com/contextmem/contextmem/internal/servicetest"
)

func TestRecallNeverReturnsQueued(t *testing.T) {
	t.Parallel()
	g := servicetest.NewGate()
	_, acme := servicetest.Open(t, &contextmem.Options{Embedder: g})
	s := acme.Sub("a")
	hold := make(chan struct{})
	g.Set(hold, nil)
	_, err := s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "q", Text: "The harbour lights are green."}}})
	require.NoError(t, err)
	require.Empty(t, servicetest.Find(t, s, "harbour lights"))
	st, err := s.Status(t.Context(), "q")
	require.NoError(t, err)
	require.False(t, st[0].Status.Terminal())
	close(hold)
	servicetest.Done(t, s, "q")
	require.Contains(t, servicetest.Find(t, s, "harbour lights"), "q")
}

func TestRecallNeverReturnsDeleted(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	s := acme.Sub("a")
	servicetest.Remember(t, s, contextmem.Memory{ID: "x", Text: "The harbour lights are green."}, contextmem.Memory{ID: "y", Text: "The harbour master is called Ole."})
	require.Contains(t, servicetest.Find(t, s, "harbour"), "x")
	res, err := s.DeleteItems(t.Context(), contextmem.DeleteItemsRequest{IDs: []string{"x", "nothing"}})
	require.NoError(t, err)
	require.Equal(t, 1, res.Deleted)
	require.ErrorIs(t, res.Items[1].Err, contextmem.ErrNotFound)
	got := servicetest.Find(t, s, "harbour")
	require.NotContains(t, got, "x")
	require.Contains(t, got, "y")
	res, err = s.DeleteItems(t.Context(), contextmem.DeleteItemsRequest{IDs: []string{"x"}})
	require.NoError(t, err)
	require.ErrorIs(t, res.Items[0].Err, contextmem.ErrNotFound)
}

func TestRecallNeverReturnsForeign(t *testing.T) {
	t.Parallel()
	svc, acme := servicetest.Open(t, nil)
	other := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "other"})
	org := svc.Org("rivals")
	_, err := org.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	rival := org.Tenant("acme")
	require.NoError(t, rival.WaitReady(t.Context()))
	places := map[string]contextmem.Sub{"acme-a": acme.Sub("a"), "acme-b": acme.Sub("b"), "other-a": other.Sub("a"), "rival-a": rival.Sub("a")}
	for id, s := range places {
		servicetest.Remember(t, s, contextmem.Memory{ID: id, Text: "The harbour lights are green."})
	}
	for id, s := range places {
		for _, got := range servicetest.Find(t, s, "harbour lights") {
			require.Equal(t, id, got)
		}
		st, err := s.Status(t.Context(), "acme-a", "acme-b", "other-a", "rival-a")
		require.NoError(t, err)
		for _, x := range st {
			require.Equal(t, x.ID != id, x.Unknown, "%s seen from %s", x.ID, id)
		}
	}
	_, err = svc.Org("rivals").Tenant("other").Info(t.Context())
	require.ErrorIs(t, err, contextmem.ErrNotFound)
}

func TestRecallNeverReturnsExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc, err := contextmem.New(t.Context(), inmem.New(), nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, svc.Close()) }()
		s := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("a")
		servicetest.Remember(t, s, contextmem.Memory{ID: "short", Text: "The harbour lights are green.", TTL: time.Minute}, contextmem.Memory{ID: "long", Text: "The harbour master is called Ole."})
		require.Contains(t, servicetest.Find(t, s, "harbour"), "short")
		time.Sleep(59 * time.Second)
		require.Contains(t, servicetest.Find(t, s, "harbour"), "short")
		time.Sleep(time.Second)
		got := servicetest.Find(t, s, "harbour")
		require.NotContains(t, got, "short")
		require.Contains(t, got, "long")
		st, err := s.Status(t.Context(), "short")
		require.NoError(t, err)
		require.True(t, st[0].Unknown)
		synctest.Wait() // the sweep
		p, err := s.List(t.Context(), contextmem.ListRequest{Class: contextmem.ClassMemory})
		require.NoError(t, err)
		require.Equal(t, 1, p.Total)
	})
}

func TestTransientFailureIsRetriedAndVisible(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := servicetest.NewGate()
		g.Set(nil, context.DeadlineExceeded)
		svc, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{Embedder: g})
		require.NoError(t, err)
		defer func() { require.NoError(t, svc.Close()) }()
		s := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("a")
		_, err = s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "m", Text: "The kettle is on the shelf."}}})
		require.NoError(t, err)
		synctest.Wait()
		st, err := s.Status(t.Context(), "m")
		require.NoError(t, err)
		require.False(t, st[0].Status.Terminal())
		require.Equal(t, "E3002", st[0].ErrorCode)
		g.Set(nil, nil)
		require.NoError(t, svc.Drain(t.Context()))
		servicetest.Done(t, s, "m")
	})
}

func TestPoisonItemEndsErrored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := servicetest.NewGate()
		g.Only = "kettle"
		g.Set(nil, errors.New("refused"))
		svc, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{Embedder: g, MaxAttempts: 3})
		require.NoError(t, err)
		defer func() { require.NoError(t, svc.Close()) }()
		s := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("a")
		_, err = s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "m", Text: "The kettle is on the shelf."}}})
		require.NoError(t, err)
		for i := range 40 { // others go on all the time
			_, err := s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: fmt.Sprint("o", i), Text: "The lamp is on the table."}}})
			require.NoError(t, err)
			time.Sleep(time.Minute)
			st, err := s.Status(t.Context(), fmt.Sprint("o", max(0, i-10)))
			require.NoError(t, err)
			if i >= 10 {
				require.Equal(t, contextmem.StatusCompleted, st[0].Status)
			}
		}
		st, err := s.Wait(t.Context(), "m")
		require.NoError(t, err)
		require.Equal(t, contextmem.StatusErrored, st[0].Status)
		require.Less(t, st[0].Attempts, 100)
		require.NotEmpty(t, st[0].ErrorMessage)
		g.Set(nil, nil)
		require.NoError(t, s.Retry(t.Context(), contextmem.ClassMemory, "m"))
		servicetest.Done(t, s, "m")
		require.ErrorIs(t, s.Retry(t.Context(), contextmem.ClassMemory, "m"), contextmem.ErrConflict)
	})
}

func TestOutageOfHoursLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := servicetest.NewGate()
		g.Set(nil, errors.New("connection refused"))
		svc, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{Embedder: g})
		require.NoError(t, err)
		defer func() { require.NoError(t, svc.Close()) }()
		s := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("a")
		var ids []string
		for i := range 600 {
			ids = append(ids, fmt.Sprint("m", i))
			_, err = s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: ids[i], Text: fmt.Sprint("The kettle is on shelf ", i)}}})
			require.NoError(t, err)
			time.Sleep(30 * time.Second) // five hours in all
		}
		st, err := s.Status(t.Context(), ids...)
		require.NoError(t, err)
		tries := 0
		for _, x := range st {
			require.False(t, x.Status.Terminal())
			tries += x.Attempts
		}
		require.Less(t, tries, 600, "one item at a time finds out whether the embedder is back")
		g.Set(nil, nil)
		time.Sleep(20 * time.Minute) // at most twice the longest pause, and its jitter
		servicetest.Done(t, s, ids...)
	})
}

func TestItemsOfAnEndlessOutageEndErrored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := servicetest.NewGate()
		g.Set(nil, errors.New("connection refused"))
		svc, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{Embedder: g, RetryFor: time.Hour})
		require.NoError(t, err)
		defer func() { require.NoError(t, svc.Close()) }()
		s := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("a")
		_, err = s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "m", Text: "The kettle is on the shelf."}}})
		require.NoError(t, err)
		began := time.Now()
		st, err := s.Wait(t.Context(), "m")
		require.NoError(t, err)
		require.Equal(t, contextmem.StatusErrored, st[0].Status)
		require.Greater(t, time.Since(began), 50*time.Minute)
		require.Less(t, time.Since(began), 2*time.Hour)
	})
}

func TestDeleteCancelsIndexing(t *testing.T) {
	t.Parallel()
	g := servicetest.NewGate()
	svc, acme := servicetest.Open(t, &contextmem.Options{Embedder: g})
	s := acme.Sub("a")
	hold := make(chan struct{})
	g.Set(hold, nil)
	_, err := s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "m", Text: "The kettle is on the shelf."}}})
	require.NoError(t, err)
	kept, err := s.DeleteItems(t.Context(), contextmem.DeleteItemsRequest{IDs: []string{"m"}, KeepIndexing: true})
	require.NoError(t, err)
	require.ErrorIs(t, kept.Items[0].Err, contextmem.ErrProcessing)
	res, err := s.DeleteItems(t.Context(), contextmem.DeleteItemsRequest{IDs: []string{"m"}})
	require.NoError(t, err)
	require.Equal(t, 1, res.Deleted)
	close(hold)
	require.NoError(t, svc.Drain(t.Context()))
	require.Empty(t, servicetest.Find(t, s, "kettle"))
}

func TestUpsertReplacesAndKeepsTheOldUntilThen(t *testing.T) {
	t.Parallel()
	g := servicetest.NewGate()
	svc, acme := servicetest.Open(t, &contextmem.Options{Embedder: g})
	s := acme.Sub("a")
	servicetest.Remember(t, s, contextmem.Memory{ID: "m", Text: "The kettle is on the left shelf."})
	again, err := s.AddMemories(t.Context(), contextmem.MemoryBatch{FailIfExists: true, Memories: []contextmem.Memory{{ID: "m", Text: "x"}, {ID: "n", Text: "The spoons are in the drawer."}}})
	require.NoError(t, err)
	require.ErrorIs(t, again.Items[0].Err, contextmem.ErrExists)
	require.Equal(t, 1, again.Accepted)
	hold := make(chan struct{})
	g.Set(hold, nil)
	_, err = s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "m", Text: "The kettle moved to the cellar."}}})
	require.NoError(t, err)
	res, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "kettle"})
	require.NoError(t, err)
	require.Contains(t, strings.Join(servicetest.Texts(res), "|"), "left shelf")
	close(hold)
	require.NoError(t, svc.Drain(t.Context()))
	res, err = s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "kettle"})
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(strings.Join(servicetest.Texts(res), "|"), "kettle"))
	require.Contains(t, strings.Join(servicetest.Texts(res), "|"), "cellar")
}

func TestCloseEndsWithAHangingEmbedder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		h := &servicetest.HangingEmbedder{Embedder: static.New(), Release: release}
		svc, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{Embedder: h})
		require.NoError(t, err)
		s := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("a")
		_, err = s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{Text: "The kettle is on the shelf."}}})
		require.NoError(t, err)
		synctest.Wait()
		start := time.Now()
		require.Error(t, svc.Close(), "it says that a worker still ran")
		require.Less(t, time.Since(start), time.Minute)
		_, err = s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{Text: "x"}}})
		require.ErrorIs(t, err, contextmem.ErrClosed)
		close(release)
	})
}

// TestCompletedIsFound checks that a caller who has just read that an item is completed finds it and its facts in the
// next recall, while other items are being ingested.
func TestCompletedIsFound(t *testing.T) {
	t.Parallel()
	svc, err := contextmem.Open(t.Context(), t.TempDir(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, svc.Close()) })
	acme := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			for i := range 10 {
				s := acme.Sub(fmt.Sprint("sub", n, "-", i))
				res, err := s.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: "one", Name: "one.txt", Data: []byte("Anna Lind works at Zorblax.")}}})
				if !assert.NoError(t, err) {
					return
				}
				for done := false; !done; {
					st, err := s.Status(t.Context(), res.IDs()...)
					if !assert.NoError(t, err) {
						return
					}
					done = st[0].Status == contextmem.StatusCompleted
				}
				found, err := s.Recall(t.Context(), contextmem.Recall{Query: "Where does Anna Lind work?", GraphContext: true})
				if !assert.NoError(t, err) || !assert.Len(t, found.Chunks, 1) || !assert.Len(t, found.Graph.QueryPaths, 1, "the entity that the question names") {
					return
				}
			}
		})
	}
	wg.Wait()
}
