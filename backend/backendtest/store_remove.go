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
	{"DeleteSub", testDeleteSub},
	{"Expire", testExpire},
	{"ExpireVersions", testExpireVersions},
	{"UpdateMetadata", testUpdateMetadata},
	{"UpdateDoc", testUpdateDoc},
}

func testDelete(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	a := memo("a", "one", "two").mention(0, "red").mention(1, "both").relate(backend.Relation{FromKey: "red", ToKey: "both", Raw: "r"})
	a.blobs = []backend.Blob{{Kind: backend.Original, Data: []byte("orig")}}
	b := memo("b", "three").mention(0, "both")
	nums := e.complete(a, b)
	chunks := e.chunkNums(a)
	newer := e.accept(memo("a", "newer"))
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
	again := e.complete(memo("a", "reborn"))
	assert.Greater(t, again[0], newer[0], "Nums are never used again")
}

func testDeleteWhileIndexing(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	nums := e.accept(memo("queued"), memo("claimed", "x"), memo("indexed", "x"))
	token, _ := e.claimAll()
	ok, err := e.Index(ctx, []backend.Indexed{{Num: nums[2], Token: token, Chunks: memo("indexed", "x").chunks()}})
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

func testDeleteSub(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	e.complete(memo("m1", "x").mention(0, "red").mention(0, "crimson"), memo("m2", "y"), memo("k", "z").in(files), memo("keep", "x").in(other).mention(0, "red"))
	e.accept(memo("waiting"), memo("m1", "newer"))
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
	assert.Equal(t, []string{"x"}, e.visible(memo("keep", "x").in(other)))
	n, err := e.DeleteSub(ctx, "nobody", 10)
	require.NoError(t, err)
	assert.Zero(t, n)

	e.complete(memo("m1", "again").mention(0, "crimson"))
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
	e.complete(memo("a", "x").expires(at(10)).mention(0, "red"), memo("b", "x").expires(at(20)), memo("c", "x").expires(at(30)), memo("never", "x"))
	e.accept(memo("waiting").expires(at(20)))
	n, next, err = e.Expire(ctx, at(9), 10)
	require.NoError(t, err)
	assert.Zero(t, n)
	assert.Equal(t, at(10), next)
	hs, err := e.Chunks(ctx, e.chunkNums(memo("a", "x")), at(10))
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
	e.complete(memo("older", "x").expires(at(10)), memo("newer", "x"))
	e.accept(memo("older", "y"), memo("newer", "y").expires(at(10)))
	for {
		n, _, err := e.Expire(ctx, at(10), 10)
		require.NoError(t, err)
		if n == 0 {
			break
		}
	}
	require.NotNil(t, e.source(notes, "older"), "only the older version expired")
	assert.Empty(t, e.visible(memo("older", "x")))
	assert.Nil(t, e.source(notes, "newer"), "an item goes with its newest version: the older one does not come back")
	assert.Empty(t, e.visible(memo("newer", "x")))
}

func testUpdateMetadata(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	a := memo("a", "one", "two").tagged(1, 2)
	v1 := e.complete(a, memo("b", "x"))[0]
	seq := e.LastSeq()
	n, err := e.UpdateMetadata(ctx, notes, "a", []byte(`{"x":1}`), []byte(`{"y":2}`), []uint64{7, 8}, at(77))
	require.NoError(t, err)
	assert.Equal(t, 2, n)
	src := e.source(notes, "a")
	assert.Equal(t, v1, src.Num, "the version stays")
	assert.Equal(t, []string{`{"x":1}`, `{"y":2}`}, []string{string(src.Metadata), string(src.Additional)})
	assert.ElementsMatch(t, []uint64{7, 8}, src.Tags)
	assert.Equal(t, at(77), src.UpdatedAt)
	assert.Equal(t, at(0), src.CreatedAt)
	changes := e.changes(seq)
	require.Len(t, changes, 1)
	assert.Equal(t, backend.PutTags, changes[0].Kind)
	assert.Equal(t, v1, changes[0].Source)
	assert.ElementsMatch(t, []uint64{7, 8}, changes[0].Tags)

	v2 := e.accept(memo("a", "newer").tagged(5))[0]
	seq = e.LastSeq()
	n, err = e.UpdateMetadata(ctx, notes, "a", nil, nil, nil, at(78))
	require.NoError(t, err)
	assert.Zero(t, n, "the newest version has no visible chunk")
	assert.Empty(t, e.changes(seq), "and shadows do not know it yet")
	assert.Empty(t, e.version(v2).Tags)
	assert.Empty(t, e.version(v2).Metadata)
	assert.ElementsMatch(t, []uint64{7, 8}, e.version(v1).Tags)
	_, err = e.UpdateMetadata(ctx, other, "a", nil, nil, nil, at(78))
	require.ErrorIs(t, err, backend.ErrNotFound)
}

func testUpdateDoc(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	v1 := e.complete(memo("a", "x"))[0]
	v2 := e.accept(memo("a", "y"))[0]
	require.NoError(t, e.UpdateDoc(ctx, notes, "a", []byte("record\x00")))
	assert.Equal(t, "record\x00", string(e.version(v2).Doc))
	assert.Empty(t, e.version(v1).Doc)
	assert.Equal(t, at(0), e.version(v2).UpdatedAt)
	require.ErrorIs(t, e.UpdateDoc(ctx, notes, "b", nil), backend.ErrNotFound)
}
