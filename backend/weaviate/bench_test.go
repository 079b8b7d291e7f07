package weaviate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/backend/local"
	"github.com/contextmem/contextmem/internal/testtool"
)

// BenchmarkSearch searches 1,500 memories for 20 hits and for all of them, alternately over a cluster of one node by
// gRPC, by GraphQL, and over local indexes. The processor time is that of the client and of the node.
func BenchmarkSearch(b *testing.B) {
	const text = "Anna painted the violin near Oslo"
	rng := rand.New(rand.NewPCG(1, 2))
	var feed []backend.Change
	for i := range int64(1500) {
		text := backendtest.Text(rng, 3)
		feed = append(feed, backend.Change{Seq: uint64(i + 1), Kind: backend.PutChunks, Part: testPart, Source: i + 1,
			Rows: []backend.Row{{Chunk: i + 1, Text: text, Vector: backendtest.Vector(text, 128)}}})
	}
	w, prefix := sharedServer(b), prefixOf(b.Name())
	_, far := openSet(b, prefix, w.URLs(), Options{})
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
	_, graph := openSet(b, prefix, []string{w.URL(0)}, Options{})
	words := func(set backend.IndexSet, k int) error {
		_, err := set.Keywords().SearchKeywords(b.Context(), backend.KeywordQuery{Part: testPart, Text: text, K: k})
		return err
	}
	vector := backendtest.Vector(text, 128)
	vectors := func(set backend.IndexSet, k int) error {
		_, err := set.Vectors().SearchVectors(b.Context(), backend.VectorQuery{Part: testPart, Vector: vector, K: k})
		return err
	}
	for what, search := range map[string]func(backend.IndexSet, int) error{"words": words, "vectors": vectors} {
		for _, k := range []int{20, 2000} {
			b.Run(fmt.Sprintf("%s/%d", what, k), func(b *testing.B) {
				sets := map[string]backend.IndexSet{"grpc": far, "graphql": graph, "local": near}
				took, work := map[string][]time.Duration{}, map[string]time.Duration{}
				for b.Loop() {
					for name, set := range sets { // in random order
						start, busy := time.Now(), cpuTime(b, w)
						require.NoError(b, search(set, k))
						took[name], work[name] = append(took[name], time.Since(start)), work[name]+cpuTime(b, w)-busy
					}
				}
				for name := range sets {
					slices.Sort(took[name])
					b.ReportMetric(took[name][b.N/2].Seconds()*1000, name+"-p50-ms")
					b.ReportMetric(work[name].Seconds()*1000/float64(b.N), name+"-cpu-ms")
				}
			})
		}
	}
}

// cpuTime returns the processor time that this process and the server have used so far.
func cpuTime(b *testing.B, w *testtool.Weaviate) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano()+u.Stime.Nano()) + w.Processor()
}
