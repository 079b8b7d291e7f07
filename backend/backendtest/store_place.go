package backendtest

import (
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
}

func placed(it item) backend.Placed {
	return backend.Placed{Incoming: backend.Incoming{Source: it.Source, Blobs: it.blobs}, Chunks: it.chunks()}
}

// place places items and checks that the changes told are those of the feed.
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
	a, b := memo("a", "one", "two").tagged(7, 3), memo("b").in(other)
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
	e.complete(memo("a", "old").tagged(1), memo("b", "kept"))
	waits := e.accept(memo("a", "waits"))[0]
	newer := memo("a", "new").tagged(2)
	newer.CreatedAt = at(50)
	e.place(newer, memo("c", "other"))
	assert.Equal(t, []string{"new"}, e.visible(memo("a", "x")))
	assert.Equal(t, []string{"kept"}, e.visible(memo("b", "x")))
	assert.Equal(t, at(0), e.source(notes, "a").CreatedAt, "kept over versions")
	assert.Nil(t, e.version(waits), "a version that was not indexed is cancelled")
	_, claims := e.claimAll()
	assert.Empty(t, claims)
	ids, total := e.list(backend.ListQuery{Part: notes, Limit: 10, Filter: backend.Filter{All: [][]uint64{{1}}}})
	assert.Empty(t, ids)
	assert.Zero(t, total)
	e.place(memo("a", "newest", "two"))
	assert.Equal(t, []string{"newest", "two"}, e.visible(memo("a", "x", "y")))
	require.Len(t, e.accept(memo("a", "by work")), 1)
	assert.Equal(t, []string{"newest", "two"}, e.visible(memo("a", "x", "y")), "stays visible meanwhile")
}

func testPlaceRefuses(t *testing.T, e *storeEnv) {
	e.complete(memo("a", "one"))
	before := e.LastSeq()
	thief := placed(memo("c", "stolen"))
	thief.Chunks[0].Key = memo("a", "one").chunks()[0].Key
	absent := placed(memo("a", "two"))
	absent.IfAbsent = true
	unknown := placed(memo("c", "x"))
	unknown.Blobs = []backend.Blob{{Kind: 9}}
	for _, in := range []backend.Placed{thief, absent} {
		_, err := e.Place(t.Context(), []backend.Placed{placed(memo("b", "fine")), in})
		require.ErrorIs(t, err, backend.ErrExists)
	}
	_, err := e.Place(t.Context(), []backend.Placed{placed(memo("b", "fine")), unknown})
	require.Error(t, err)
	assert.Nil(t, e.source(notes, "b"), "all or nothing")
	assert.Equal(t, []string{"one"}, e.visible(memo("a", "x")))
	assert.Equal(t, before, e.LastSeq())
	inOther := placed(memo("a", "elsewhere").in(other))
	inOther.IfAbsent = true
	_, err = e.Place(t.Context(), []backend.Placed{inOther})
	require.NoError(t, err, "ids and keys are taken in a partition")
}

func testPlaceEvents(t *testing.T, e *storeEnv) {
	loud := placed(memo("a", "one"))
	loud.Event = true
	p, err := e.Place(t.Context(), []backend.Placed{loud, placed(memo("b", "two"))})
	require.NoError(t, err)
	events, err := e.Events(t.Context(), 10)
	require.NoError(t, err)
	require.Len(t, events, 1)
	assert.Equal(t, backend.Event{Seq: events[0].Seq, ItemID: "a", Part: notes, Source: p.Nums[0], Status: backend.Completed, At: events[0].At}, events[0])
}
