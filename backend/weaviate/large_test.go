package weaviate

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/backend/inmem"
)

// TestLargePartitionFindsTheBest checks that a partition with more matches than the first round reads returns the hits
// of an exhaustive search.
func TestLargePartitionFindsTheBest(t *testing.T) {
	ctx := t.Context()
	_, set := openSet(t, prefixOf(t.Name()), sharedServer(t).URLs(), Options{})
	want, err := inmem.New().OpenIndexes(ctx, backendtest.UID("oracle"))
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(3, 4))
	parts := []backend.Partition{testPart, {Class: backend.Memory, Sub: "beside"}}
	const chunks = 3000
	for i := range int64(chunks / 100 * 2) {
		c := backend.Change{Seq: uint64(i + 1), Kind: backend.PutChunks, Part: parts[i%2], Source: i + 1}
		for j := range int64(100) {
			text := backendtest.Text(rng, 1+rng.IntN(3))
			if i%2 == 0 && j == 50 {
				text += fmt.Sprintf(" A rare%d thing.", i%6)
			}
			c.Rows = append(c.Rows, backend.Row{Chunk: i*100 + j + 1, Ordinal: int(j), Text: text})
		}
		require.NoError(t, set.Indexes()[0].Apply(ctx, []backend.Change{c}))
		require.NoError(t, want.Indexes()[0].Apply(ctx, []backend.Change{c}))
	}
	const k = 20
	for _, text := range []string{"Anna painted the violin near Oslo", "Bruno repaired a rare2 lantern near Kyoto", "rare4 Anna Bruno Carla Dmitri Elena Farid Greta Hugo"} {
		for op, name := range []string{"any", "all"} {
			q := backend.KeywordQuery{Part: testPart, Text: text, Operator: backend.Operator(op), K: k}
			got, best := must(t)(set.Keywords().SearchKeywords(ctx, q)), must(t)(want.Keywords().SearchKeywords(ctx, q))
			require.True(t, op != 0 || len(best) == k)
			require.Len(t, got, len(best))
			for i, h := range got {
				assert.InDelta(t, best[i].Score, h.Score, 1e-4, "%s of %q: place %d", name, text, i)
			}
		}
	}
	terms, docs, _, err := set.Keywords().Terms(ctx, testPart, "Anna")
	require.NoError(t, err)
	assert.Equal(t, chunks, docs)
	assert.Positive(t, terms[0].DF)
}
