package ingest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
)

// TestSettledNamesFiles checks that the error says which files failed, by the names that the caller knows.
func TestSettledNamesFiles(t *testing.T) {
	t.Parallel()
	svc, err := contextmem.New(t.Context(), inmem.New(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, svc.Close()) })
	_, err = svc.EnsureTenant(t.Context(), contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	acme := svc.Tenant("acme")
	res, err := acme.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{
		{Name: "good.md", Data: []byte("# Opening hours\n\nThe shop opens at six.")},
		{Name: "plans/broken.pdf", Data: []byte("%PDF-1.4\nnothing that can be read")},
		{Name: "empty.txt"},
	}})
	require.NoError(t, err)
	err = contextmem.Settled(t.Context(), acme, res)
	require.ErrorContains(t, err, `": broken.pdf: E2001 the PDF is damaged`)
	require.ErrorContains(t, err, `file "empty.txt" is empty`)
	require.NotContains(t, err.Error(), "good.md")
}
