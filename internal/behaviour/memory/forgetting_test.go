package memory_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/embed/static"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// TestForgetting checks that memories fade with age and not with use, that nothing is lost, and that use counts survive
// a restart. Without the option memories do not fade.
func TestForgetting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx := t.Context()
	opts := &contextmem.Options{Forgetting: true}
	begin := func(o *contextmem.Options) (*contextmem.Service, contextmem.Sub) {
		svc, err := contextmem.Open(ctx, dir, o)
		require.NoError(t, err)
		_, err = svc.EnsureTenant(ctx, contextmem.TenantSpec{ID: "acme"})
		require.NoError(t, err)
		return svc, svc.Tenant("acme").Sub("anna")
	}
	weights := func(s contextmem.Sub, q contextmem.Recall) map[string]float64 {
		t.Helper()
		q.Class, q.MaxResults = contextmem.ClassMemory, 10
		res, err := s.Recall(ctx, q)
		require.NoError(t, err)
		out := map[string]float64{}
		for _, c := range res.Chunks {
			require.NotNil(t, c.Explain)
			out[c.SourceID] = c.Score / (c.Score - c.Explain.Forgetting)
		}
		return out
	}
	svc, s := begin(opts)
	now := time.Now()
	old := now.AddDate(-10, 0, 0)
	servicetest.Remember(t, s, contextmem.Memory{ID: "new", Text: "Jazz concerts are what I like to hear.", Time: now}, contextmem.Memory{ID: "old", Text: "Opera is what I like to hear.", Time: old},
		contextmem.Memory{ID: "gym", Text: "The gym opens at six.", Time: old})
	w := weights(s, contextmem.Recall{Query: "music I like to hear"})
	assert.InDelta(t, 1, w["new"], .01)
	assert.InDelta(t, .5, w["old"], .01)
	for range 5 {
		w = weights(s, contextmem.Recall{Query: "when does the gym open?"})
	}
	assert.Greater(t, w["gym"], 1.3)
	assert.Contains(t, w, "new")
	w = weights(s, contextmem.Recall{Query: "when does the gym open?", AsOf: now})
	assert.Equal(t, 1.0, w["gym"], "the past is as it was")
	require.NoError(t, svc.Close())
	svc, s = begin(opts)
	w = weights(s, contextmem.Recall{Query: "when does the gym open?"})
	assert.Greater(t, w["gym"], 1.3, "use outlives the process")
	require.NoError(t, svc.Close())
	svc, s = begin(nil)
	w = weights(s, contextmem.Recall{Query: "when does the gym open?"})
	assert.Equal(t, 1.0, w["gym"])
	require.NoError(t, svc.Close())
}

// TestConsolidation checks that with the option a memory repeated in the same words supersedes the earlier one, until
// the earlier one is restored.
func TestConsolidation(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for name, on := range map[string]bool{"on": true, "off": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, acme := servicetest.Open(t, &contextmem.Options{Forgetting: on})
			s := acme.Sub("anna")
			servicetest.Remember(t, s, contextmem.Memory{ID: "a", Text: "I live in the old town of Lisbon."}, contextmem.Memory{ID: "b", Text: "The tram to the old town is slow."})
			servicetest.Remember(t, s, contextmem.Memory{ID: "c", Text: "So, I live in the old town of Lisbon!"})
			require.NoError(t, s.WaitRefined(ctx))
			found, err := s.Superseded(ctx, "a", "b", "c")
			require.NoError(t, err)
			require.Equal(t, []bool{on, false, false}, []bool{found[0] != nil, found[1] != nil, found[2] != nil})
			if !on {
				return
			}
			assert.Equal(t, "c", found[0].ID)
			n, err := s.Restore(ctx, "a")
			require.NoError(t, err)
			require.Equal(t, 1, n)
			found, err = s.Superseded(ctx, "a")
			require.NoError(t, err)
			require.Nil(t, found[0])
		})
	}
}

// BenchmarkForgetting measures a recall of 10 of 2,000 memories with and without the option.
func BenchmarkForgetting(b *testing.B) {
	for name, on := range map[string]bool{"off": false, "on": true} {
		b.Run(name, func(b *testing.B) {
			svc, err := contextmem.Open(b.Context(), b.TempDir(), &contextmem.Options{Forgetting: on, Embedder: static.New()})
			require.NoError(b, err)
			defer func() { require.NoError(b, svc.Close()) }()
			_, err = svc.EnsureTenant(b.Context(), contextmem.TenantSpec{ID: "acme"})
			require.NoError(b, err)
			s := svc.Tenant("acme").Sub("anna")
			var ms []contextmem.Memory
			for i := range 2000 {
				ms = append(ms, contextmem.Memory{ID: fmt.Sprint(i), Text: fmt.Sprintf("On day %d we ate %s in room %d.", i, []string{"soup", "bread", "fish", "cake"}[i%4], i%37)})
			}
			_, err = s.AddMemories(b.Context(), contextmem.MemoryBatch{Memories: ms})
			require.NoError(b, err)
			require.NoError(b, svc.Drain(b.Context()))
			require.NoError(b, s.WaitRefined(b.Context()))
			for i := 0; b.Loop(); i++ {
				_, err := s.Recall(b.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: fmt.Sprintf("when did we eat fish in room %d?", i%500)})
				require.NoError(b, err)
			}
		})
	}
}
