package contextmem_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/inmem"
)

// newBackend returns the backend of a service. backend/postgres replaces it to run these tests on its own.
var newBackend = func(testing.TB) backend.Backend { return inmem.New() }

// open returns a service in memory with a tenant "acme" that is ready.
func open(t *testing.T, o *contextmem.Options) (*contextmem.Service, contextmem.Tenant) {
	t.Helper()
	svc, err := contextmem.New(t.Context(), newBackend(t), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, svc.Close()) })
	return svc, tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
}

func tenant(t *testing.T, svc *contextmem.Service, spec contextmem.TenantSpec) contextmem.Tenant {
	t.Helper()
	_, err := svc.CreateTenant(t.Context(), spec)
	require.NoError(t, err)
	tn := svc.Tenant(spec.ID)
	require.NoError(t, tn.WaitReady(t.Context()))
	return tn
}

func remember(t *testing.T, s contextmem.Sub, ms ...contextmem.Memory) []string {
	t.Helper()
	res, err := s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: ms})
	require.NoError(t, err)
	require.Zero(t, res.Failed)
	ids := res.IDs()
	done(t, s, ids...)
	return ids
}

// done waits until the items are completed.
func done(t *testing.T, s contextmem.Sub, ids ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	st, err := s.Wait(ctx, ids...)
	require.NoError(t, err)
	for _, x := range st {
		require.Equal(t, contextmem.StatusCompleted, x.Status, "%s: %s %s", x.ID, x.ErrorCode, x.ErrorMessage)
	}
}

func texts(r *contextmem.Result) []string {
	var out []string
	for _, c := range r.Chunks {
		out = append(out, c.Text)
	}
	return out
}

func TestRememberAndRecall(t *testing.T) {
	t.Parallel()
	_, acme := open(t, nil)
	alice := acme.Sub("alice")
	remember(t, alice,
		contextmem.Memory{ID: "m1", Text: "Alice takes her coffee black, without sugar."},
		contextmem.Memory{ID: "m2", Text: "The quarterly report is due on Friday."},
		contextmem.Memory{ID: "m3", Text: "Alice's sister lives in Lisbon."})
	res, err := alice.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "what does she like to drink in the morning?"})
	require.NoError(t, err)
	require.NotEmpty(t, res.Chunks)
	require.Equal(t, "m1", res.Chunks[0].SourceID, "%q", texts(res))
	require.NotNil(t, res.Chunks[0].Explain)
	require.NotEmpty(t, res.RequestID)
}

func TestKnowledgeFile(t *testing.T) {
	t.Parallel()
	_, acme := open(t, nil)
	md := "# Returns\n\nCustomers may send goods back within thirty days.\n\n# Shipping\n\nParcels leave the warehouse every evening.\n"
	res, err := acme.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{{Name: "policy.md", Data: []byte(md)}}})
	require.NoError(t, err)
	done(t, acme.Sub(""), res.IDs()...)
	for _, mode := range []contextmem.Mode{contextmem.ModeFast, contextmem.ModeThinking} {
		t.Run(string(mode), func(t *testing.T) {
			hits, err := acme.Recall(t.Context(), contextmem.Recall{Query: "refund period", Mode: mode, GraphContext: true})
			require.NoError(t, err)
			require.NotEmpty(t, hits.Chunks, mode)
			require.True(t, strings.Contains(hits.Chunks[0].Text, "thirty days"), "%q", texts(hits))
			require.Equal(t, "Returns", hits.Chunks[0].Title, "of the document, not of the file")
		})
	}
	f, err := acme.Fetch(t.Context(), contextmem.FetchRequest{ID: res.Items[0].ID})
	require.NoError(t, err)
	require.Equal(t, md, f.Text)
}
