package backendtest

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

var indexRuleTests = []namedTest[*indexEnv]{
	{"Indexes", testIndexes},
	{"ApplyAgain", testApplyAgain},
	{"ReplaceAndDrop", testReplaceAndDrop},
	{"DropSub", testIndexDropSub},
	{"Reset", testReset},
	{"Reopen", testIndexReopen},
	{"Crash", testIndexCrash},
	{"Isolation", testIndexIsolation},
	{"Hostile", testIndexHostile},
	{"Copies", testIndexCopies},
	{"Cancelled", testIndexCancelled},
	{"Closed", testIndexClosed},
	{"Workspaces", testIndexWorkspaces},
	{"Concurrent", testIndexConcurrent},
	{"Bulk", testBulk},
}

func testIndexes(t *testing.T, e *indexEnv) {
	indexes := e.Indexes()
	require.NotEmpty(t, indexes)
	for i, a := range indexes {
		require.True(t, reflect.TypeOf(a).Comparable())
		for _, b := range indexes[:i] {
			require.NotEqual(t, a, b, "each is listed once")
		}
		assert.Zero(t, a.Applied())
	}
	for _, s := range []backend.Index{e.Vectors(), e.Keywords(), e.Graph()} {
		found := false
		for _, l := range indexes {
			found = found || l == s
		}
		assert.True(t, found, "%T follows the feed and is listed", s)
	}
}

// fill applies a feed that has changes of every kind.
func (e *indexEnv) fill() {
	e.t.Helper()
	s1, c1 := e.put(entry{id: "a", title: "Harbour", texts: []string{"red lantern", "blue lantern"}, tags: []uint64{1}, time: at(0)})
	s2, c2 := e.put(entry{id: "b", texts: []string{"a violin in the harbour"}, tags: []uint64{2}, time: at(60)})
	e.put(entry{id: "c", part: files, texts: []string{"lantern one", "lantern two", "lantern three"}, tags: []uint64{1}})
	gone, _ := e.put(entry{id: "gone", texts: []string{"gone lantern"}, session: "s"})
	e.put(entry{id: "d", texts: []string{"lantern of the session"}, session: "s"})
	e.put(entry{id: "a", part: other, texts: []string{"their lantern"}})
	e.mention(s1, backend.MentionRef{Chunk: c1[0], Entity: 1, Key: "red", Weight: 1}, backend.MentionRef{Chunk: c1[1], Entity: 2, Key: "blue", Weight: 1})
	e.mention(s2, backend.MentionRef{Chunk: c2[0], Entity: 2, Key: "blue", Weight: 2})
	e.change(backend.Change{Kind: backend.PutTags, Source: s2, Tags: []uint64{1, 3}})
	e.drop(gone)
}

// queries lists the queries with which requireLikeOracle compares indexes.
var queries = querySet{
	parts:   []backend.Partition{notes, files, other, {Class: backend.Raw, Sub: "notes"}},
	texts:   []string{"lantern", "red harbour violin", "Where is the lantern of the session?", `"red lantern"`, "nothing", "two lantern"},
	keys:    []string{"red", "blue", "green"},
	filters: []backend.Filter{{}, {All: [][]uint64{{1}}}, {Not: []uint64{1}}, {All: [][]uint64{{1, 2}, {3}}}},
}

func (e *indexEnv) requireLikeOracle(msg string) {
	e.t.Helper()
	compareIndexes(e.t, e.IndexSet, e.oracle().IndexSet, queries, same(e.chunk, e.source), msg)
}

func testApplyAgain(t *testing.T, e *indexEnv) {
	e.fill()
	e.requireLikeOracle("once")
	for i := range e.feed {
		for _, sh := range e.Indexes() {
			require.NoError(t, sh.Apply(t.Context(), e.feed[i:]))
			require.NoError(t, sh.Apply(t.Context(), e.feed[i:i+1]))
			require.Equal(t, e.seq, sh.Applied(), "Applied never falls")
		}
	}
	e.requireLikeOracle("again")
	for _, sh := range e.Indexes() {
		require.NoError(t, sh.Apply(t.Context(), nil))
		require.Equal(t, e.seq, sh.Applied())
	}
	e.seq = 1 << 40
	e.apply(backend.Change{Seq: e.seq, Kind: backend.Mark})
	e.requireLikeOracle("marked")
}

func testReplaceAndDrop(t *testing.T, e *indexEnv) {
	src, c := e.put(entry{texts: []string{"old lantern", "old violin"}, session: "s", tags: []uint64{1}})
	e.mention(src, backend.MentionRef{Chunk: c[0], Entity: 1, Key: "red", Weight: 1})
	e.change(backend.Change{Kind: backend.PutChunks, Source: src, Session: "s", Rows: []backend.Row{
		{Chunk: 70, Text: "new lantern", Vector: Vector("new lantern", dim)},
	}})
	e.chunk = 70
	assert.Equal(t, []int64{70}, chunksOf(e.keywords(backend.KeywordQuery{Text: "lantern violin"})), "the chunks of a version are replaced")
	assert.Equal(t, []int64{70}, chunksOf(e.vectors(backend.VectorQuery{Vector: unit(1)})))
	assert.Zero(t, e.around(c[0])[0])
	e.requireLikeOracle("replaced")
	e.drop(src)
	e.drop(12345)
	e.change(backend.Change{Kind: backend.PutTags, Source: 12345, Tags: []uint64{1}})
	e.change(backend.Change{Kind: backend.PutGraph, Source: 12345, Mentions: []backend.MentionRef{{Chunk: 1, Entity: 1, Key: "red"}}})
	assert.Empty(t, e.keywords(backend.KeywordQuery{Text: "lantern"}))
	assert.Empty(t, e.vectors(backend.VectorQuery{Vector: unit(1)}))
	e.requireLikeOracle("dropped")
	e.put(entry{texts: []string{"x"}, vectors: [][]float32{{1, 2, 3}}})
	assert.Len(t, e.vectors(backend.VectorQuery{Vector: []float32{1, 1, 1}}), 1, "an empty partition takes vectors of another length")
}

func testIndexDropSub(t *testing.T, e *indexEnv) {
	e.fill()
	e.change(backend.Change{Kind: backend.DropSub, Part: backend.Partition{Sub: "notes"}})
	assert.Empty(t, e.keywords(backend.KeywordQuery{Text: "lantern"}))
	assert.Empty(t, e.keywords(backend.KeywordQuery{Part: files, Text: "lantern"}), "all classes")
	assert.Len(t, e.keywords(backend.KeywordQuery{Part: other, Text: "lantern"}), 1, "one sub-tenant")
	e.requireLikeOracle("dropped")
	e.put(entry{texts: []string{"later lantern"}})
	assert.Len(t, e.keywords(backend.KeywordQuery{Text: "lantern"}), 1)
	e.requireLikeOracle("filled again")
}

func testReset(t *testing.T, e *indexEnv) {
	ctx := t.Context()
	e.fill()
	for _, sh := range e.Indexes() {
		require.NoError(t, sh.Flush(ctx))
		require.NoError(t, sh.Reset(ctx))
		require.Zero(t, sh.Applied())
	}
	for _, p := range queries.parts {
		assert.Empty(t, e.keywords(backend.KeywordQuery{Part: p, Text: "lantern"}))
		assert.Empty(t, e.vectors(backend.VectorQuery{Part: p, Vector: unit(1)}))
		info, err := e.Graph().Info(ctx, p)
		require.NoError(t, err)
		assert.Zero(t, info)
	}
	e.replay()
	e.requireLikeOracle("from zero")
	for _, sh := range e.Indexes() {
		require.NoError(t, sh.Reset(ctx))
	}
	e.reopen()
	for _, sh := range e.Indexes() {
		require.Zero(t, sh.Applied(), "a reset survives a restart")
	}
	e.replay()
	e.requireLikeOracle("after a restart")
}

// testIndexReopen reopens the indexes after every prefix of the feed, with and without a Flush before.
func testIndexReopen(t *testing.T, e *indexEnv) {
	made := openIndexFeed(t)
	for i, c := range made.feed {
		if testing.Short() && i%3 > 0 {
			continue
		}
		e.feed, e.seq, e.chunk, e.source = made.feed[:i+1], c.Seq, made.chunk, made.source
		e.replay()
		if i%2 == 0 {
			for _, sh := range e.Indexes() {
				require.NoError(t, sh.Flush(t.Context()))
			}
		}
		e.reopen()
		for _, sh := range e.Indexes() {
			require.LessOrEqual(t, sh.Applied(), e.seq)
		}
		e.replay()
		e.requireLikeOracle(fmt.Sprintf("restarted after %d changes", i+1))
	}
}

// openIndexFeed returns an environment whose feed is the one that fill applies.
func openIndexFeed(t *testing.T) *indexEnv {
	x := newOracleIndex(t)
	made := &indexEnv{t: t, IndexSet: x.IndexSet}
	made.fill()
	return made
}

// testIndexCrash copies the files of open indexes after every prefix of the feed, and opens the copies.
func testIndexCrash(t *testing.T, e *indexEnv) {
	made := openIndexFeed(t)
	dirs := make([]string, len(made.feed))
	for i, c := range made.feed {
		e.feed, e.seq = made.feed[:i+1], c.Seq
		e.replay()
		if i%3 == 1 {
			for _, sh := range e.Indexes() {
				require.NoError(t, sh.Flush(t.Context()))
			}
		}
		dirs[i] = t.TempDir()
		copyFiles(t, e.dir, dirs[i])
	}
	for i, dir := range dirs {
		if testing.Short() && i%4 > 0 {
			continue
		}
		after := &indexEnv{t: t, h: e.h, dir: dir, uid: e.uid}
		after.open()
		for _, sh := range after.Indexes() {
			require.LessOrEqual(t, sh.Applied(), made.feed[i].Seq, "nothing is there that was not applied")
		}
		after.feed, after.seq, after.chunk, after.source = made.feed, made.seq, made.chunk, made.source
		after.replay()
		after.requireLikeOracle(fmt.Sprintf("crashed after %d changes", i+1))
		require.NoError(t, after.IndexSet.Close())
		require.NoError(t, after.indexers.Close())
	}
}

func testIndexIsolation(t *testing.T, e *indexEnv) {
	ctx := t.Context()
	parts := []backend.Partition{notes, files, other, {Class: backend.Raw, Sub: "notes"}, {Class: backend.Memory, Sub: ""}, {Class: backend.Memory, Sub: "note"}}
	chunks := make([]int64, len(parts))
	for i, p := range parts {
		src, c := e.put(entry{part: p, id: "same", texts: []string{"lantern"}, tags: []uint64{1}, session: "s", time: at(0)})
		e.change(backend.Change{Kind: backend.PutGraph, Part: p, Source: src, Mentions: []backend.MentionRef{{Chunk: c[0], Entity: int64(i + 1), Key: "red", Weight: 1}}})
		chunks[i] = c[0]
	}
	f := backend.Filter{All: [][]uint64{{1}}}
	for i, p := range parts {
		want := []int64{chunks[i]}
		assert.Equal(t, want, chunksOf(e.keywords(backend.KeywordQuery{Part: p, Text: "lantern", Filter: f})))
		assert.Equal(t, want, chunksOf(e.vectors(backend.VectorQuery{Part: p, Vector: Vector("lantern", dim), Filter: f})))
		terms, docs, _, err := e.Keywords().Terms(ctx, p, "lantern")
		require.NoError(t, err)
		assert.Equal(t, []int{1, 1}, []int{docs, terms[0].DF})
		sessions, err := e.Keywords().SearchSessions(ctx, backend.KeywordQuery{Part: p, Text: "lantern", K: 10})
		require.NoError(t, err)
		if p.Class == backend.Memory {
			assert.Equal(t, want, chunksOf(sessions))
		} else {
			assert.Empty(t, sessions)
		}
		around, err := e.Graph().Neighbours(ctx, p, chunks)
		require.NoError(t, err)
		for j, a := range around {
			assert.Equal(t, i == j, a.Chunk != 0)
			assert.Zero(t, [2][2]int64{a.Prev, a.Next})
		}
		match, err := e.Graph().MatchEntities(ctx, p, []string{"red"})
		require.NoError(t, err)
		assert.Equal(t, []backend.EntityMatch{{Entity: int64(i + 1), Key: "red", DF: 1}}, match)
		refs, err := e.Graph().Mentions(ctx, p, chunks)
		require.NoError(t, err)
		assert.Len(t, refs, 1)
		in, err := e.Graph().MentionedIn(ctx, p, []int64{1, 2, 3, 4, 5, 6}, 10)
		require.NoError(t, err)
		assert.Len(t, in, 1)
		info, err := e.Graph().Info(ctx, p)
		require.NoError(t, err)
		assert.Equal(t, backend.GraphInfo{Chunks: 1, Entities: 1}, info)
	}
	foreign, err := e.indexers.OpenIndexes(ctx, UID("foreign"))
	require.NoError(t, err)
	closeAtEnd(t, foreign)
	hits, err := foreign.Keywords().SearchKeywords(ctx, backend.KeywordQuery{Part: notes, Text: "lantern", K: 10})
	require.NoError(t, err)
	assert.Empty(t, hits)
	for _, sh := range foreign.Indexes() {
		assert.Zero(t, sh.Applied())
	}
}
