package backendtest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

var storeReadTests = []namedTest[*storeEnv]{
	{"Sources", testSources},
	{"List", testList},
	{"ListFilter", testListFilter},
	{"ListEverybody", testListEverybody},
	{"Chunks", testChunks},
	{"SourceChunks", testSourceChunks},
	{"SubsAndStats", testSubsAndStats},
	{"Values", testValues},
	{"Isolation", testIsolation},
	{"NotFound", testNotFound},
}

func testSources(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	nums := e.accept(memory("a"), memory("b"), memory("a").in(files), memory("a").in(other))
	got, err := e.Sources(ctx, notes, []string{"b", "nobody", "a", "b"})
	require.NoError(t, err)
	require.Len(t, got, 4)
	assert.Nil(t, got[1])
	assert.Equal(t, []int64{nums[1], nums[0], nums[1]}, []int64{got[0].Num, got[2].Num, got[3].Num})
	byNum, err := e.SourcesByNum(ctx, []int64{nums[3], 999, nums[0], -1, 0})
	require.NoError(t, err)
	require.Len(t, byNum, 5)
	assert.Equal(t, other, byNum[0].Part)
	assert.Nil(t, byNum[1])
	assert.Equal(t, notes, byNum[2].Part)
	subs, err := e.FindSubs(ctx, backend.Memory, "a")
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"notes", "other"}, subs)
	subs, err = e.FindSubs(ctx, backend.Knowledge, "b")
	require.NoError(t, err)
	assert.Empty(t, subs)
	got[0].Title, got[0].Doc = "changed by the caller", append(got[0].Doc, 1)
	assert.Equal(t, "title of b", e.source(notes, "b").Title)
}

func testList(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	var items []item
	for i, sec := range []int{5, 9, 5, 1, 5, 7} {
		items = append(items, memory(fmt.Sprint("id", i), "x").updated(at(sec)))
	}
	e.complete(items...)
	e.accept(memory("id3", "newer").updated(at(20)), memory("foreign").in(other), memory("gone").expires(at(50)))
	want := []string{"id3", "id1", "id5", "id0", "id2", "id4", "gone"}
	ids, total := e.list(backend.ListQuery{Part: notes, Limit: 100})
	assert.Equal(t, want, ids, "newest first, then ID; each id once")
	assert.Equal(t, 7, total)
	var paged []string
	for off := 0; off < 8; off += 3 {
		ids, total := e.list(backend.ListQuery{Part: notes, Limit: 3, Offset: off})
		assert.Equal(t, 7, total)
		paged = append(paged, ids...)
	}
	assert.Equal(t, want, paged)
	testListPlaces(t, e, backend.ListQuery{Part: notes}, want)
	testListPlaces(t, e, backend.ListQuery{Part: notes, IDs: []string{"id5", "id0", "id2", "gone"}}, []string{"id5", "id0", "id2", "gone"})
	testListPlaces(t, e, backend.ListQuery{Part: notes, States: []backend.State{backend.Completed}}, []string{"id1", "id5", "id0", "id2", "id4"})
	ids, total = e.list(backend.ListQuery{Part: notes, Limit: 3, Offset: 100})
	assert.Empty(t, ids)
	assert.Equal(t, 7, total, "over all pages, behind the last one too")
	ids, total = e.list(backend.ListQuery{Part: notes, IDs: []string{"id0", "nobody", "id1", "foreign"}, Limit: 10})
	assert.Equal(t, []string{"id1", "id0"}, ids)
	assert.Equal(t, 2, total)
	ids, total = e.list(backend.ListQuery{Part: notes, IDs: []string{}, Limit: 10})
	assert.Empty(t, ids)
	assert.Zero(t, total)
	ids, total = e.list(backend.ListQuery{Part: notes, Limit: 2, Now: at(50)})
	assert.Equal(t, []string{"id3", "id1"}, ids)
	assert.Equal(t, 6, total, "expired ones are left out")
	page, _, err := e.List(ctx, backend.ListQuery{Part: notes, IDs: []string{"id3"}, Limit: 1})
	require.NoError(t, err)
	assert.Equal(t, e.source(notes, "id3"), page[0], "whole sources")
}

// testListPlaces pages through a list forwards and backwards, from the place of the last source found.
func testListPlaces(t *testing.T, e *storeEnv, q backend.ListQuery, want []string) {
	t.Helper()
	place := func(id string) *backend.ListPlace {
		return &backend.ListPlace{Updated: e.source(q.Part, id).UpdatedAt, ID: id}
	}
	for limit := 1; limit < 4; limit++ {
		q.Limit, q.After, q.Before = limit, nil, nil
		ids, total := e.list(q)
		var walked []string
		for len(ids) > 0 {
			assert.Equal(t, len(want), total)
			walked = append(walked, ids...)
			q.After = place(ids[len(ids)-1])
			ids, total = e.list(q)
		}
		assert.Equal(t, want, walked, "%d at once", limit)
		q.After, walked = nil, []string{want[len(want)-1]}
		for {
			q.Before = place(walked[0])
			if ids, total = e.list(q); len(ids) == 0 {
				break
			}
			assert.Equal(t, len(want), total)
			walked = append(slices.Clone(ids), walked...)
		}
		assert.Equal(t, want, walked, "%d at once, backwards", limit)
	}
	q.Limit, q.Before, q.After = 2, nil, &backend.ListPlace{Updated: e.source(q.Part, want[0]).UpdatedAt, ID: want[0] + "0"}
	ids, _ := e.list(q)
	assert.Equal(t, want[1:3], ids, "a place without a source")
}

// testListEverybody filters lists by backend.Everybody, the tag that a Store need not index.
func testListEverybody(t *testing.T, e *storeEnv) {
	for _, part := range []backend.Partition{notes, {Class: backend.Raw, Sub: "notes"}} {
		testListEverybodyOf(t, e, part)
	}
}

func testListEverybodyOf(t *testing.T, e *storeEnv, part backend.Partition) {
	const anna, red = 3, 4
	e.place(
		memory("a").in(part).tagged(backend.IDTag("a"), backend.Everybody, red), memory("b").in(part).tagged(backend.IDTag("b"), backend.Everybody),
		memory("c").in(part).tagged(backend.IDTag("c"), anna, red), memory("d").in(part).tagged(backend.IDTag("d"), 5),
	)
	list := func(f backend.Filter) []string {
		t.Helper()
		ids, total := e.list(backend.ListQuery{Part: part, Filter: f, Limit: 10})
		assert.Equal(t, len(ids), total)
		return ids
	}
	visible := []uint64{backend.Everybody, anna}
	assert.Equal(t, []string{"a", "b"}, list(backend.Filter{All: [][]uint64{{backend.Everybody}}}))
	assert.Equal(t, []string{"a", "b", "c"}, list(backend.Filter{All: [][]uint64{visible}}))
	assert.Equal(t, []string{"a", "c"}, list(backend.Filter{All: [][]uint64{visible, {red}}}))
	assert.Equal(t, []string{"a"}, list(backend.Filter{All: [][]uint64{{backend.Everybody}, {red, anna, 9}}}))
	assert.Empty(t, list(backend.Filter{All: [][]uint64{visible, {9}}}))
	assert.Equal(t, []string{"c", "d"}, list(backend.Filter{Not: []uint64{backend.Everybody}}))
	assert.Equal(t, []string{"b"}, list(backend.Filter{All: [][]uint64{{backend.Everybody}}, Not: []uint64{backend.IDTag("a")}}))
	_, err := e.UpdateMetadata(t.Context(), part, "b", e.newest(part, "b"), nil, nil, nil, []uint64{backend.IDTag("b"), 5}, at(0))
	require.NoError(t, err)
	_, err = e.UpdateMetadata(t.Context(), part, "d", e.newest(part, "d"), nil, nil, nil, []uint64{backend.IDTag("d"), backend.Everybody}, at(0))
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "d"}, list(backend.Filter{All: [][]uint64{{backend.Everybody}}}))
	assert.Equal(t, []string{"b"}, list(backend.Filter{All: [][]uint64{{5}}}))
}

func testListFilter(t *testing.T, e *storeEnv) {
	e.accept(memory("a").tagged(1, 10), memory("b").tagged(2, 10), memory("c").tagged(1, 20), memory("d"), memory("e").tagged(1<<63|5))
	for _, c := range filterCases {
		ids, total := e.list(backend.ListQuery{Part: notes, Filter: c.f, Limit: 10})
		assert.Equal(t, c.want, ids, c.name)
		assert.Equal(t, len(c.want), total, c.name)
	}
	ids, total := e.list(backend.ListQuery{Part: notes, Filter: backend.Filter{All: [][]uint64{{10}}}, IDs: []string{"b", "c"}, Limit: 10})
	assert.Equal(t, []string{"b"}, ids)
	assert.Equal(t, 1, total)
}

// filterCases are filters over the sources a to e of testListFilter.
var filterCases = []struct {
	name string
	f    backend.Filter
	want []string
}{
	{"none", backend.Filter{}, []string{"a", "b", "c", "d", "e"}},
	{"one group", backend.Filter{All: [][]uint64{{1}}}, []string{"a", "c"}},
	{"any of a group", backend.Filter{All: [][]uint64{{1, 2, 99}}}, []string{"a", "b", "c"}},
	{"all groups", backend.Filter{All: [][]uint64{{1, 2}, {10}}}, []string{"a", "b"}},
	{"not", backend.Filter{Not: []uint64{1}}, []string{"b", "d", "e"}},
	{"none of several", backend.Filter{Not: []uint64{20, 2}}, []string{"a", "d", "e"}},
	{"both", backend.Filter{All: [][]uint64{{1}}, Not: []uint64{20}}, []string{"a"}},
	{"nothing has it", backend.Filter{All: [][]uint64{{99}}}, []string{}},
	{"one group of two", backend.Filter{All: [][]uint64{{1}, {99}}}, []string{}},
	{"an empty group", backend.Filter{All: [][]uint64{{}}}, []string{}},
	{"the highest bit", backend.Filter{All: [][]uint64{{1<<63 | 5}}}, []string{"e"}},
	{"without the highest bit", backend.Filter{All: [][]uint64{{5}}}, []string{}},
}

func testChunks(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	a, b := memory("a", "a0", "a1").tagged(1), memory("b", "b0").expires(at(10))
	nums := e.complete(a, b)
	e.accept(memory("hidden", "x"))
	an, bn := e.chunkNums(a), e.chunkNums(b)
	hs, err := e.Chunks(ctx, []int64{bn[0], an[1], 999, an[0], 0, -4}, at(9))
	require.NoError(t, err)
	require.Len(t, hs, 3, "those that are gone are left out")
	assert.Equal(t, []string{"b0", "a1", "a0"}, []string{hs[0].Text, hs[1].Text, hs[2].Text}, "in the order asked")
	want := a.chunks()[1]
	want.Num, want.Source, want.Vector = an[1], nums[0], nil
	assert.Equal(t, want, hs[1].Chunk, "vectors are left out")
	require.NotNil(t, hs[1].Src)
	assert.Equal(t, e.source(notes, "a"), hs[1].Src)
	hs, err = e.Chunks(ctx, []int64{bn[0], an[1]}, at(10))
	require.NoError(t, err)
	require.Len(t, hs, 1, "expired")
	keys, err := e.ChunkNums(ctx, notes, []string{"b/0", "nobody", "a/1"})
	require.NoError(t, err)
	assert.Equal(t, []int64{bn[0], 0, an[1]}, keys)

	v2 := e.accept(memory("a", "newer"))[0]
	hs, err = e.Chunks(ctx, an, at(0))
	require.NoError(t, err)
	require.Len(t, hs, 2)
	assert.Equal(t, nums[0], hs[0].Src.Num, "the version that the chunk belongs to, not %d", v2)
}

func testSourceChunks(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	a := memory("a", "a0", "a1", "a2", "a3")
	nums, _ := e.index(a)
	texts := func(from, to int) []string {
		cs, err := e.SourceChunks(ctx, nums[0], from, to, false)
		require.NoError(t, err)
		out := []string{}
		for _, c := range cs {
			assert.Nil(t, c.Vector)
			out = append(out, c.Text)
		}
		return out
	}
	assert.Equal(t, []string{"a1", "a2"}, texts(1, 3))
	assert.Equal(t, a.texts, texts(0, 1<<30))
	assert.Equal(t, a.texts, texts(-5, 4))
	assert.Empty(t, texts(4, 9))
	assert.Empty(t, texts(2, 2))
	cs, err := e.SourceChunks(ctx, nums[0], 2, 3, true)
	require.NoError(t, err)
	require.Len(t, cs, 1)
	assert.Equal(t, Vector("a2", dim), cs[0].Vector)
	cs, err = e.SourceChunks(ctx, 999, 0, 9, true)
	require.NoError(t, err)
	assert.Empty(t, cs)
}

func testSubsAndStats(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	raw := backend.Partition{Class: backend.Raw, Sub: "vectors"}
	e.complete(memory("a", "x", "y"), memory("b", "x").in(files), memory("c", "x").in(other), memory("d", "x").in(raw),
		memory("past", "x", "y").expires(time.Unix(1e9, 0)))
	e.accept(memory("a", "newer"), memory("waiting"))
	_, _, err := e.Expire(ctx, at(0), 10)
	require.NoError(t, err)
	subs, err := e.Subs(ctx)
	require.NoError(t, err)
	assert.Equal(t, []backend.SubInfo{
		{Sub: "notes", Knowledge: 1, Memory: 2}, {Sub: "other", Memory: 1}, {Sub: "vectors", Raw: 1},
	}, subs)
	for class, want := range map[backend.Class]backend.Stats{
		backend.Memory:    {Chunks: 3, Sources: 3},
		backend.Knowledge: {Chunks: 1, Sources: 1},
		backend.Raw:       {Chunks: 1, Sources: 1},
	} {
		got, err := e.Stats(ctx, class)
		require.NoError(t, err)
		assert.Equal(t, want, got, "class %d", class)
	}
}

func testValues(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	v, err := e.Get(ctx, "name")
	require.NoError(t, err)
	assert.Nil(t, v)
	require.NoError(t, e.Set(ctx, "name", nil, []byte("one")))
	require.NoError(t, e.Set(ctx, "name", []byte("one"), []byte("two\x00")))
	require.NoError(t, e.Set(ctx, "Name", nil, []byte("other")))
	v, err = e.Get(ctx, "name")
	require.NoError(t, err)
	assert.Equal(t, "two\x00", string(v))
	v[0] = 'X'
	v, err = e.Get(ctx, "name")
	require.NoError(t, err)
	assert.Equal(t, "two\x00", string(v))
}

// testIsolation stores the same ids, keys and tags in three partitions and in another workspace, and
// checks that reading one never returns data of another.
func testIsolation(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	parts := []backend.Partition{notes, files, other}
	for _, p := range parts {
		it := memory("same", "text of "+p.Sub+fmt.Sprint(p.Class)).in(p).tagged(1).mention(0, "red").mention(0, "blue").
			relate(backend.Relation{FromKey: "red", ToKey: "blue", Predicate: "p", Raw: p.Sub + fmt.Sprint(p.Class), Functional: true, KnownFrom: at(int(p.Class))})
		e.complete(it)
	}
	foreign, err := e.stores.OpenStore(ctx, UID("foreign"))
	require.NoError(t, err)
	closeAtEnd(t, foreign)
	assertEmpty := func(s backend.Store, p backend.Partition) {
		t.Helper()
		srcs, err := s.Sources(ctx, p, []string{"same"})
		require.NoError(t, err)
		assert.Nil(t, srcs[0])
		_, total, err := s.List(ctx, backend.ListQuery{Part: p, Limit: 10})
		require.NoError(t, err)
		assert.Zero(t, total)
		nums, err := s.ChunkNums(ctx, p, []string{"same/0"})
		require.NoError(t, err)
		assert.Zero(t, nums[0])
		ents, err := s.EntitiesByKey(ctx, p, []string{"red"})
		require.NoError(t, err)
		assert.Nil(t, ents[0])
		rs, err := s.Relations(ctx, backend.RelationQuery{Part: p, AllTime: true, Limit: 10})
		require.NoError(t, err)
		assert.Empty(t, rs)
		ms, err := s.Merges(ctx, p, 0, 10)
		require.NoError(t, err)
		assert.Empty(t, ms)
	}
	assertEmpty(e.Store, backend.Partition{Class: backend.Raw, Sub: "notes"})
	assertEmpty(e.Store, backend.Partition{Class: backend.Memory, Sub: "note"})
	assertEmpty(e.Store, backend.Partition{Class: backend.Memory, Sub: ""})
	for _, p := range parts {
		assertEmpty(foreign, p)
	}
	st, err := foreign.Stats(ctx, backend.Memory)
	require.NoError(t, err)
	assert.Zero(t, st)
	assert.Zero(t, foreign.LastSeq())
	subs, err := foreign.Subs(ctx)
	require.NoError(t, err)
	assert.Empty(t, subs)

	seenChunk, seenEntity := map[int64]bool{}, map[int64]bool{}
	for _, p := range parts {
		nums, err := e.ChunkNums(ctx, p, []string{"same/0"})
		require.NoError(t, err)
		assert.False(t, seenChunk[nums[0]])
		seenChunk[nums[0]] = true
		hs, err := e.Chunks(ctx, nums, at(0))
		require.NoError(t, err)
		require.Len(t, hs, 1)
		assert.Equal(t, "text of "+p.Sub+fmt.Sprint(p.Class), hs[0].Text)
		ents, err := e.EntitiesByKey(ctx, p, []string{"red"})
		require.NoError(t, err)
		require.NotNil(t, ents[0])
		assert.Equal(t, 1, ents[0].Mentions, "mentions of other partitions do not count")
		assert.False(t, seenEntity[ents[0].Num])
		seenEntity[ents[0].Num] = true
		rs := e.relations(backend.RelationQuery{Part: p})
		require.Len(t, rs, 1, "a fact of another partition retires nothing")
		assert.Equal(t, p.Sub+fmt.Sprint(p.Class), rs[0].Raw)
		all := e.relations(backend.RelationQuery{Part: p, Sources: []int64{1, 2, 3, 4, 5}, AllTime: true})
		assert.Len(t, all, 1, "naming the versions of other partitions finds nothing more")
		ids, _ := e.list(backend.ListQuery{Part: p, Filter: backend.Filter{All: [][]uint64{{1}}}, Limit: 10})
		assert.Len(t, ids, 1)
	}
	_, err = e.MergeEntities(ctx, notes, "blue", "red", "", at(1))
	require.NoError(t, err)
	ents, err := e.EntitiesByKey(ctx, files, []string{"blue"})
	require.NoError(t, err)
	require.NotNil(t, ents[0])
	assert.Equal(t, "blue", ents[0].Key, "a merge stays in its partition")
	_, err = e.Delete(ctx, files, []string{"same"}, backend.DeleteOptions{})
	require.NoError(t, err)
	assert.NotNil(t, e.source(notes, "same"))
	assert.NotNil(t, e.source(other, "same"))
}

func testNotFound(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	nobody := backend.Partition{Class: backend.Memory, Sub: "nobody"}
	ignore := func(_ any, err error) error { return err }
	for name, err := range map[string]error{
		"Requeue":        e.Requeue(ctx, nobody, "a"),
		"UpdateMetadata": ignore(e.UpdateMetadata(ctx, nobody, "a", e.newest(nobody, "a"), nil, nil, nil, nil, at(0))),
		"Content":        ignore(e.Content(ctx, 1, backend.Original)),
		"MergeEntities":  ignore(e.MergeEntities(ctx, nobody, "a", "b", "", at(0))),
		"UndoMerge":      e.UndoMerge(ctx, 1),
	} {
		assert.ErrorIs(t, err, backend.ErrNotFound, name)
	}
	nums := e.accept(memory("a"))
	assert.ErrorIs(t, ignore(e.Content(ctx, nums[0], backend.Text)), backend.ErrNotFound, "a blob that it lacks")
	out, err := e.Delete(ctx, nobody, []string{"a"}, backend.DeleteOptions{})
	require.NoError(t, err)
	assert.Equal(t, []backend.DeleteResult{{}}, out)
	subs, err := e.FindSubs(ctx, backend.Memory, "nobody")
	require.NoError(t, err)
	assert.Empty(t, subs)
	ents, err := e.Entities(ctx, []int64{1, 0})
	require.NoError(t, err)
	assert.Equal(t, []*backend.Entity{nil, nil}, ents)
}
