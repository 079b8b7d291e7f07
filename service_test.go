package contextmem_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/servicetest"
)

func TestRememberAndRecall(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	alice := acme.Sub("alice")
	servicetest.Remember(t, alice,
		contextmem.Memory{ID: "m1", Text: "Alice takes her coffee black, without sugar."},
		contextmem.Memory{ID: "m2", Text: "The quarterly report is due on Friday."},
		contextmem.Memory{ID: "m3", Text: "Alice's sister lives in Lisbon."})
	res, err := alice.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "what does she like to drink in the morning?"})
	require.NoError(t, err)
	require.NotEmpty(t, res.Chunks)
	require.Equal(t, "m1", res.Chunks[0].SourceID, "%q", servicetest.Texts(res))
	require.NotNil(t, res.Chunks[0].Explain)
	require.NotEmpty(t, res.RequestID)
}

func TestKnowledgeFile(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	md := "# Returns\n\nCustomers may send goods back within thirty days.\n\n# Shipping\n\nParcels leave the warehouse every evening.\n"
	res, err := acme.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{{Name: "policy.md", Data: []byte(md)}}})
	require.NoError(t, err)
	servicetest.Done(t, acme.Sub(""), res.IDs()...)
	for _, mode := range []contextmem.Mode{contextmem.ModeFast, contextmem.ModeThinking} {
		t.Run(string(mode), func(t *testing.T) {
			hits, err := acme.Recall(t.Context(), contextmem.Recall{Query: "refund period", Mode: mode, GraphContext: true})
			require.NoError(t, err)
			require.NotEmpty(t, hits.Chunks, mode)
			require.True(t, strings.Contains(hits.Chunks[0].Text, "thirty days"), "%q", servicetest.Texts(hits))
			require.Equal(t, "Returns", hits.Chunks[0].Title, "of the document, not of the file")
		})
	}
	f, err := acme.Fetch(t.Context(), contextmem.FetchRequest{ID: res.Items[0].ID})
	require.NoError(t, err)
	require.Equal(t, md, f.Text)
}
