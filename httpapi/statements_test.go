package httpapi

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/embed"
)

// houses is an embedder that knows a home by the word casa.
type houses struct{}

func (houses) Model() string { return "houses" }
func (houses) Dim() int      { return 2 }

func (houses) StatementSlots() []embed.StatementSlot {
	return []embed.StatementSlot{{Name: "home", Vector: []float32{0, 6}, Bias: -3}}
}

func (houses) EmbedQuery(context.Context, string) ([]float32, error) { return []float32{1, 0}, nil }

func (houses) EmbedDocuments(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = []float32{1, 0}
		if strings.Contains(t, "casa") {
			out[i] = []float32{0, 1}
		}
	}
	return out, nil
}

// readStatements gives the fixture's service an embedder with learnt slots of statements, and a tenant homes.
func (f *fixture) readStatements(t testing.TB) {
	t.Helper()
	svc, err := contextmem.New(t.Context(), newBackend(t), &contextmem.Options{Embedder: houses{}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, svc.Close()) })
	f.Handler, err = New(svc, Options{Keys: map[string]string{fullKey: contextmem.DefaultOrg}})
	require.NoError(t, err)
	_, err = svc.EnsureTenant(t.Context(), contextmem.TenantSpec{ID: "homes"})
	require.NoError(t, err)
}
