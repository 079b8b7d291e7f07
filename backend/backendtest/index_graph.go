package backendtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

var indexGraphTests = []namedTest[*indexEnv]{
	{"NeighboursKnowledge", testNeighboursKnowledge},
	{"NeighboursSession", testNeighboursSession},
	{"NeighboursRuns", testNeighboursRuns},
	{"NeighboursFacts", testNeighboursFacts},
	{"GraphEntities", testGraphEntities},
	{"GraphChanges", testGraphChanges},
}

func testNeighboursKnowledge(t *testing.T, e *indexEnv) {
	ctx := t.Context()
	src, c := e.put(entry{part: files, texts: []string{"a", "b", "c", "d"}, time: at(5), session: "ignored"})
	_, next := e.put(entry{part: files, texts: []string{"e"}, time: at(5)})
	got, err := e.Graph().Neighbours(ctx, files, []int64{c[2], 999, next[0], c[0], c[0]})
	require.NoError(t, err)
	require.Len(t, got, 5)
	assert.Equal(t, backend.Neighbours{Chunk: c[2], Source: src, Ordinal: 2, Time: at(5), Prev: [2]int64{c[1], c[0]}, Next: [2]int64{c[3]}}, got[0],
		"chunks of knowledge have no session")
	assert.Zero(t, got[1], "unknown")
	assert.Equal(t, [2][2]int64{}, [2][2]int64{got[2].Prev, got[2].Next}, "neighbours are of one source")
	assert.Equal(t, [2]int64{c[1], c[2]}, got[3].Next)
	assert.Equal(t, got[3], got[4])
	chunks, err := e.Graph().SessionChunks(ctx, files, 0, 10)
	require.NoError(t, err)
	assert.Empty(t, chunks, "0 is no session")
}

func testNeighboursSession(t *testing.T, e *indexEnv) {
	ctx := t.Context()
	_, late := e.put(entry{session: "s", time: at(7200), texts: []string{"third", "fourth"}})
	_, early := e.put(entry{session: "s", time: at(0), texts: []string{"first"}})
	_, same := e.put(entry{session: "s", time: at(0), texts: []string{"second"}})
	_, alone := e.put(entry{session: "t", time: at(0), texts: []string{"alone"}})
	_, untimed := e.put(entry{texts: []string{"no time", "no session"}})
	order := []int64{early[0], same[0], late[0], late[1]}
	got := e.around(order...)
	for i, a := range got {
		assert.NotZero(t, a.Session)
		assert.Equal(t, got[0].Session, a.Session)
		var want backend.Neighbours
		for j := range 2 {
			if k := i - 1 - j; k >= 0 {
				want.Prev[j] = order[k]
			}
			if k := i + 1 + j; k < len(order) {
				want.Next[j] = order[k]
			}
		}
		assert.Equal(t, []any{want.Prev, want.Next}, []any{a.Prev, a.Next}, "by (time, source, ordinal): place %d", i)
	}
	chunks, err := e.Graph().SessionChunks(ctx, notes, got[0].Session, 10)
	require.NoError(t, err)
	assert.Equal(t, order, chunks)
	chunks, err = e.Graph().SessionChunks(ctx, notes, got[0].Session, 2)
	require.NoError(t, err)
	assert.Equal(t, order[:2], chunks)
	rest := e.around(alone[0], untimed[0], untimed[1])
	assert.NotZero(t, rest[0].Session)
	assert.NotEqual(t, got[0].Session, rest[0].Session)
	assert.Equal(t, [2][2]int64{}, [2][2]int64{rest[0].Prev, rest[0].Next})
	assert.Zero(t, rest[1].Session, "neither a session nor a time")
	assert.Equal(t, [2]int64{untimed[1]}, rest[1].Next, "the order in the source")
	assert.Equal(t, [2]int64{untimed[0]}, rest[2].Prev)
	chunks, err = e.Graph().SessionChunks(ctx, other, got[0].Session, 10)
	require.NoError(t, err)
	assert.Empty(t, chunks, "sessions are of a partition")
}

func testNeighboursRuns(t *testing.T, e *indexEnv) {
	gap := backend.SessionGap
	var sources []int64
	chunk := func(after time.Duration) int64 {
		src, c := e.put(entry{time: at(0).Add(after), texts: []string{"x"}})
		sources = append(sources, src)
		return c[0]
	}
	c := chunk(2*gap + 2*time.Microsecond) // not in order of time
	a, b := chunk(0), chunk(gap)
	_, named := e.put(entry{time: at(0).Add(gap), session: "explicit", texts: []string{"y"}})
	got := e.around(a, b, c, named[0])
	require.NotZero(t, got[0].Session)
	assert.Equal(t, got[0].Session, got[1].Session, "a gap of SessionGap does not end a session")
	assert.NotZero(t, got[2].Session)
	assert.NotEqual(t, got[1].Session, got[2].Session, "a longer one does")
	assert.NotEqual(t, got[1].Session, got[3].Session, "an explicit session is one of its own")
	assert.Equal(t, [2]int64{b}, got[0].Next)
	assert.Zero(t, got[1].Next[0])

	bridge := chunk(gap + gap/2)
	got = e.around(a, b, bridge, c)
	for i := range 3 {
		assert.Equal(t, got[0].Session, got[i+1].Session, "a memory between joins two sessions")
	}
	assert.Equal(t, [2]int64{bridge, b}, got[3].Prev)
	e.drop(sources[3])
	got = e.around(b, c, bridge)
	assert.NotEqual(t, got[0].Session, got[1].Session, "and without it they are two again")
	assert.Zero(t, got[2])
	assert.Equal(t, [2]int64{a}, got[0].Prev)
}

func testNeighboursFacts(t *testing.T, e *indexEnv) {
	_, c := e.put(entry{texts: []string{"Where is it?"}, extra: backend.RowExtra{Speaker: "Anna", Question: true, HasTime: true, Asks: true, First: true, Second: true}})
	a := e.around(c[0])[0]
	assert.Equal(t, []any{"Anna", true, true, true, true, true}, []any{a.Speaker, a.Question, a.HasTime, a.Asks, a.First, a.Second})
	for i, extra := range []string{"", "{", "null", "[]", `{"k":5,"s":7}`, "\xff", `{"k":["word"],"s":"Bo"}`} {
		e.change(backend.Change{Kind: backend.PutChunks, Source: int64(100 + i), Rows: []backend.Row{
			{Chunk: int64(100 + i), Text: "plain", Vector: unit(1), Extra: []byte(extra)},
		}})
		got := e.around(int64(100 + i))
		assert.Equal(t, int64(100+i), got[0].Chunk, "extra %q is no reason to lose a chunk", extra)
	}
	assert.Len(t, e.keywords(backend.KeywordQuery{Text: "plain"}), 7)
	assert.Len(t, e.keywords(backend.KeywordQuery{Text: "word"}), 1)
}

func testGraphEntities(t *testing.T, e *indexEnv) {
	ctx := t.Context()
	g := e.Graph()
	s1, c1 := e.put(entry{texts: []string{"a", "b"}})
	s2, c2 := e.put(entry{texts: []string{"c"}})
	e.mention(s1,
		backend.MentionRef{Chunk: c1[0], Entity: 50, Key: "red", Weight: 1}, backend.MentionRef{Chunk: c1[1], Entity: 50, Key: "red", Weight: 3},
		backend.MentionRef{Chunk: c1[1], Entity: 40, Key: "blue", Weight: .5})
	e.mention(s2, backend.MentionRef{Chunk: c2[0], Entity: 50, Key: "crimson", Weight: 2}, backend.MentionRef{Chunk: c2[0], Entity: 50, Key: "red", Weight: 1})

	match, err := g.MatchEntities(ctx, notes, []string{"crimson", "nobody", "blue", "red", "red", ""})
	require.NoError(t, err)
	assert.ElementsMatch(t, []backend.EntityMatch{{Entity: 50, Key: "crimson", DF: 3}, {Entity: 40, Key: "blue", DF: 1}, {Entity: 50, Key: "red", DF: 3}}, match,
		"each key once, other keys of an entity too")
	refs, err := g.Mentions(ctx, notes, []int64{c1[1], 999, c2[0]})
	require.NoError(t, err)
	assert.ElementsMatch(t, []backend.EntityRef{
		{Chunk: c1[1], Entity: 40, Weight: .5, DF: 1}, {Chunk: c1[1], Entity: 50, Weight: 3, DF: 3}, {Chunk: c2[0], Entity: 50, Weight: 3, DF: 3},
	}, refs, "one edge between a chunk and an entity, weights added up")
	in, err := g.MentionedIn(ctx, notes, []int64{50, 999, 40}, 2)
	require.NoError(t, err)
	assert.Equal(t, []backend.EntityRef{
		{Chunk: c1[0], Entity: 50, Weight: 1, DF: 3}, {Chunk: c1[1], Entity: 50, Weight: 3, DF: 3}, {Chunk: c1[1], Entity: 40, Weight: .5, DF: 1},
	}, in, "at most two each, smallest chunk first")
	info, err := g.Info(ctx, notes)
	require.NoError(t, err)
	assert.Equal(t, backend.GraphInfo{Chunks: 3, Entities: 2, Shared: 1, Links: 3}, info)

	empty, err := g.Info(ctx, other)
	require.NoError(t, err)
	assert.Zero(t, empty)
	match, err = g.MatchEntities(ctx, other, []string{"red"})
	require.NoError(t, err)
	assert.Empty(t, match)
	refs, err = g.Mentions(ctx, other, c1)
	require.NoError(t, err)
	assert.Empty(t, refs)
	in, err = g.MentionedIn(ctx, other, []int64{50}, 5)
	require.NoError(t, err)
	assert.Empty(t, in)
}

func testGraphChanges(t *testing.T, e *indexEnv) {
	ctx := t.Context()
	g := e.Graph()
	s1, c1 := e.put(entry{texts: []string{"a"}})
	s2, c2 := e.put(entry{texts: []string{"b"}})
	e.mention(s1, backend.MentionRef{Chunk: c1[0], Entity: 1, Key: "one", Weight: 1})
	e.mention(s2, backend.MentionRef{Chunk: c2[0], Entity: 2, Key: "two", Weight: 1})
	keys := []string{"one", "two"}
	check := func(want ...backend.EntityMatch) {
		t.Helper()
		got, err := g.MatchEntities(ctx, notes, keys)
		require.NoError(t, err)
		assert.ElementsMatch(t, want, got)
	}
	e.mention(s1, backend.MentionRef{Chunk: c1[0], Entity: 2, Key: "one", Weight: 1})
	check(backend.EntityMatch{Entity: 2, Key: "one", DF: 2}, backend.EntityMatch{Entity: 2, Key: "two", DF: 2})
	e.change(backend.Change{Kind: backend.PutTags, Source: s1, Tags: []uint64{5}})
	check(backend.EntityMatch{Entity: 2, Key: "one", DF: 2}, backend.EntityMatch{Entity: 2, Key: "two", DF: 2})
	e.drop(s2)
	check(backend.EntityMatch{Entity: 2, Key: "one", DF: 1})
	e.mention(s1)
	check()
	info, err := g.Info(ctx, notes)
	require.NoError(t, err)
	assert.Equal(t, backend.GraphInfo{Chunks: 1}, info)
}
