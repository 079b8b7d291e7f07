package contextmem_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/servicetest"
)

func TestOpenTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 2 {
		svc, err := contextmem.Open(t.Context(), dir, nil)
		require.NoError(t, err)
		if i == 0 {
			servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
		}
		s := svc.Tenant("acme").Sub("alice")
		servicetest.Remember(t, s, contextmem.Memory{ID: "m1", Text: "Alice takes her coffee black."}, contextmem.Memory{ID: "m2", Text: "The report is due on Friday."})
		res, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "what does she drink?"})
		require.NoError(t, err)
		require.NotEmpty(t, res.Chunks)
		require.Equal(t, "m1", res.Chunks[0].SourceID)
		require.NoError(t, svc.Close())
	}
}
