package recall_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// slowEmbedder is a slow embedder whose vectors are unrelated to those of the fast one.
type slowEmbedder struct{ *servicetest.RotatedEmbedder }

func newSlowEmbedder() *slowEmbedder { return &slowEmbedder{servicetest.NewRotated(5)} }

func (e *slowEmbedder) Slow() bool { return true }

// openWithSlowEmbedder opens a deployment with a slow embedder.
func openWithSlowEmbedder(t *testing.T, be *inmem.Backend, e contextmem.Embedder) (*contextmem.Service, contextmem.Sub) {
	t.Helper()
	svc, err := contextmem.New(t.Context(), be, &contextmem.Options{Embedder: e})
	require.NoError(t, err)
	t.Cleanup(func() { _ = svc.Close() })
	return svc, svc.Tenant("acme").Sub("")
}

func reembeddedMemories(from, to int) (ms []contextmem.Memory) {
	for i := from; i < to; i++ {
		ms = append(ms, contextmem.Memory{ID: fmt.Sprint("m", i), Text: reembeddedText(i)})
	}
	return ms
}

// refinedHits recalls by vectors alone. It returns the number of hits, and how many of them the slow embedder has
// scored.
func refinedHits(t *testing.T, s contextmem.Sub, query string) (hits, refined int) {
	t.Helper()
	r, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: query, Alpha: contextmem.FixedAlpha(1), MaxResults: 400})
	require.NoError(t, err)
	for _, c := range r.Chunks {
		if c.Explain.Refined {
			refined++
		}
	}
	return len(r.Chunks), refined
}

// TestTwoSpeeds checks that while the slow embedder is down, the fast one completes and finds items. Refined items are
// found beside others, and in the end all are refined.
func TestTwoSpeeds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newSlowEmbedder()
		svc, sub := openWithSlowEmbedder(t, inmem.New(), e)
		servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"})

		servicetest.Remember(t, sub, reembeddedMemories(0, 40)...)
		hits, refined := refinedHits(t, sub, "the kettle in Oslo")
		require.Positive(t, hits)
		require.Equal(t, hits, refined, "a few items are refined before they are completed")
		require.GreaterOrEqual(t, e.Texts.Load(), int64(40)) // comparing memories asks for more

		e.Fail.Store(true)
		servicetest.Remember(t, sub, reembeddedMemories(40, 80)...)
		all, err := sub.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: reembeddedText(77), Mode: contextmem.ModeFast})
		require.NoError(t, err)
		require.Equal(t, "m77", all.Chunks[0].SourceID)
		assert.False(t, all.Chunks[0].Explain.Refined)
		both, some := refinedHits(t, sub, "the kettle in Oslo")
		assert.Greater(t, both, hits, "new ones are found beside those that are refined")
		assert.Equal(t, hits, some)

		e.Fail.Store(false)
		require.NoError(t, sub.WaitRefined(t.Context()))
		end, refined := refinedHits(t, sub, "the kettle in Oslo")
		assert.Equal(t, both, end)
		assert.Equal(t, end, refined)
		require.NoError(t, svc.Close())
	})
}

// TestRefinementContinuesAfterRestart checks that items not refined before the process ended are refined after the next
// start.
func TestRefinementContinuesAfterRestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newSlowEmbedder()
		e.Fail.Store(true)
		be := inmem.New()
		svc, sub := openWithSlowEmbedder(t, be, e)
		servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
		servicetest.Remember(t, sub, reembeddedMemories(0, 30)...)
		_, refined := refinedHits(t, sub, "the kettle in Oslo")
		require.Zero(t, refined)
		require.NoError(t, svc.Close())

		e.Fail.Store(false)
		be, err := be.Reopen()
		require.NoError(t, err)
		svc, sub = openWithSlowEmbedder(t, be, e)
		require.NoError(t, sub.WaitRefined(t.Context()))
		hits, refined := refinedHits(t, sub, "the kettle in Oslo")
		require.Positive(t, hits)
		require.Equal(t, hits, refined)
		require.NoError(t, svc.Close())
	})
}
