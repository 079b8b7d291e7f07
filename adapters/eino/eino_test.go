package eino_test

import (
	"testing"

	"github.com/cloudwego/eino/components/indexer"
	"github.com/cloudwego/eino/components/retriever"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/adapters/eino"
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

// TestGraph stores documents and finds them from a node of a graph.
func TestGraph(t *testing.T) {
	t.Parallel()
	tn := tenant(t)
	at := func(sub string) contextmem.Memories { return tn.Sub(sub) }
	ids, err := eino.Indexer{Partition: at}.Store(t.Context(), []*schema.Document{
		(&schema.Document{ID: "oven", Content: "The oven is cleaned on Mondays.", MetaData: map[string]any{"room": "kitchen"}}).WithScore(.5),
		{Content: "The lift is checked on Tuesdays."},
	}, indexer.WithSubIndexes([]string{"house"}))
	require.NoError(t, err)
	require.Len(t, ids, 2)
	require.Equal(t, "oven", ids[0])

	g := compose.NewGraph[string, []*schema.Document]()
	require.NoError(t, g.AddRetrieverNode("find", eino.Retriever{Partition: at}))
	require.NoError(t, g.AddEdge(compose.START, "find"))
	require.NoError(t, g.AddEdge("find", compose.END))
	run, err := g.Compile(t.Context())
	require.NoError(t, err)
	docs, err := run.Invoke(t.Context(), "when is the oven cleaned?", compose.WithRetrieverOption(retriever.WithSubIndex("house"), retriever.WithTopK(1)))
	require.NoError(t, err)
	require.Len(t, docs, 1)
	require.Equal(t, "The oven is cleaned on Mondays.", docs[0].Content)
	require.Equal(t, "kitchen", docs[0].MetaData["room"])
	require.Equal(t, "oven", docs[0].MetaData["source_id"])
	require.Positive(t, docs[0].Score())
	docs, err = run.Invoke(t.Context(), "when is the oven cleaned?")
	require.NoError(t, err)
	require.Empty(t, docs, "another sub-index")
	_, err = run.Invoke(t.Context(), "x", compose.WithRetrieverOption(retriever.WithIndex("other")))
	require.Error(t, err)
}

func TestTools(t *testing.T) {
	t.Parallel()
	tools, err := eino.Tools(tenant(t).Sub("alice"))
	require.NoError(t, err)
	for i, name := range []string{"remember", "recall"} {
		info, err := tools[i].Info(t.Context())
		require.NoError(t, err)
		require.Equal(t, name, info.Name)
	}
	out, err := tools[0].InvokableRun(t.Context(), `{"text":"Alice takes her coffee black."}`)
	require.NoError(t, err)
	require.Equal(t, "remembered", out)
	out, err = tools[1].InvokableRun(t.Context(), `{"question":"How does Alice drink coffee?"}`)
	require.NoError(t, err)
	require.Contains(t, out, "coffee black")
}
