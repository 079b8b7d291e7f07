package backendtest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

var storePlaceTests = []namedTest[*storeEnv]{
	{"Place", testPlace},
	{"PlaceReplaces", testPlaceReplaces},
	{"PlaceRefuses", testPlaceRefuses},
	{"PlaceEvents", testPlaceEvents},
	{"PlaceAmongWork", testPlaceAmongWork},
	{"PlaceWithoutText", testPlaceWithoutText},
}

func placed(it item) backend.Placed {
	return backend.Placed{Incoming: backend.Incoming{Source: it.Source, Blobs: it.blobs}, Chunks: it.chunks()}
}

// place places items and checks that the returned changes equal those of the feed.
func (e *storeEnv) place(items ...item) *backend.Placement {
	e.t.Helper()
	before := e.LastSeq()
	var in []backend.Placed
	for _, it := range items {
		in = append(in, placed(it))
	}
	p, err := e.Place(e.t.Context(), in)
	require.NoError(e.t, err)
	require.Len(e.t, p.Nums, len(items))
	assert.Equal(e.t, before, p.After)
	assert.Equal(e.t, e.changes(before), p.Changes)
	return p
}

func testPlace(t *testing.T, e *storeEnv) {
	a, b := memory("a", "one", "two").tagged(7, 3), memory("b").in(other)
	a.Time, a.ExpiresAt, a.Session, a.Metadata, a.Doc = at(3), at(1e6), "s", []byte(`{"a":1}`), []byte("doc")
	a.blobs = []backend.Blob{{Kind: backend.Original, Data: []byte("original")}}
	p := e.place(a, b)
	require.Less(t, p.Nums[0], p.Nums[1], "Nums rise")
	got := e.source(notes, "a")
	want := a.Source
	want.Num, want.State, want.Tags = p.Nums[0], backend.Completed, got.Tags
	assert.ElementsMatch(t, a.Tags, got.Tags)
	assert.Equal(t, &want, got)
	assert.Equal(t, []string{"one", "two"}, e.visible(a))
	chunks, err := e.SourceChunks(t.Context(), p.Nums[0], 0, 10, true)
	require.NoError(t, err)
	require.Len(t, chunks, 2)
	assert.Equal(t, Vector("two", dim), chunks[1].Vector)
	data, err := e.Content(t.Context(), p.Nums[0], backend.Original)
	require.NoError(t, err)
	assert.Equal(t, "original", string(data))
	counts, next, err := e.Backlog(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[backend.State]int{backend.Completed: 2}, counts)
	assert.True(t, next.IsZero())
	_, claims := e.claimAll()
	assert.Empty(t, claims, "nothing waits")
	stats, err := e.Stats(t.Context(), backend.Memory)
	require.NoError(t, err)
	assert.Equal(t, backend.Stats{Chunks: 2, Sources: 2}, stats)
	e.reopen()
	assert.Equal(t, []string{"one", "two"}, e.visible(a))
	assert.Len(t, e.changes(0), 2)
}

func testPlaceReplaces(t *testing.T, e *storeEnv) {
	e.complete(memory("a", "old").tagged(1), memory("b", "kept"))
	waits := e.accept(memory("a", "waits"))[0]
	newer := memory("a", "new").tagged(2)
	newer.CreatedAt = at(50)
	e.place(newer, memory("c", "other"))
	assert.Equal(t, []string{"new"}, e.visible(memory("a", "x")))
	assert.Equal(t, []string{"kept"}, e.visible(memory("b", "x")))
	assert.Equal(t, at(0), e.source(notes, "a").CreatedAt, "kept over versions")
	assert.Nil(t, e.version(waits), "a version that was not indexed is cancelled")
	_, claims := e.claimAll()
	assert.Empty(t, claims)
	ids, total := e.list(backend.ListQuery{Part: notes, Limit: 10, Filter: backend.Filter{All: [][]uint64{{1}}}})
	assert.Empty(t, ids)
	assert.Zero(t, total)
	e.place(memory("a", "newest", "two"))
	assert.Equal(t, []string{"newest", "two"}, e.visible(memory("a", "x", "y")))
	require.Len(t, e.accept(memory("a", "by work")), 1)
	assert.Equal(t, []string{"newest", "two"}, e.visible(memory("a", "x", "y")), "stays visible meanwhile")
}

func testPlaceRefuses(t *testing.T, e *storeEnv) {
	e.complete(memory("a", "one"))
	before := e.LastSeq()
	thief := placed(memory("c", "stolen"))
	thief.Chunks[0].Key = memory("a", "one").chunks()[0].Key
	absent := placed(memory("a", "two"))
	absent.IfAbsent = true
	unknown := placed(memory("c", "x"))
	unknown.Blobs = []backend.Blob{{Kind: 9}}
	many := func(key int, as string) backend.Placed {
		in := placed(memory("c", strings.Fields(strings.Repeat("many ", 150))...))
		in.Chunks[key].Key = as
		return in
	}
	for _, in := range []backend.Placed{thief, absent, many(140, thief.Chunks[0].Key), many(149, "c/3"), many(70, "c/69"), many(1, "c/0")} {
		_, err := e.Place(t.Context(), []backend.Placed{placed(memory("b", "fine")), in})
		require.ErrorIs(t, err, backend.ErrExists)
	}
	_, err := e.Place(t.Context(), []backend.Placed{placed(memory("b", "fine")), unknown})
	require.Error(t, err)
	assert.Nil(t, e.source(notes, "b"), "all or nothing")
	assert.Equal(t, []string{"one"}, e.visible(memory("a", "x")))
	assert.Equal(t, before, e.LastSeq())
	inOther := placed(memory("a", "elsewhere").in(other))
	inOther.IfAbsent = true
	_, err = e.Place(t.Context(), []backend.Placed{inOther})
	require.NoError(t, err, "ids and keys are taken in a partition")
}

func testPlaceEvents(t *testing.T, e *storeEnv) {
	loud := placed(memory("a", "one"))
	loud.Event = true
	p, err := e.Place(t.Context(), []backend.Placed{loud, placed(memory("b", "two"))})
	require.NoError(t, err)
	events, err := e.Events(t.Context(), 10)
	require.NoError(t, err)
	require.Len(t, events, 1)
	assert.Equal(t, backend.Event{Seq: events[0].Seq, ItemID: "a", Part: notes, Source: p.Nums[0], Status: backend.Completed, At: events[0].At, Epoch: events[0].Epoch}, events[0])
}

// testPlaceAmongWork places items while workers index others. The feed must list each item once, in the
// order in which the items became searchable, for steps of any size, and after restarts and deletions.
func testPlaceAmongWork(t *testing.T, e *storeEnv) {
	e.place(memory("first", "x"))
	waiting := e.accept(memory("w0", "x"), memory("w1", "x"), memory("w2", "x"))
	second := e.place(memory("second", "x"), memory("third", "x"))
	require.Less(t, waiting[2], second.Nums[0], "Nums rise")
	token, claims := e.claimAll()
	require.Len(t, claims, 3)
	work := func(i int, id string) {
		t.Helper()
		ok, err := e.Index(t.Context(), []backend.Indexed{{Num: waiting[i], Token: token, Chunks: memory(id, "x").chunks()}})
		require.NoError(t, err)
		require.Equal(t, []bool{true}, ok)
	}
	work(1, "w1")
	e.place(memory("fourth", "x"))
	work(0, "w0")
	work(2, "w2")
	e.place(memory("fifth", "x"), memory("second", "again"))
	_, err := e.UpdateMetadata(t.Context(), notes, "fourth", e.newest(notes, "fourth"), nil, nil, nil, []uint64{3}, at(1))
	require.NoError(t, err)
	_, err = e.Delete(t.Context(), notes, []string{"third"}, backend.DeleteOptions{})
	require.NoError(t, err)
	want := []string{
		"chunks first", "chunks w1", "chunks fourth", "chunks w0", "chunks w2", "chunks fifth", "drop second", "chunks second", "tags fourth", "drop third",
	}
	for range 2 {
		for limit := 1; limit < 5; limit++ {
			assert.Equal(t, want, kinds(feedAfter(t, e.Store, 0, limit)), "in steps of %d", limit)
		}
		e.reopen()
	}
	seq := e.LastSeq()
	p := e.place(memory("sixth", "x"))
	assert.Greater(t, p.Changes[0].Seq, seq)
	assert.Equal(t, append(want, "chunks sixth"), kinds(e.changes(0)))
}

// testPlaceWithoutText stores vectors without text through each method that can.
func testPlaceWithoutText(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	bare := func(id string, vectors ...[]float32) item {
		it := memory(id, make([]string, len(vectors))...)
		it.vectors = vectors
		return it
	}
	a := bare("a", Vector("one", dim), nil, Vector("two", dim))
	b := bare("b", Vector("three", dim))
	nums := append(e.place(a).Nums, e.complete(b)...)
	check := func(num int64, want ...[]float32) {
		t.Helper()
		chunks, err := e.SourceChunks(ctx, num, 0, 10, true)
		require.NoError(t, err)
		require.Len(t, chunks, len(want))
		for i, c := range chunks {
			assert.Equal(t, want[i], c.Vector)
			assert.Empty(t, c.Text)
		}
	}
	for range 2 {
		check(nums[0], a.vectors...)
		check(nums[1], b.vectors...)
		feed := e.changes(0)
		require.Len(t, feed, 2)
		assert.Equal(t, a.vectors[2], feed[0].Rows[2].Vector)
		assert.Equal(t, b.vectors[0], feed[1].Rows[0].Vector)
		e.reopen()
	}
	again := bare("a", Vector("four", dim))
	p := e.place(again)
	check(p.Nums[0], again.vectors...)
	assert.Nil(t, e.version(nums[0]))
	withText := memory("b", "text")
	check(nums[1], b.vectors...)
	e.complete(withText)
	assert.Equal(t, []string{"text"}, e.visible(withText))
}
