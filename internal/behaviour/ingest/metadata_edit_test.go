package ingest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/servicetest"
)

func TestEditMetadata(t *testing.T) {
	t.Parallel()
	svc, _ := servicetest.Open(t, nil)
	tn := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "f", Schema: []contextmem.Field{{Name: "dept", Match: true}, {Name: "topic", Sparse: true, Dense: true}}})
	s := tn.Sub("a")
	servicetest.Remember(t, s, contextmem.Memory{ID: "m", Text: "The kettle is on the shelf.", Metadata: map[string]any{"dept": "a", "topic": "teatime"}, Additional: map[string]any{"x": 1, "y": 2}})
	by := func(dept string) []string {
		return servicetest.RecallIDs(t, s, contextmem.Recall{Query: "kettle", Filters: contextmem.Filters{Metadata: map[string]any{"dept": dept}}})
	}
	r, err := s.EditMetadata(t.Context(), contextmem.EditMetadataRequest{ID: "m", Metadata: map[string]any{"dept": "b"}, Additional: map[string]any{"x": nil, "z": "n"}})
	require.NoError(t, err)
	require.Equal(t, []string{"dept"}, r.MetadataKeys)
	require.Equal(t, []string{"x", "z"}, r.AdditionalKeys)
	require.True(t, r.Updated)
	require.False(t, r.Reembedded)
	require.Equal(t, 1, r.Chunks)
	require.Equal(t, contextmem.ClassMemory, r.Class)
	require.Empty(t, by("a"))
	require.Equal(t, []string{"m"}, by("b"))
	res, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "kettle"})
	require.NoError(t, err)
	require.NotContains(t, res.Chunks[0].Additional, "x")
	require.Equal(t, "n", res.Chunks[0].Additional["z"])
	require.Equal(t, []string{"m"}, servicetest.RecallIDs(t, s, contextmem.Recall{Query: "teatime", Alpha: contextmem.FixedAlpha(0)}))
	r, err = s.EditMetadata(t.Context(), contextmem.EditMetadataRequest{ID: "m", Metadata: map[string]any{"topic": "breakfast"}})
	require.NoError(t, err)
	require.True(t, r.Reembedded)
	require.Equal(t, []string{"m"}, servicetest.RecallIDs(t, s, contextmem.Recall{Query: "breakfast", Alpha: contextmem.FixedAlpha(0)}))
	require.Empty(t, servicetest.RecallIDs(t, s, contextmem.Recall{Query: "teatime", Alpha: contextmem.FixedAlpha(0)}))
	require.Equal(t, []string{"m"}, by("b"))
	// The cap holds for what is sent, not for what becomes of it.
	for i := range 3 {
		_, err = s.EditMetadata(t.Context(), contextmem.EditMetadataRequest{ID: "m", Additional: map[string]any{fmt.Sprintf("k%d", i): strings.Repeat("v", 900)}})
		require.NoError(t, err)
	}
}

// TestEditMetadataIsAllOrNothing checks that an edit whose new text cannot be embedded changes nothing, and that a
// series of edits cannot grow a map beyond its limit.
func TestEditMetadataIsAllOrNothing(t *testing.T) {
	t.Parallel()
	g := servicetest.NewGate()
	svc, acme := servicetest.Open(t, &contextmem.Options{Embedder: g})
	tn := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "f", Schema: []contextmem.Field{{Name: "dept", Match: true}, {Name: "topic", Dense: true}}})
	s := tn.Sub("a")
	servicetest.Remember(t, s, contextmem.Memory{ID: "m", Text: "The kettle is on the shelf.", Metadata: map[string]any{"dept": "a", "topic": "teatime"}})
	g.Set(nil, context.DeadlineExceeded)
	_, err := s.EditMetadata(t.Context(), contextmem.EditMetadataRequest{ID: "m", Metadata: map[string]any{"dept": "b", "topic": "breakfast"}, Additional: map[string]any{"x": 1}})
	require.ErrorIs(t, err, contextmem.ErrUnavailable)
	g.Set(nil, nil)
	p, err := s.List(t.Context(), contextmem.ListRequest{Class: contextmem.ClassMemory})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"dept": "a", "topic": "teatime"}, p.Sources[0].Metadata)
	require.Empty(t, p.Sources[0].Additional)

	servicetest.Remember(t, acme.Sub("a"), contextmem.Memory{ID: "m", Text: "The kettle is on the shelf."})
	for i := 0; ; i++ {
		require.Less(t, i, 80, "the map grows without bound")
		_, err := acme.Sub("a").EditMetadata(t.Context(), contextmem.EditMetadataRequest{ID: "m", Metadata: map[string]any{fmt.Sprint("k", i): strings.Repeat("v", 16000)}})
		if err != nil {
			require.ErrorIs(t, err, contextmem.ErrInvalid)
			break
		}
	}
}
