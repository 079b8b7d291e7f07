package ingest_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// TestRename checks that a renamed tenant keeps its data under its new id only, also after the deployment is opened
// again.
func TestRename(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	svc, err := contextmem.Open(t.Context(), dir, nil)
	require.NoError(t, err)
	old := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
	servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "taken"})
	_, err = old.Sub("anna").AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "m", Text: "The kettle is on the left shelf."}}})
	require.NoError(t, err)
	_, err = old.Rename(t.Context(), "taken")
	require.ErrorIs(t, err, fault.ErrExists)
	_, err = old.Rename(t.Context(), "not a name")
	require.ErrorIs(t, err, fault.ErrInvalid)
	_, err = svc.Tenant("nobody").Rename(t.Context(), "somebody")
	require.ErrorIs(t, err, fault.ErrNotFound)
	k, _, err := svc.CreateKey(t.Context(), contextmem.KeySpec{Owner: "o", Tenants: []string{"acme"}})
	require.NoError(t, err)
	_, err = old.Rename(t.Context(), "acme-2")
	require.ErrorIs(t, err, fault.ErrConflict)
	require.ErrorContains(t, err, "a key is restricted to it")
	require.NoError(t, svc.RevokeKey(t.Context(), k.ID))

	renamed, err := old.Rename(t.Context(), "acme-2")
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, svc.Drain(t.Context()))
		res, err := svc.Tenant("acme-2").Sub("anna").Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "kettle"})
		require.NoError(t, err)
		require.Len(t, res.Chunks, 1)
		_, err = svc.Tenant("acme").Sub("anna").Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "kettle"})
		require.ErrorIs(t, err, fault.ErrNotFound)
		require.NoError(t, svc.Close())
		svc, err = contextmem.Open(t.Context(), dir, nil)
		require.NoError(t, err)
	}
	defer func() { require.NoError(t, svc.Close()) }()
	require.Equal(t, "acme-2", renamed.ID())
	// The old id is free.
	_, err = svc.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	// Of several who rename at once one wins.
	var wg sync.WaitGroup
	var won sync.Map
	for _, id := range []string{"a", "b", "c", "d"} {
		wg.Go(func() {
			if _, err := svc.Tenant("acme-2").Rename(t.Context(), id); err == nil {
				won.Store(id, true)
			}
		})
	}
	wg.Wait()
	n := 0
	won.Range(func(id, _ any) bool {
		n++
		_, err := svc.Tenant(id.(string)).Info(t.Context())
		require.NoError(t, err)
		return true
	})
	require.Equal(t, 1, n)
}

// instructionRecorder is an extractor that records the instructions that it gets.
type instructionRecorder struct {
	mu   sync.Mutex
	said map[string]string // by text
}

func (h *instructionRecorder) Extract(_ context.Context, ins []extract.Input) ([]extract.Output, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, in := range ins {
		h.said[in.Text] = in.Instructions
	}
	return make([]extract.Output, len(ins)), nil
}

func TestTenantInstructions(t *testing.T) {
	t.Parallel()
	h := &instructionRecorder{said: map[string]string{}}
	svc, _ := servicetest.Open(t, &contextmem.Options{Extractor: h})
	acme := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "boats", Instructions: "Read the names of boats."})
	add := func(m ...contextmem.Memory) {
		_, err := acme.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: m})
		require.NoError(t, err)
		require.NoError(t, svc.Drain(t.Context()))
	}
	add(contextmem.Memory{Text: "Anna sails the Marlin.", Infer: true},
		contextmem.Memory{Text: "Bert sails the Heron.", Infer: true, Instructions: "Read the names of people."},
		contextmem.Memory{Text: "Carl sails the Swift."})
	_, err := acme.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{{Name: "a.txt", Data: []byte("Dora sails the Tern.")}}})
	require.NoError(t, err)
	require.NoError(t, svc.Drain(t.Context()))
	require.NoError(t, acme.SetInstructions(t.Context(), ""))
	add(contextmem.Memory{Text: "Emil sails the Gull.", Infer: true})
	i, err := acme.Info(t.Context())
	require.NoError(t, err)
	require.Empty(t, i.Instructions)
	h.mu.Lock()
	defer h.mu.Unlock()
	require.Equal(t, map[string]string{"Anna sails the Marlin.": "Read the names of boats.", "Bert sails the Heron.": "Read the names of people.", "Carl sails the Swift.": "",
		"Dora sails the Tern.": "Read the names of boats.", "Emil sails the Gull.": ""}, h.said)
	require.ErrorIs(t, acme.SetInstructions(t.Context(), string(make([]byte, 70_000))), fault.ErrInvalid)
}

func (h *instructionRecorder) Name() string { return "heard" }
