package local

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/internal/lexical"
	"github.com/contextmem/contextmem/internal/recent"
)

func TestContract(t *testing.T) {
	backendtest.RunIndexers(t, backendtest.IndexersHarness{Open: func(t testing.TB, dir string) backend.Indexers {
		x, err := Open(dir, nil)
		require.NoError(t, err)
		return x
	}})
}

// Runs the conformance tests with encrypted files.
func TestContractEncrypted(t *testing.T) {
	backendtest.RunIndexers(t, backendtest.IndexersHarness{Open: func(t testing.TB, dir string) backend.Indexers {
		x, err := Open(dir, &Options{EncryptionKey: testKey})
		require.NoError(t, err)
		return x
	}})
}

// Runs the conformance tests with a cache that keeps nothing in memory.
func TestContractWithoutMemory(t *testing.T) {
	backendtest.RunIndexers(t, backendtest.IndexersHarness{Open: func(t testing.TB, dir string) backend.Indexers {
		x, err := Open(dir, &Options{CacheBytes: 1})
		require.NoError(t, err)
		return x
	}})
}

func TestOpen(t *testing.T) {
	t.Parallel()
	_, err := Open("", nil)
	require.Error(t, err)
	x, err := Open(t.TempDir(), &Options{Logger: slog.New(slog.DiscardHandler), CacheBytes: -1})
	require.NoError(t, err)
	for _, uid := range []string{"", "../../../../../../../../../../etc/", strings.Repeat("A", 32)} {
		t.Run(uid, func(t *testing.T) {
			_, err = x.OpenIndexes(t.Context(), uid)
			require.ErrorContains(t, err, "32 lower-case")
			require.ErrorContains(t, x.RemoveIndexes(t.Context(), uid), "32 lower-case")
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = x.OpenIndexes(ctx, testUID)
	require.ErrorIs(t, err, context.Canceled)
	ix, err := x.OpenIndexes(t.Context(), testUID)
	require.NoError(t, err)
	_, err = x.OpenIndexes(t.Context(), testUID)
	require.ErrorIs(t, err, backend.ErrConflict)
	require.ErrorIs(t, x.RemoveIndexes(t.Context(), testUID), backend.ErrConflict)
	require.NoError(t, ix.Vectors().Apply(t.Context(), []backend.Change{{Seq: 3, Kind: backend.Mark}}))
	require.NoError(t, ix.Vectors().Flush(t.Context()))
	require.DirExists(t, x.path(testUID))
	require.NoError(t, ix.Close())
	require.NoError(t, x.RemoveIndexes(t.Context(), testUID))
	require.NoDirExists(t, x.path(testUID))
	require.NoError(t, x.RemoveIndexes(t.Context(), testUID), "again")
	require.NoError(t, x.Close())
	_, err = x.OpenIndexes(t.Context(), testUID)
	require.ErrorIs(t, err, backend.ErrClosed)
}

// both applies changes to the index and to the oracle.
func both(t *testing.T) (want indexes, got *index, apply func(changes ...backend.Change)) {
	t.Helper()
	x, err := Open(t.TempDir(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, x.Close()) })
	want, got = openTest(t, inmem.New()), openTest(t, x).(*index)
	var seq uint64
	return want, got, func(changes ...backend.Change) {
		t.Helper()
		for i := range changes {
			seq++
			changes[i].Seq = seq
		}
		require.NoError(t, want.Apply(t.Context(), changes))
		require.NoError(t, got.Apply(t.Context(), changes))
	}
}

// Checks that vectors of two dimensions can coexist, as they do while a workspace is re-embedded.
func TestTwoLengths(t *testing.T) {
	t.Parallel()
	_, ix, apply := both(t)
	search := func(v ...float32) ([]backend.Hit, error) {
		return ix.SearchVectors(t.Context(), backend.VectorQuery{Part: benchPart, Vector: v, K: 9})
	}
	put := func(source int64, vectors ...[]float32) backend.Change {
		c := backend.Change{Kind: backend.PutChunks, Part: benchPart, Source: source}
		for i, v := range vectors {
			c.Rows = append(c.Rows, backend.Row{Chunk: source*10 + int64(i), Ordinal: i, Vector: v})
		}
		return c
	}
	for range 2 {
		apply(put(1, []float32{1, 0}, nil, []float32{}, []float32{.5, 0}), put(2, []float32{0, 1, 0}, []float32{0, .5, 0}))
		hits, err := search(1, 0)
		require.NoError(t, err)
		require.Equal(t, []backend.Hit{{Chunk: 10, Source: 1, Score: 1}, {Chunk: 13, Source: 1, Score: .5}}, hits)
		hits, err = search(0, 1, 0)
		require.NoError(t, err)
		require.Equal(t, []backend.Hit{{Chunk: 20, Source: 2, Score: 1}, {Chunk: 21, Source: 2, Score: .5}}, hits)
		apply(backend.Change{Kind: backend.Drop, Part: benchPart, Source: 1})
		_, err = search(1, 0)
		require.ErrorContains(t, err, "2 dimensions")
		require.ErrorContains(t, err, "vectors of 3")
		apply(put(3, []float32{2, 2}))
		hits, err = search(1, 0)
		require.NoError(t, err)
		require.Len(t, hits, 1)
		require.NoError(t, ix.Flush(t.Context()))
		evictAll(ix)
		hits, err = search(0, 1, 0)
		require.NoError(t, err)
		require.Len(t, hits, 2)
		apply(backend.Change{Kind: backend.Drop, Part: benchPart, Source: 3})
	}
}

func TestRefusedVector(t *testing.T) {
	t.Parallel()
	_, ix, _ := both(t)
	long := backend.Change{Seq: 1, Kind: backend.PutChunks, Part: benchPart, Source: 1,
		Rows: []backend.Row{{Chunk: 1, Text: "too long", Vector: make([]float32, 5000)}}}
	require.ErrorContains(t, ix.Apply(t.Context(), []backend.Change{long}), "5000 dimensions")
	require.Zero(t, ix.Applied())
	info, err := ix.Info(t.Context(), benchPart)
	require.NoError(t, err)
	require.Zero(t, info.Chunks, "nothing of it is there")
}

// Checks filters by tags that most sources have, which are stored differently from rare tags.
func TestFrequentTags(t *testing.T) {
	t.Parallel()
	want, got, apply := both(t)
	m := newModel(2)
	var puts []backend.Change
	for i := range 600 {
		c := m.put(benchPart)
		for j := range c.Rows {
			c.Rows[j].Vector = m.vector()
		}
		puts = append(puts, c)
		apply(c)
		switch {
		case i%5 == 1:
			apply(backend.Change{Kind: backend.Drop, Part: benchPart, Source: puts[m.r.IntN(i)].Source})
		case i%3 == 0:
			apply(backend.Change{Kind: backend.PutTags, Part: benchPart, Source: puts[m.r.IntN(i+1)].Source, Tags: m.tags()})
		}
		if i == 400 {
			require.NoError(t, got.Flush(t.Context()))
			evictAll(got)
		}
		if i%20 > 0 {
			continue
		}
		for tag := range uint64(9) {
			for _, f := range []backend.Filter{{All: [][]uint64{{tag}}}, {Not: []uint64{tag}}, {All: [][]uint64{{tag, 3}, {1}}, Not: []uint64{2}}} {
				q := backend.VectorQuery{Part: benchPart, Vector: m.vector(), K: 5000, Filter: f}
				w, err := want.SearchVectors(t.Context(), q)
				require.NoError(t, err)
				g, err := got.SearchVectors(t.Context(), q)
				require.NoError(t, err)
				sameHits(t, w, g, "%+v", f)
			}
		}
	}
}

// Checks that many small partitions share a file, and that a restart does not read them.
func TestManyPartitions(t *testing.T) {
	t.Parallel()
	x, err := Open(t.TempDir(), nil)
	require.NoError(t, err)
	ix := openTest(t, x).(*index)
	const parts = 2000
	part := func(i int) backend.Partition {
		return backend.Partition{Class: backend.Memory, Sub: fmt.Sprint("sub ", i)}
	}
	var changes []backend.Change
	for i := range parts {
		changes = append(changes, backend.Change{
			Seq: uint64(i + 1), Kind: backend.PutChunks, Part: part(i), Source: int64(i + 1),
			Rows: []backend.Row{{Chunk: int64(i + 1), Text: fmt.Sprint("lantern number ", i), Vector: []float32{1, 2}}},
		})
	}
	require.NoError(t, ix.Apply(t.Context(), changes))
	require.NoError(t, ix.Flush(t.Context()))
	files, err := os.ReadDir(ix.dir())
	require.NoError(t, err)
	require.Len(t, files, 2, "one file and the manifest")
	require.NoError(t, ix.Close())

	ix = openTest(t, x).(*index)
	require.EqualValues(t, parts, ix.Applied())
	loaded := func() (n int) {
		for _, s := range ix.slots {
			if s.p.Load() != nil {
				n++
			}
		}
		return n
	}
	require.Zero(t, loaded())
	for i := 0; i < parts; i += 100 {
		hits, err := ix.SearchKeywords(t.Context(), backend.KeywordQuery{Part: part(i), Text: "lantern", K: 5})
		require.NoError(t, err)
		require.Len(t, hits, 1)
		require.EqualValues(t, i+1, hits[0].Chunk)
	}
	require.Equal(t, parts/100, loaded())
	require.NoError(t, x.Close())
}

// Checks that a tail above the size limit is flushed automatically.
func TestLongTail(t *testing.T) {
	t.Parallel()
	_, ix, _ := both(t)
	rows := make([]backend.Row, (maxTailRows+9)/10)
	for seq := range uint64(11) {
		for i := range rows {
			rows[i] = backend.Row{Chunk: int64(seq)*1e6 + int64(i), Ordinal: i, Text: "ember"}
		}
		c := backend.Change{Seq: seq + 1, Kind: backend.PutChunks, Part: benchPart, Source: int64(seq + 1), Rows: rows}
		require.NoError(t, ix.Apply(t.Context(), []backend.Change{c}))
	}
	ix.flusher.wait()
	require.GreaterOrEqual(t, ix.flushed, uint64(10))
	_, docs, _, err := ix.Terms(t.Context(), benchPart, "ember")
	require.NoError(t, err)
	require.Equal(t, 11*len(rows), docs)
}

func TestWorn(t *testing.T) {
	t.Parallel()
	slots := map[backend.Partition]*slot{
		{Sub: "a"}: {blocks: []*block{{rows: 100, nextRow: 100}, {rows: 10, dropped: 100, nextRow: wornRows}}},
	}
	require.False(t, worn(slots))
	slots[backend.Partition{Sub: "b"}] = &slot{blocks: []*block{{rows: 1, nextRow: 100}}}
	require.True(t, worn(slots))
}

// logged counts the log messages of a level.
type logged struct {
	slog.Handler
	errors atomic.Int32
}

func (l *logged) Handle(_ context.Context, r slog.Record) error {
	if r.Level == slog.LevelError {
		l.errors.Add(1)
	}
	return nil
}

func (l *logged) Enabled(context.Context, slog.Level) bool { return true }
func (l *logged) WithAttrs([]slog.Attr) slog.Handler       { return l }

func TestDamageIsLogged(t *testing.T) {
	t.Parallel()
	h := newHistory(t, 1, 1)
	flip(t, h.path()+"/"+manifestName, 20)
	l := new(logged)
	x, err := Open(h.dir, &Options{Logger: slog.New(l)})
	require.NoError(t, err)
	require.Zero(t, openTest(t, x).Applied())
	require.EqualValues(t, 1, l.errors.Load())
	require.NoError(t, x.Close())
}

// Checks that a source that cannot be indexed leaves no trace except used row numbers.
func TestUndo(t *testing.T) {
	t.Parallel()
	want, ix, apply := both(t)
	m := newModel(1)
	apply(m.put(benchPart))
	p := ix.find(benchPart).p.Load()
	from := uint32(len(p.chunk))
	for row := from; row < from+3; row++ {
		require.NoError(t, p.words.Add(row, lexical.Doc{Fields: []lexical.Field{{Text: "harbour"}}}))
	}
	p.undo(from + 3)
	apply(m.put(benchPart))
	for range 2 {
		m.parts = []backend.Partition{benchPart}
		m.compare(t, want, ix)
		require.NoError(t, ix.Flush(t.Context()))
		evictAll(ix)
	}
}

// Checks that a cached query does not keep the longer string in memory of which it is a substring.
func TestRememberedQuery(t *testing.T) {
	t.Parallel()
	_, ix, _ := both(t)
	body := strings.Repeat("x", 1000) + "kettle 04711" + strings.Repeat("y", 1000)
	query := body[1000:1012]
	_, _, _, err := ix.Terms(t.Context(), backend.Partition{Class: backend.Memory}, query)
	require.NoError(t, err)
	kept, ok := recent.Get(&ix.parsedMemory, query)
	require.True(t, ok)
	require.NotEmpty(t, kept.Terms)
	from := uintptr(unsafe.Pointer(unsafe.StringData(body)))
	for _, term := range kept.Terms {
		at := uintptr(unsafe.Pointer(unsafe.StringData(term.Term)))
		require.False(t, at >= from && at < from+uintptr(len(body)), term.Term)
	}
}
