package recall_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// reembedding is a deployment that changes its embedder.
type reembedding struct {
	t    *testing.T
	be   *inmem.Backend
	plan *backendtest.Plan
	svc  *contextmem.Service
	sub  contextmem.Sub
}

const reembeddedItems = 150

var (
	movingSubjects = []string{"kettle", "bicycle", "lantern", "piano", "garden"}
	movingPlaces   = []string{"in Oslo", "near the river", "under the stairs"}
)

func reembeddedText(i int) string {
	return fmt.Sprintf("The %s number %d stands %s.", movingSubjects[i%5], i, movingPlaces[i%3])
}

// startReembedding stores items with the embedder turned/0 and opens them with turned/3.
func startReembedding(t *testing.T, to *servicetest.RotatedEmbedder, previous ...contextmem.Embedder) *reembedding {
	t.Helper()
	m := &reembedding{t: t, be: inmem.New()}
	m.open(&contextmem.Options{Embedder: servicetest.NewRotated(0)})
	servicetest.Tenant(t, m.svc, contextmem.TenantSpec{ID: "acme", Schema: servicetest.RaceSchema})
	var ms []contextmem.Memory
	for i := range reembeddedItems {
		ms = append(ms, contextmem.Memory{ID: fmt.Sprint("m", i), Text: reembeddedText(i)})
	}
	servicetest.Remember(t, m.sub, ms...)
	m.reopen(&contextmem.Options{Embedder: to, PreviousEmbedders: previous})
	return m
}

func (m *reembedding) open(o *contextmem.Options) {
	m.t.Helper()
	m.plan = backendtest.NewPlan()
	svc, err := contextmem.New(m.t.Context(), backendtest.Faulty(m.be, m.plan), o)
	require.NoError(m.t, err)
	plan := m.plan
	m.t.Cleanup(func() { plan.Release(); _ = svc.Close() }) // again does nothing
	m.svc, m.sub = svc, svc.Tenant("acme").Sub("")
}

func (m *reembedding) reopen(o *contextmem.Options) {
	m.t.Helper()
	m.plan.Release()
	require.NoError(m.t, m.svc.Close())
	be, err := m.be.Reopen()
	require.NoError(m.t, err)
	m.be = be
	m.open(o)
}

func (m *reembedding) reembed() int {
	m.t.Helper()
	n, err := m.svc.Tenant("acme").Reembed(m.t.Context())
	require.NoError(m.t, err)
	return n
}

// vectorHits returns the ids found by vectors alone.
func (m *reembedding) vectorHits(query string) (ids []string, warnings int) {
	m.t.Helper()
	r, err := m.sub.Recall(m.t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: query, Alpha: contextmem.FixedAlpha(1), MaxResults: 400})
	require.NoError(m.t, err)
	for _, c := range r.Chunks {
		ids = append(ids, c.SourceID)
	}
	return ids, len(r.Warnings)
}

// requireVectorHits checks that vectors alone find all of the items.
func (m *reembedding) requireVectorHits(want []string) {
	m.t.Helper()
	found := map[string]bool{}
	for i, subject := range movingSubjects {
		ids, warnings := m.vectorHits("the " + subject + " " + movingPlaces[i%3])
		require.Zero(m.t, warnings)
		for _, id := range ids {
			found[id] = true
		}
	}
	for _, id := range want {
		assert.True(m.t, found[id], "%s is not found by its vector", id)
	}
}

func reembeddedIDs() (ids []string) {
	for i := range reembeddedItems {
		ids = append(ids, fmt.Sprint("m", i))
	}
	return ids
}

// duringReembed runs meanwhile while Reembed is paused in a call of a store's method.
func (m *reembedding) duringReembed(method string, call int, meanwhile func()) int {
	m.t.Helper()
	h := &servicetest.PausableStore{T: m.t, Plan: m.plan}
	var n int
	var err error
	h.Plan.Add(backendtest.Fault{Method: method, Call: call, Block: true})
	done := make(chan struct{})
	go func() {
		defer close(done)
		n, err = m.svc.Tenant("acme").Reembed(m.t.Context())
	}()
	require.NoError(m.t, m.plan.Await(m.t.Context(), method, call))
	meanwhile()
	m.plan.Release()
	<-done
	require.NoError(m.t, err)
	return n
}

func TestRecallDuringReembed(t *testing.T) {
	t.Parallel()
	for _, at := range []struct {
		method string
		call   int
	}{{"Store.PutVectors", 1}, {"Store.PutVectors", 2}, {"Store.MissingVectors", 3}, {"Store.Set", 2}, {"Store.DropLane", 1}, {"Store.Set", 3}} {
		t.Run(fmt.Sprintf("old vectors until %s %d", at.method, at.call), func(t *testing.T) {
			t.Parallel()
			m := startReembedding(t, servicetest.NewRotated(3), servicetest.NewRotated(0))
			before, warnings := m.vectorHits("the kettle in Oslo")
			require.Zero(t, warnings)
			require.Len(t, before, reembeddedItems)
			n := m.duringReembed(at.method, at.call, func() {
				ids, warnings := m.vectorHits("the kettle in Oslo")
				assert.Zero(t, warnings)
				assert.Equal(t, before, ids, "while it is under way")
			})
			assert.Equal(t, reembeddedItems, n)
			after, _ := m.vectorHits("the kettle in Oslo")
			assert.Equal(t, before, after, "and at the end")
			assert.Zero(t, m.reembed(), "it is done")
			m.reopen(&contextmem.Options{Embedder: servicetest.NewRotated(3)})
			again, _ := m.vectorHits("the kettle in Oslo")
			assert.Equal(t, before, again, "after a restart without the old embedder too")
		})
	}
	t.Run("keywords without the old embedder", func(t *testing.T) {
		t.Parallel()
		m := startReembedding(t, servicetest.NewRotated(3))
		_, err := m.sub.Recall(t.Context(), contextmem.Recall{Query: "kettle"})
		require.ErrorIs(t, err, contextmem.ErrConflict)
		m.duringReembed("Store.PutVectors", 2, func() {
			r, err := m.sub.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "kettle number 5"})
			require.NoError(t, err)
			require.NotEmpty(t, r.Chunks)
			require.Len(t, r.Warnings, 1)
			assert.Contains(t, r.Warnings[0].Message, "keywords alone")
		})
		m.requireVectorHits(reembeddedIDs())
	})
	t.Run("the old embedder serves tenants that were not moved", func(t *testing.T) {
		t.Parallel()
		m := startReembedding(t, servicetest.NewRotated(3), servicetest.NewRotated(0))
		servicetest.Remember(t, m.sub, contextmem.Memory{ID: "new", Text: "A new bicycle under the stairs."})
		m.requireVectorHits(append(reembeddedIDs(), "new"))
	})
}

// TestReembedLosesNothing changes items after Reembed has read them and before it stores their vectors.
func TestReembedLosesNothing(t *testing.T) {
	t.Parallel()
	for name, previous := range map[string][]contextmem.Embedder{"with the old embedder": {servicetest.NewRotated(0)}, "without": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := startReembedding(t, servicetest.NewRotated(3), previous...)
			want := reembeddedIDs()
			m.duringReembed("Store.PutVectors", 1, func() {
				var upserts []contextmem.Memory
				var gone []string
				for i := 0; i < reembeddedItems; i++ {
					switch i % 4 {
					case 0:
						upserts = append(upserts, contextmem.Memory{ID: fmt.Sprint("m", i), Text: "Changed: " + reembeddedText(i)})
					case 1:
						if i%12 == 1 {
							gone = append(gone, fmt.Sprint("m", i))
						}
					case 2:
						_, err := m.sub.EditMetadata(t.Context(), contextmem.EditMetadataRequest{ID: fmt.Sprint("m", i), Metadata: map[string]any{"kind": "edited"}})
						require.NoError(t, err)
					}
				}
				upserts = append(upserts, contextmem.Memory{ID: "added", Text: "The piano that was added stands in Oslo."})
				servicetest.Remember(t, m.sub, upserts...)
				_, err := m.sub.DeleteItems(t.Context(), contextmem.DeleteItemsRequest{IDs: gone})
				require.NoError(t, err)
				want = append(slices.DeleteFunc(want, func(id string) bool { return slices.Contains(gone, id) }), "added")
			})
			m.requireVectorHits(want)
			assert.Zero(t, m.reembed())
			for i := range reembeddedItems {
				id := fmt.Sprint("m", i)
				f, err := m.sub.Fetch(t.Context(), contextmem.FetchRequest{ID: id})
				switch {
				case !slices.Contains(want, id):
					assert.ErrorIs(t, err, contextmem.ErrNotFound, "%s came back", id)
				case i%4 == 0:
					assert.Equal(t, "Changed: "+reembeddedText(i), f.Text)
				default:
					assert.Equal(t, reembeddedText(i), f.Text)
				}
			}
			edited := servicetest.RecallIDs(t, m.sub, contextmem.Recall{Class: contextmem.ClassMemory, Query: "kettle", MaxResults: 400, Filters: contextmem.Filters{Metadata: map[string]any{"kind": "edited"}}})
			assert.NotEmpty(t, edited)
		})
	}
}

func TestReembedContinuesAfterRestart(t *testing.T) {
	t.Parallel()
	t.Run("where it was cut off", func(t *testing.T) {
		t.Parallel()
		e := servicetest.NewRotated(3)
		m := startReembedding(t, e)
		total := 0
		for range 10 {
			ctx, cancel := context.WithCancel(t.Context())
			call := m.plan.Calls("Store.PutVectors") + 2
			m.plan.Add(backendtest.Fault{Method: "Store.PutVectors", Call: call, Err: errors.New("disk full")})
			n, err := m.svc.Tenant("acme").Reembed(ctx)
			cancel()
			total += n
			if err == nil {
				break
			}
			m.reopen(&contextmem.Options{Embedder: e})
		}
		assert.Equal(t, reembeddedItems, total, "each item once")
		m.requireVectorHits(reembeddedIDs())
	})
	t.Run("after the embedder was out of reach", func(t *testing.T) {
		t.Parallel()
		e := servicetest.NewRotated(3)
		m := startReembedding(t, e, servicetest.NewRotated(0))
		e.Fail.Store(true)
		_, err := m.svc.Tenant("acme").Reembed(t.Context())
		require.Error(t, err)
		m.requireVectorHits(reembeddedIDs())
		e.Fail.Store(false)
		assert.Equal(t, reembeddedItems, m.reembed())
		m.requireVectorHits(reembeddedIDs())
	})
	t.Run("after it changed over", func(t *testing.T) {
		t.Parallel()
		m := startReembedding(t, servicetest.NewRotated(3))
		m.plan.Add(backendtest.Fault{Method: "Store.DropLane", Err: errors.New("disk full")})
		_, err := m.svc.Tenant("acme").Reembed(t.Context())
		require.ErrorContains(t, err, "disk full")
		m.requireVectorHits(reembeddedIDs())
		m.reopen(&contextmem.Options{Embedder: servicetest.NewRotated(3)})
		m.requireVectorHits(reembeddedIDs())
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.NoError(t, m.plan.Await(ctx, "Store.DropLane", 1), "the old vectors go by themselves")
		require.NoError(t, m.svc.Drain(t.Context()))
		assert.Zero(t, m.reembed())
	})
	t.Run("to a third embedder, and back to the first", func(t *testing.T) {
		t.Parallel()
		m := startReembedding(t, servicetest.NewRotated(3))
		m.plan.Add(backendtest.Fault{Method: "Store.PutVectors", Call: 2, Err: errors.New("disk full")})
		_, err := m.svc.Tenant("acme").Reembed(t.Context())
		require.Error(t, err)
		m.reopen(&contextmem.Options{Embedder: servicetest.NewRotated(7)})
		assert.Equal(t, reembeddedItems, m.reembed(), "what the second embedder made does not count")
		m.requireVectorHits(reembeddedIDs())
		m.reopen(&contextmem.Options{Embedder: servicetest.NewRotated(0)})
		assert.Equal(t, reembeddedItems, m.reembed())
		m.requireVectorHits(reembeddedIDs())
	})
	t.Run("given up for the embedder before", func(t *testing.T) {
		t.Parallel()
		m := startReembedding(t, servicetest.NewRotated(3), servicetest.NewRotated(0))
		m.plan.Add(backendtest.Fault{Method: "Store.PutVectors", Call: 2, Err: errors.New("disk full")})
		_, err := m.svc.Tenant("acme").Reembed(t.Context())
		require.Error(t, err)
		m.reopen(&contextmem.Options{Embedder: servicetest.NewRotated(0)})
		m.requireVectorHits(reembeddedIDs())
		assert.Zero(t, m.reembed())
		m.requireVectorHits(reembeddedIDs())
		m.reopen(&contextmem.Options{Embedder: servicetest.NewRotated(3)})
		assert.Equal(t, reembeddedItems, m.reembed(), "nothing is left of the first try")
		m.requireVectorHits(reembeddedIDs())
	})
}

func TestPreviousEmbeddersAreChecked(t *testing.T) {
	t.Parallel()
	_, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{PreviousEmbedders: []contextmem.Embedder{servicetest.NewRotated(0), nil, servicetest.OtherEmbedder{Gate: servicetest.NewGate(), Name: "", Size: 0}}})
	require.ErrorIs(t, err, contextmem.ErrInvalid)
	for _, want := range []string{"PreviousEmbedders[1]: is nil", "PreviousEmbedders[2]: dimension 0", "PreviousEmbedders[2]: its model"} {
		t.Run(want, func(t *testing.T) {
			assert.True(t, strings.Contains(err.Error(), want), "%v: %s", err, want)
		})
	}
}
