package weaviate

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/backend/local"
)

// BenchmarkSearch asks 1,500 memories for some and for all that match, over a cluster of one node and over local indexes.
func BenchmarkSearch(b *testing.B) {
	const text = "Anna painted the violin near Oslo"
	rng := rand.New(rand.NewPCG(1, 2))
	var feed []backend.Change
	for i := range int64(1500) {
		text := backendtest.Text(rng, 3)
		feed = append(feed, backend.Change{Seq: uint64(i + 1), Kind: backend.PutChunks, Part: testPart, Source: i + 1,
			Rows: []backend.Row{{Chunk: i + 1, Text: text, Vector: backendtest.Vector(text, 128)}}})
	}
	_, far := openOn(b, prefixOf(b.Name()), sharedServer(b).URLs(), Options{})
	x, err := local.Open(b.TempDir(), nil)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, x.Close()) })
	near, err := x.OpenIndexes(b.Context(), backendtest.UID(b.Name()))
	require.NoError(b, err)
	for _, set := range []backend.IndexSet{far, near} {
		for i := 0; i < len(feed); i += 250 {
			require.NoError(b, set.Indexes()[0].Apply(b.Context(), feed[i:i+250]))
		}
	}
	for _, k := range []int{20, 2000} {
		for name, set := range map[string]backend.IndexSet{"cluster": far, "local": near} {
			b.Run(fmt.Sprintf("words/%d/%s", k, name), func(b *testing.B) {
				for b.Loop() {
					_, err := set.Keywords().SearchKeywords(b.Context(), backend.KeywordQuery{Part: testPart, Text: text, K: k})
					require.NoError(b, err)
				}
			})
			b.Run(fmt.Sprintf("vectors/%d/%s", k, name), func(b *testing.B) {
				v := backendtest.Vector(text, 128)
				for b.Loop() {
					_, err := set.Vectors().SearchVectors(b.Context(), backend.VectorQuery{Part: testPart, Vector: v, K: k})
					require.NoError(b, err)
				}
			})
		}
	}
}
