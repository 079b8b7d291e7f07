package local

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// heap returns the size of the live heap. It collects until the size no longer falls, as objects with finalizers and in pools need
// several collections. Other tests must not run in parallel.
func heap() int64 {
	var m runtime.MemStats
	least, steady := int64(math.MaxInt64), 0
	for range 50 {
		runtime.GC()
		runtime.ReadMemStats(&m)
		if at := int64(m.HeapAlloc); at < least-512 {
			least, steady = at, 0
		} else if steady++; steady == 3 {
			break
		}
		time.Sleep(time.Millisecond) // lets finalizers run
	}
	return least
}

// The size of a partition that the cache knows is what it takes of the heap: not much more, as it is
// when columns are used where files are mapped, and not much less.
func TestSizeBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("measures the heap")
	}
	const n = 12_000
	changes := benchChanges(n)
	for i := range changes {
		if i%3 == 0 {
			changes[i].Tags = append(changes[i].Tags, uint64(1000+i%500)) // sparse lists
		}
	}
	var graph []backend.Change
	for i := range n / 2 {
		c := &changes[i]
		graph = append(graph, backend.Change{Seq: uint64(n + i + 1), Kind: backend.PutGraph, Part: c.Part, Source: c.Source, Mentions: []backend.MentionRef{
			{Chunk: c.Rows[0].Chunk, Entity: int64(i%900 + 1), Key: "entity number " + string(rune('a'+i%900)), Weight: 1},
			{Chunk: c.Rows[0].Chunk, Entity: int64(i%37 + 1), Key: "entity number " + string(rune('a'+i%37)), Weight: 1},
		}})
	}
	// Tables that are built once per process do not belong to the partition.
	warm, err := Open(t.TempDir(), nil)
	require.NoError(t, err)
	require.NoError(t, openTest(t, warm).(*index).Apply(t.Context(), changes))
	require.NoError(t, warm.Close())

	x, err := Open(t.TempDir(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, x.Close()) }()
	ix := openTest(t, x).(*index)
	require.NoError(t, ix.wake())
	before := heap()
	close := func(what string) {
		t.Helper()
		taken := heap() - before
		t.Logf("%s: %d bytes of heap, told %d", what, taken, x.cache.used.Load())
		require.InEpsilon(t, taken, x.cache.used.Load(), .2, what)
	}
	require.NoError(t, ix.Apply(t.Context(), changes[:n/2]))
	close("a tail")
	require.NoError(t, ix.Flush(t.Context()))
	close("flushed")
	require.NoError(t, ix.Apply(t.Context(), changes[n/2:]))
	require.NoError(t, ix.Apply(t.Context(), graph))
	close("a tail behind a block, with a graph")
	require.NoError(t, ix.Flush(t.Context()))
	ix.work.wait()
	close("two blocks")
	evictAll(ix)
	require.Equal(t, x.cache.used.Load(), ix.fileBytes)
	_, err = ix.SearchKeywords(t.Context(), backend.KeywordQuery{Part: benchPart, Text: "w1", K: 1})
	require.NoError(t, err)
	require.Less(t, x.cache.used.Load(), int64(100_000), "columns stay where they are mapped")
	_, err = ix.SearchVectors(t.Context(), backend.VectorQuery{Part: benchPart, Vector: changes[0].Rows[0].Vector, K: 1, Filter: backend.Filter{All: [][]uint64{{2}}}})
	require.NoError(t, err)
	close("with tags")
	_, err = ix.Info(t.Context(), benchPart)
	require.NoError(t, err)
	_, err = ix.Neighbours(t.Context(), benchPart, []int64{1})
	require.NoError(t, err)
	close("all of it")
	require.NoError(t, x.Close())

	x, err = Open(t.TempDir(), nil)
	require.NoError(t, err)
	ix = openTest(t, x).(*index)
	before = heap()
	require.NoError(t, ix.Apply(t.Context(), changes))
	require.NoError(t, ix.Apply(t.Context(), graph))
	require.NoError(t, ix.Flush(t.Context()))
	evictAll(ix)
	_, err = ix.Info(t.Context(), benchPart)
	require.NoError(t, err)
	require.True(t, ix.find(benchPart).p.Load().inPlace)
	close("one block")
	runtime.KeepAlive(changes)
	runtime.KeepAlive(graph)
}

// Checks that the cache counts the memory that searches keep for a narrow filter, and releases it with the partition.
func TestSizeBytesOfNarrowFilter(t *testing.T) {
	const n, dim = 6000, 256
	r := rand.New(rand.NewPCG(5, 6))
	vec := func() []float32 {
		v := make([]float32, dim)
		for j := range v {
			v[j] = float32(r.NormFloat64()) / 16
		}
		return v
	}
	changes := make([]backend.Change, n)
	for i := range changes {
		changes[i] = backend.Change{Seq: uint64(i + 1), Kind: backend.PutChunks, Part: benchPart, Source: int64(i + 1), Rows: []backend.Row{{Chunk: int64(i + 1), Vector: vec()}}}
		if i%80 == 0 {
			changes[i].Tags = []uint64{7}
		}
	}
	x, err := Open(t.TempDir(), nil)
	require.NoError(t, err)
	x.exactRows, x.readFrom = 64, 1
	defer func() { require.NoError(t, x.Close()) }()
	ix := openTest(t, x).(*index)
	require.NoError(t, ix.Apply(t.Context(), changes))
	require.NoError(t, ix.Flush(t.Context()))
	ix.work.wait()
	evictAll(ix)
	search := func(times int) {
		for range times {
			hits, err := ix.SearchVectors(t.Context(), backend.VectorQuery{Part: benchPart, Vector: vec(), K: 30, Filter: backend.Filter{All: [][]uint64{{7}}}})
			require.NoError(t, err)
			require.Len(t, hits, 30)
		}
	}
	search(1)
	before, told := heap(), x.cache.used.Load()
	search(20)
	taken := heap() - before
	require.Greater(t, taken, int64(40_000), "float32 rows are kept")
	require.InEpsilon(t, taken, x.cache.used.Load()-told, .2)
	evictAll(ix)
	require.Equal(t, x.cache.used.Load(), ix.fileBytes)
}

// TestIndexSizes checks that file sizes are reported per index and that deleted rows are not counted.
func TestIndexSizes(t *testing.T) {
	t.Parallel()
	x, err := Open(t.TempDir(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, x.Close()) }()
	ix := openTest(t, x).(*index)
	changes := benchChanges(300)
	rows := 0
	for _, c := range changes {
		rows += len(c.Rows)
	}
	require.NoError(t, ix.Apply(t.Context(), changes))
	c := changes[0]
	graph := backend.Change{Seq: uint64(len(changes) + 1), Kind: backend.PutGraph, Part: c.Part, Source: c.Source, Mentions: []backend.MentionRef{{Chunk: c.Rows[0].Chunk, Entity: 1, Key: "anna", Weight: 1}}}
	require.NoError(t, ix.Apply(t.Context(), []backend.Change{graph}))
	require.NoError(t, ix.Flush(t.Context()))
	ix.work.wait()
	sizes, bytes := x.Measure().Sizes, int64(0)
	var names []string
	for _, s := range sizes {
		names = append(names, s.Index)
		bytes += s.Bytes
		require.Positive(t, s.Bytes, s.Index)
		require.Equal(t, int64(rows), s.Rows, s.Index)
	}
	require.Equal(t, []string{"columns", "graph", "keyword", "vector"}, names)
	var files int64
	for _, f := range ix.files {
		files += f.size
	}
	require.Less(t, bytes, files)
	require.Greater(t, bytes, files/2)
	require.NoError(t, ix.Apply(t.Context(), []backend.Change{{Seq: uint64(len(changes) + 2), Kind: backend.Drop, Part: c.Part, Source: c.Source}}))
	require.NoError(t, ix.Flush(t.Context()))
	ix.work.wait()
	for _, s := range x.Measure().Sizes {
		require.Equal(t, int64(rows-len(c.Rows)), s.Rows, s.Index)
	}
}
