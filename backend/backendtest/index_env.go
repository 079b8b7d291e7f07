package backendtest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// indexEnv holds the indexes under test and the feed that the test has applied to them.
type indexEnv struct {
	backend.IndexSet
	t        *testing.T
	h        IndexersHarness
	dir      string
	uid      string
	indexers backend.Indexers
	feed     []backend.Change
	seq      uint64
	source   int64
	chunk    int64
}

func openIndex(t *testing.T, h IndexersHarness) *indexEnv {
	e := &indexEnv{t: t, h: h, dir: t.TempDir(), uid: UID(t.Name())}
	e.open()
	return e
}

func (e *indexEnv) open() {
	e.indexers = e.h.Open(e.t, e.dir)
	closeAtEnd(e.t, e.indexers)
	x, err := e.indexers.OpenIndexes(e.t.Context(), e.uid)
	require.NoError(e.t, err)
	closeAtEnd(e.t, x)
	e.IndexSet = x
}

func (e *indexEnv) reopen() {
	e.t.Helper()
	require.NoError(e.t, e.IndexSet.Close())
	require.NoError(e.t, e.indexers.Close())
	e.open()
}

// entry describes a version that a test puts into the feed.
type entry struct {
	part    backend.Partition
	id      string
	title   string
	heading string
	texts   []string
	vectors [][]float32 // of the texts; nil: Vector(text); an empty one: no vector
	extra   backend.RowExtra
	time    time.Time
	session string
	tags    []uint64
}

// put applies a version to all indexes. It returns the Nums of the version and of its chunks.
func (e *indexEnv) put(in entry) (int64, []int64) {
	e.t.Helper()
	if in.part.Class == 0 {
		in.part = notes
	}
	e.source++
	e.seq++
	c := backend.Change{
		Seq: e.seq, Kind: backend.PutChunks, Part: in.part, Source: e.source, SourceID: in.id, Title: in.title,
		Time: in.time, Session: in.session, Tags: in.tags,
	}
	extra, err := json.Marshal(in.extra)
	require.NoError(e.t, err)
	var chunks []int64
	for i, text := range in.texts {
		e.chunk++
		chunks = append(chunks, e.chunk)
		row := backend.Row{
			Chunk: e.chunk, Ordinal: i, Key: fmt.Sprintf("%s/%d", in.id, i), Text: text, Heading: in.heading,
			Vector: Vector(text, dim), Extra: extra,
		}
		if in.vectors != nil {
			row.Vector = in.vectors[i]
		}
		c.Rows = append(c.Rows, row)
	}
	e.apply(c)
	return e.source, chunks
}

// change gives c the next sequence number and applies it.
func (e *indexEnv) change(c backend.Change) {
	e.t.Helper()
	e.seq++
	c.Seq = e.seq
	if c.Part.Class == 0 && c.Kind != backend.DropSub {
		c.Part = notes
	}
	e.apply(c)
}

func (e *indexEnv) drop(source int64) {
	e.t.Helper()
	e.change(backend.Change{Kind: backend.Drop, Source: source})
}

func (e *indexEnv) mention(source int64, refs ...backend.MentionRef) {
	e.t.Helper()
	e.change(backend.Change{Kind: backend.PutGraph, Source: source, Mentions: refs})
}

// apply appends changes to the feed and applies them to all indexes.
func (e *indexEnv) apply(cs ...backend.Change) {
	e.t.Helper()
	e.feed = append(e.feed, cs...)
	for _, sh := range e.Indexes() {
		require.NoError(e.t, sh.Apply(e.t.Context(), cs))
		require.Equal(e.t, cs[len(cs)-1].Seq, sh.Applied())
	}
}

// replay applies to each index those changes of the feed that it has not applied yet.
func (e *indexEnv) replay() {
	e.t.Helper()
	for _, sh := range e.Indexes() {
		from := 0
		for from < len(e.feed) && e.feed[from].Seq <= sh.Applied() {
			from++
		}
		require.NoError(e.t, sh.Apply(e.t.Context(), e.feed[from:]))
		require.Equal(e.t, e.seq, sh.Applied())
	}
}

// oracle returns indexes of package inmem that have applied the feed so far.
func (e *indexEnv) oracle() oracleIndex {
	e.t.Helper()
	x := newOracleIndex(e.t)
	require.NoError(e.t, x.Indexes()[0].Apply(e.t.Context(), e.feed))
	return x
}

func (e *indexEnv) vectors(q backend.VectorQuery) []backend.Hit {
	e.t.Helper()
	if q.Part.Class == 0 {
		q.Part = notes
	}
	if q.K == 0 {
		q.K = 100
	}
	hits, err := e.Vectors().SearchVectors(e.t.Context(), q)
	require.NoError(e.t, err)
	requireSorted(e.t, hits)
	return hits
}

func (e *indexEnv) keywords(q backend.KeywordQuery) []backend.Hit {
	e.t.Helper()
	if q.Part.Class == 0 {
		q.Part = notes
	}
	if q.K == 0 {
		q.K = 100
	}
	hits, err := e.Keywords().SearchKeywords(e.t.Context(), q)
	require.NoError(e.t, err)
	requireSorted(e.t, hits)
	return hits
}

func (e *indexEnv) around(chunks ...int64) []backend.Neighbours {
	e.t.Helper()
	out, err := e.Graph().Neighbours(e.t.Context(), notes, chunks)
	require.NoError(e.t, err)
	require.Len(e.t, out, len(chunks))
	return out
}

// requireSorted requires that hits are sorted by descending score, then by ascending Chunk.
func requireSorted(t testing.TB, hits []backend.Hit) {
	t.Helper()
	for i := 1; i < len(hits); i++ {
		a, b := hits[i-1], hits[i]
		require.True(t, a.Score > b.Score || a.Score == b.Score && a.Chunk < b.Chunk, "hits %d and %d of %v", i-1, i, hits)
	}
}

func chunksOf(hits []backend.Hit) []int64 {
	out := []int64{}
	for _, h := range hits {
		out = append(out, h.Chunk)
	}
	return out
}
