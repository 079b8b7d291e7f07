package langchaingo_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/vectorstores"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/adapters/langchaingo"
	"github.com/contextmem/contextmem/backend/inmem"
)

func tenant(t *testing.T) contextmem.Tenant {
	t.Helper()
	svc, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{Workers: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, svc.Close()) })
	_, err = svc.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	require.NoError(t, svc.Tenant("acme").WaitReady(t.Context()))
	return svc.Tenant("acme")
}

func TestStore(t *testing.T) {
	t.Parallel()
	tn := tenant(t)
	s := langchaingo.Store{Partition: func(ns string) contextmem.Memories { return tn.Sub(ns) }}
	ids, err := s.AddDocuments(t.Context(), []schema.Document{
		{PageContent: "The oven is cleaned on Mondays.", Metadata: map[string]any{"id": "oven", "room": "kitchen"}},
		{PageContent: "The lift is checked on Tuesdays.", Metadata: map[string]any{"room": "hall"}},
		{PageContent: "Left out.", Metadata: map[string]any{"skip": true}},
	}, vectorstores.WithNameSpace("house"), vectorstores.WithDeduplicater(func(_ context.Context, d schema.Document) bool { return d.Metadata["skip"] == true }))
	require.NoError(t, err)
	require.Len(t, ids, 2)
	require.Equal(t, "oven", ids[0])

	retriever := vectorstores.ToRetriever(s, 2, vectorstores.WithNameSpace("house"))
	docs, err := retriever.GetRelevantDocuments(t.Context(), "when is the oven cleaned?")
	require.NoError(t, err)
	require.Equal(t, "The oven is cleaned on Mondays.", docs[0].PageContent)
	require.Equal(t, "kitchen", docs[0].Metadata["room"])
	docs, err = s.SimilaritySearch(t.Context(), "when is the oven cleaned?", 5, vectorstores.WithNameSpace("house"), vectorstores.WithFilters(map[string]any{"room": "hall"}))
	require.NoError(t, err)
	require.Len(t, docs, 1)
	require.Contains(t, docs[0].PageContent, "lift")
	docs, err = s.SimilaritySearch(t.Context(), "when is the oven cleaned?", 5, vectorstores.WithNameSpace("house"), vectorstores.WithScoreThreshold(100))
	require.NoError(t, err)
	require.Empty(t, docs)
	docs, err = s.SimilaritySearch(t.Context(), "when is the oven cleaned?", 5)
	require.NoError(t, err)
	require.Empty(t, docs, "another namespace")
	_, err = s.SimilaritySearch(t.Context(), "x", 5, vectorstores.WithFilters("room"))
	require.Error(t, err)
}

// echo is a model that answers with its prompt.
type echo struct{}

func (echo) GenerateContent(_ context.Context, ms []llms.MessageContent, _ ...llms.CallOption) (*llms.ContentResponse, error) {
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: fmt.Sprint(ms[0].Parts[0])}}}, nil
}

func (e echo) Call(ctx context.Context, prompt string, o ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, e, prompt, o...)
}

// TestMemory runs the framework's conversation chain with the memory.
func TestMemory(t *testing.T) {
	t.Parallel()
	m := langchaingo.Memory{Memories: tenant(t).Sub("alice"), Output: "text"}
	require.NoError(t, m.SaveContext(t.Context(), map[string]any{"input": "My sister Olga lives in Porto."}, map[string]any{"text": "Noted."}))
	out, err := chains.Run(t.Context(), chains.NewConversation(echo{}, m), "Where does my sister live?")
	require.NoError(t, err)
	require.Contains(t, out, "Olga lives in Porto")
	require.Equal(t, []string{"history"}, m.MemoryVariables(t.Context()))
	require.NoError(t, m.Clear(t.Context()))
	vars, err := m.LoadMemoryVariables(t.Context(), map[string]any{"input": "Where does my sister live?"})
	require.NoError(t, err)
	require.Empty(t, vars["history"])
}
