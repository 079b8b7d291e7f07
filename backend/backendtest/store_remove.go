package backendtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

var storeRemoveTests = []namedTest[*storeEnv]{
	{"Delete", testDelete},
	{"DeleteWhileIndexing", testDeleteWhileIndexing},
	{"DeleteStill", testDeleteStill},
	{"DeleteJointly", testDeleteJointly},
	{"DeleteJointlyAtOnce", testDeleteJointlyAtOnce},
	{"LastNum", testLastNum},
	{"DeleteSub", testDeleteSub},
	{"Expire", testExpire},
	{"ExpireVersions", testExpireVersions},
	{"UpdateMetadata", testUpdateMetadata},
	{"EraseEvents", testEraseEvents},
	{"Purge", testPurge},
}

func testDelete(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	a := memory("a", "one", "two").mention(0, "red").mention(1, "both").relate(backend.Relation{FromKey: "red", ToKey: "both", Raw: "r"})
	a.blobs = []backend.Blob{{Kind: backend.Original, Data: []byte("orig")}}
	b := memory("b", "three").mention(0, "both")
	nums := e.complete(a, b)
	chunks := e.chunkNums(a)
	newer := e.accept(memory("a", "newer"))
	out, err := e.Delete(ctx, notes, []string{"a", "nobody"}, backend.DeleteOptions{})
	require.NoError(t, err)
	assert.Equal(t, []backend.DeleteResult{{Found: true, Indexing: true}, {}}, out)
	assert.Nil(t, e.source(notes, "a"))
	assert.Nil(t, e.version(nums[0]), "all versions go")
	assert.Nil(t, e.version(newer[0]))
	_, err = e.Content(ctx, nums[0], backend.Original)
	require.ErrorIs(t, err, backend.ErrNotFound)
	hs, err := e.Chunks(ctx, chunks, at(0))
	require.NoError(t, err)
	assert.Empty(t, hs)
	left, err := e.SourceChunks(ctx, nums[0], 0, 10, false)
	require.NoError(t, err)
	assert.Empty(t, left)
	assert.Equal(t, []int64{0, 0}, e.chunkNums(a))
	assert.Nil(t, e.entity("red"), "nothing else mentions it")
	require.NotNil(t, e.entity("both"))
	assert.Equal(t, 1, e.entity("both").Mentions)
	assert.Empty(t, e.relationsRaw(backend.RelationQuery{AllTime: true}))

	out, err = e.Delete(ctx, notes, []string{"b"}, backend.DeleteOptions{KeepIndexing: true})
	require.NoError(t, err)
	assert.Equal(t, []backend.DeleteResult{{Found: true}}, out)
	again := e.complete(memory("a", "reborn"))
	assert.Greater(t, again[0], newer[0], "Nums are never used again")
}

func testDeleteWhileIndexing(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	nums := e.accept(memory("queued"), memory("claimed", "x"), memory("indexed", "x"))
	token, _ := e.claimAll()
	ok, err := e.Index(ctx, []backend.Indexed{{Num: nums[2], Token: token, Chunks: memory("indexed", "x").chunks()}})
	require.NoError(t, err)
	require.Equal(t, []bool{true}, ok)
	ids := []string{"queued", "claimed", "indexed"}
	out, err := e.Delete(ctx, notes, ids, backend.DeleteOptions{KeepIndexing: true})
	require.NoError(t, err)
	for i, r := range out {
		assert.Equal(t, backend.DeleteResult{Found: true, Indexing: true}, r)
		assert.NotNil(t, e.version(nums[i]), "left alone")
	}
	out, err = e.Delete(ctx, notes, ids, backend.DeleteOptions{})
	require.NoError(t, err)
	for i, r := range out {
		assert.Equal(t, backend.DeleteResult{Found: true, Indexing: true}, r)
		assert.Nil(t, e.version(nums[i]))
	}
	ok, err = e.Finish(ctx, []backend.Finished{{Num: nums[2], Token: token, State: backend.Completed, Event: true}})
	require.NoError(t, err)
	assert.Equal(t, []bool{false}, ok)
	_, claims := e.claimAll()
	assert.Empty(t, claims)
	counts, next, err := e.Backlog(ctx)
	require.NoError(t, err)
	assert.Zero(t, counts[backend.Processing]+counts[backend.Queued])
	assert.True(t, next.IsZero())
}

// testDeleteStill checks that items that have changed since they were read are deleted if they still meet the condition of the caller.
func testDeleteStill(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	of := func(id, session string, tags ...uint64) item {
		it := memory(id, id).tagged(tags...)
		it.Session = session
		return it
	}
	e.complete(of("same", "s", 1), of("newer", "s", 1), of("retagged", "s", 1), of("elsewhere", "s", 1), of("edited", "s", 1), of("gone", "s", 1))
	ids := []string{"same", "newer", "retagged", "elsewhere", "edited", "gone", "nobody"}
	var expect []backend.Version
	for _, id := range ids[:6] {
		expect = append(expect, e.newest(notes, id))
	}
	expect = append(expect, backend.Version{})
	e.complete(of("elsewhere", "other", 1))
	e.accept(of("newer", "s", 1, 2))
	for id, tag := range map[string]uint64{"retagged": 7, "edited": 1} {
		_, err := e.UpdateMetadata(ctx, notes, id, e.newest(notes, id), []byte(`{"theirs":1}`), nil, nil, []uint64{tag}, at(1))
		require.NoError(t, err)
	}
	_, err := e.Delete(ctx, notes, []string{"gone"}, backend.DeleteOptions{})
	require.NoError(t, err)
	out, err := e.Delete(ctx, notes, ids, backend.DeleteOptions{Expect: expect, Still: &backend.Condition{Filter: backend.Filter{All: [][]uint64{{1, 9}}}, Session: "s"}})
	require.NoError(t, err)
	changed := backend.DeleteResult{Found: true, Conflict: true}
	assert.Equal(t, []backend.DeleteResult{{Found: true}, {Found: true, Indexing: true}, changed, changed, {Found: true}, {}, {}}, out)
	for _, id := range ids {
		assert.Equal(t, id == "retagged" || id == "elsewhere", e.source(notes, id) != nil, id)
	}
}

// testLastNum checks that LastNum parts the versions that were there from those that come.
func testLastNum(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	last := func() int64 {
		n, err := e.LastNum(ctx)
		require.NoError(t, err)
		return n
	}
	require.Zero(t, last())
	nums := e.complete(memory("a", "x"), memory("b", "x"))
	before := last()
	require.Equal(t, nums[1], before)
	_, err := e.Delete(ctx, notes, []string{"b"}, backend.DeleteOptions{})
	require.NoError(t, err)
	require.Equal(t, before, last(), "also after the newest is gone")
	read := e.newest(notes, "a")
	newer := e.complete(memory("a", "y"), memory("c", "x"))
	require.Greater(t, newer[0], before)
	e.reopen()
	require.Equal(t, newer[1], last())
	out, err := e.Delete(ctx, notes, []string{"a"}, backend.DeleteOptions{Expect: []backend.Version{read}, Still: &backend.Condition{Until: before}})
	require.NoError(t, err)
	require.True(t, out[0].Conflict, "a version that came later stays")
}

func testDeleteSub(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	e.complete(memory("m1", "x").mention(0, "red").mention(0, "crimson"), memory("m2", "y"), memory("k", "z").in(files), memory("keep", "x").in(other).mention(0, "red"))
	e.accept(memory("waiting"), memory("m1", "newer"))
	_, err := e.MergeEntities(ctx, notes, "crimson", "red", "same", at(1))
	require.NoError(t, err)
	total := 0
	for range 10 {
		n, err := e.DeleteSub(ctx, "notes", 2)
		require.NoError(t, err)
		require.LessOrEqual(t, n, 2)
		total += n
		if n == 0 {
			break
		}
	}
	assert.GreaterOrEqual(t, total, 4)
	subs, err := e.Subs(ctx)
	require.NoError(t, err)
	assert.Equal(t, []backend.SubInfo{{Sub: "other", Memory: 1}}, subs)
	assert.Nil(t, e.entity("red"))
	merges, err := e.Merges(ctx, notes, 0, 10)
	require.NoError(t, err)
	assert.Empty(t, merges, "nothing of a sub-tenant stays")
	assert.Equal(t, []string{"x"}, e.visible(memory("keep", "x").in(other)))
	n, err := e.DeleteSub(ctx, "nobody", 10)
	require.NoError(t, err)
	assert.Zero(t, n)

	e.complete(memory("m1", "again").mention(0, "crimson"))
	assert.NotNil(t, e.entity("crimson"))
	assert.Nil(t, e.entity("red"), "a merge does not outlive its sub-tenant")
	x := newOracleIndex(t)
	x.follow(t, e.Store)
	assert.Len(t, x.search(t, notes, "again"), 1, "what came later is in the feed after what dropped the rest")
	assert.Empty(t, x.search(t, files, "z"))
	assert.Len(t, x.search(t, other, "x"), 1)
}

func testExpire(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	n, next, err := e.Expire(ctx, at(100), 10)
	require.NoError(t, err)
	assert.Zero(t, n)
	assert.True(t, next.IsZero())
	e.complete(memory("a", "x").expires(at(10)).mention(0, "red"), memory("b", "x").expires(at(20)), memory("c", "x").expires(at(30)), memory("never", "x"))
	e.accept(memory("waiting").expires(at(20)))
	n, next, err = e.Expire(ctx, at(9), 10)
	require.NoError(t, err)
	assert.Zero(t, n)
	assert.Equal(t, at(10), next)
	hs, err := e.Chunks(ctx, e.chunkNums(memory("a", "x")), at(10))
	require.NoError(t, err)
	assert.Empty(t, hs, "an expired chunk is hidden before the sweep")
	n, _, err = e.Expire(ctx, at(20), 1)
	require.NoError(t, err)
	assert.Equal(t, 1, n, "at most limit")
	n, next, err = e.Expire(ctx, at(20), 10)
	require.NoError(t, err)
	assert.Equal(t, 2, n)
	assert.Equal(t, at(30), next)
	ids, _ := e.list(backend.ListQuery{Part: notes, Limit: 10})
	assert.Equal(t, []string{"c", "never"}, ids)
	assert.Nil(t, e.entity("red"))
	x := newOracleIndex(t)
	x.follow(t, e.Store)
	assert.Len(t, x.search(t, notes, "x"), 2)
}

func testExpireVersions(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	e.complete(memory("older", "x").expires(at(10)), memory("newer", "x"))
	e.accept(memory("older", "y"), memory("newer", "y").expires(at(10)))
	for {
		n, _, err := e.Expire(ctx, at(10), 10)
		require.NoError(t, err)
		if n == 0 {
			break
		}
	}
	require.NotNil(t, e.source(notes, "older"), "only the older version expired")
	assert.Zero(t, e.source(notes, "older").Older)
	assert.Empty(t, e.visible(memory("older", "x")))
	assert.Nil(t, e.source(notes, "newer"), "an item goes with its newest version: the older one does not come back")
	assert.Empty(t, e.visible(memory("newer", "x")))
}

func testUpdateMetadata(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	a := memory("a", "one", "two").tagged(1, 2)
	v1 := e.complete(a, memory("b", "x"))[0]
	seq := e.LastSeq()
	n, err := e.UpdateMetadata(ctx, notes, "a", e.newest(notes, "a"), []byte(`{"x":1}`), []byte(`{"y":2}`), []byte("doc"), []uint64{7, 8}, at(77))
	require.NoError(t, err)
	assert.Equal(t, 2, n)
	src := e.source(notes, "a")
	assert.Equal(t, v1, src.Num, "the version stays")
	assert.Equal(t, []string{`{"x":1}`, `{"y":2}`}, []string{string(src.Metadata), string(src.Additional)})
	assert.ElementsMatch(t, []uint64{7, 8}, src.Tags)
	assert.Equal(t, "doc", string(src.Doc))
	assert.Equal(t, at(77), src.UpdatedAt)
	assert.Equal(t, at(0), src.CreatedAt)
	changes := e.changes(seq)
	require.Len(t, changes, 1)
	assert.Equal(t, backend.PutTags, changes[0].Kind)
	assert.Equal(t, v1, changes[0].Source)
	assert.ElementsMatch(t, []uint64{7, 8}, changes[0].Tags)

	v2 := e.accept(memory("a", "newer").tagged(5))[0]
	doc := string(e.version(v2).Doc)
	seq = e.LastSeq()
	n, err = e.UpdateMetadata(ctx, notes, "a", e.newest(notes, "a"), nil, nil, nil, nil, at(78))
	require.NoError(t, err)
	assert.Zero(t, n, "the newest version has no visible chunk")
	assert.Empty(t, e.changes(seq), "and indexes do not know it yet")
	assert.Empty(t, e.version(v2).Tags)
	assert.Empty(t, e.version(v2).Metadata)
	assert.ElementsMatch(t, []uint64{7, 8}, e.version(v1).Tags)
	assert.Equal(t, doc, string(e.version(v2).Doc), "no record leaves the one before")
	_, err = e.UpdateMetadata(ctx, other, "a", e.newest(other, "a"), nil, nil, nil, nil, at(78))
	require.ErrorIs(t, err, backend.ErrNotFound)
}
