package backendtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

func runStore(t *testing.T, h StoresHarness) {
	tests := []namedTest[*storeEnv]{
		{"Accept", testAccept},
		{"AcceptIfAbsent", testAcceptIfAbsent},
		{"AcceptNewerVersion", testAcceptNewerVersion},
		{"Times", testTimes},
		{"Claim", testClaim},
		{"ClaimBytes", testClaimBytes},
		{"ClaimLease", testClaimLease},
		{"ClaimContent", testClaimContent},
		{"Index", testIndex},
		{"IndexReplaces", testIndexReplaces},
		{"IndexAgain", testIndexAgain},
		{"LostClaims", testLostClaims},
		{"EndClaims", testEndClaims},
		{"Finish", testFinish},
		{"FinishRefusesForeignChunks", testFinishRefuses},
		{"Defer", testDefer},
		{"Backlog", testBacklog},
		{"Requeue", testRequeue},
		{"Events", testEvents},
	}
	tests = append(tests, storePlaceTests...)
	tests = append(tests, storeRemoveTests...)
	tests = append(tests, storeReadTests...)
	tests = append(tests, storeGraphTests...)
	tests = append(tests, storePageTests...)
	tests = append(tests, storeFeedTests...)
	tests = append(tests, storeRuleTests...)
	tests = append(tests, storeLaneTests...)
	tests = append(tests, storeSuccessionTests...)
	run(t, func(t *testing.T) *storeEnv { return openStore(t, h) }, tests)
	t.Run("Expect", func(t *testing.T) { runStoreExpect(t, h) })
	t.Run("Model", func(t *testing.T) { runStoreModel(t, h) })
}

func testAccept(t *testing.T, e *storeEnv) {
	src := backend.Source{
		Part: notes, ID: "a", Title: "Title", Kind: "note", Filename: "a.txt", MediaType: "text/plain", SizeBytes: 12,
		Infer: true, CreatedAt: at(1), UpdatedAt: at(2), Time: at(3), ExpiresAt: at(4), Session: "s1",
		Metadata: []byte(`{"a":1}`), Additional: []byte(`{"b":2}`), Doc: []byte("doc\x00"), Tags: []uint64{3, 1, 1 << 63},
	}
	given := src
	given.Num, given.State, given.Attempts, given.Token = 999, backend.Completed, 7, "mine" // the Store's
	given.LeaseUntil, given.NotBefore, given.ErrorCode, given.ErrorMessage = at(1e6), at(1e6), "E1", "old"
	nums := e.accept(item{Source: given, blobs: []backend.Blob{
		{Kind: backend.Original, Data: []byte("original\x00")}, {Kind: backend.Supplied, Data: []byte("graph")},
	}}, memory("b"))
	require.Less(t, nums[0], nums[1], "Nums rise")
	got := e.source(notes, "a")
	require.NotNil(t, got)
	assert.ElementsMatch(t, src.Tags, got.Tags)
	want := src
	want.Num, want.State, want.Tags = nums[0], backend.Queued, got.Tags
	assert.Equal(t, &want, got)
	assert.Equal(t, got, e.version(nums[0]))
	data, err := e.Content(t.Context(), nums[0], backend.Original)
	require.NoError(t, err)
	assert.Equal(t, "original\x00", string(data))
	assert.Zero(t, e.LastSeq(), "nothing is searchable yet")
	none, err := e.Accept(t.Context(), nil)
	require.NoError(t, err)
	assert.Empty(t, none)
}

func testAcceptIfAbsent(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	first := e.accept(memory("a", "one"))
	out, err := e.Accept(ctx, []backend.Incoming{
		{Source: memory("a").Source, IfAbsent: true},
		{Source: memory("b").Source, IfAbsent: true},
		{Source: memory("b").Source, IfAbsent: true},
		{Source: memory("a").in(files).Source, IfAbsent: true},
		{Source: memory("a").in(other).Source, IfAbsent: true},
	})
	require.NoError(t, err)
	var exists []bool
	for _, a := range out {
		exists = append(exists, a.Exists)
	}
	require.Equal(t, []bool{true, false, true, false, false}, exists, "ids are taken in a partition, by the same batch too")
	assert.Equal(t, first[0], e.source(notes, "a").Num)
	assert.Equal(t, out[1].Num, e.source(notes, "b").Num)
}

func testAcceptNewerVersion(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	v1 := e.complete(memory("a", "one").tagged(1))[0]
	newer := memory("a", "two")
	newer.CreatedAt, newer.UpdatedAt = at(50), at(50)
	newer.blobs = []backend.Blob{{Kind: backend.Original, Data: []byte("two")}}
	v2 := e.accept(newer)[0]
	src := e.source(notes, "a")
	assert.Equal(t, v2, src.Num)
	assert.Equal(t, backend.Queued, src.State)
	assert.Equal(t, at(0), src.CreatedAt, "kept over versions")
	assert.Equal(t, at(50), src.UpdatedAt)
	assert.Equal(t, []string{"one"}, e.visible(memory("a", "one")), "the indexed version stays visible")
	require.NotNil(t, e.version(v1))
	assert.True(t, e.version(v1).Replaced)
	assert.Equal(t, []any{v1, false}, []any{src.Older, src.Replaced})
	hs, err := e.Chunks(t.Context(), e.chunkNums(memory("a", "one")), at(0))
	require.NoError(t, err)
	assert.True(t, hs[0].Src.Replaced, "and says that a newer one was accepted")

	token, claims := e.claimAll()
	require.Len(t, claims, 1)
	v3 := e.accept(memory("a", "three"))[0]
	require.Nil(t, e.version(v2), "a version that was not indexed is cancelled")
	_, err = e.Content(ctx, v2, backend.Original)
	require.ErrorIs(t, err, backend.ErrNotFound)
	ok, err := e.Index(ctx, []backend.Indexed{{Num: v2, Token: token, Chunks: newer.chunks()}})
	require.NoError(t, err)
	assert.Equal(t, []bool{false}, ok)
	assert.Equal(t, []string{"one"}, e.visible(memory("a", "one")))
	_, total := e.list(backend.ListQuery{Part: notes, Limit: 10})
	assert.Equal(t, 1, total, "versions are one item")
	two := e.accept(memory("c"), memory("c"))
	assert.Nil(t, e.version(two[0]), "of one batch the last stays")
	assert.NotNil(t, e.version(two[1]))
	assert.Greater(t, v3, v2)
}

func testTimes(t *testing.T, e *storeEnv) {
	zone := time.FixedZone("east", 3*3600)
	for i, in := range []time.Time{
		{}, time.Unix(0, 0), time.Unix(-1, 0), time.Unix(0, 1000), time.Unix(0, 1999), time.Unix(-5, 999_999_999),
		Base.In(zone), time.Date(1, 1, 1, 0, 0, 0, 1000, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC),
	} {
		it := memory(fmt.Sprint("t", i))
		it.Time, it.ExpiresAt = in, in
		e.accept(it)
		want := time.Time{}
		if !in.IsZero() {
			want = time.UnixMicro(in.UnixMicro()).UTC()
		}
		got := e.source(notes, it.ID)
		assert.Equal(t, want, got.Time, "%v", in)
		assert.Equal(t, want, got.ExpiresAt, "%v", in)
		assert.Equal(t, time.UTC, got.CreatedAt.Location())
	}
}

func testClaim(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	nums := e.accept(memory("c"), memory("a"), memory("b").in(files), memory("d").in(other))
	claims, err := e.Claim(ctx, "w1", at(10), at(20), 2, 0)
	require.NoError(t, err)
	require.Len(t, claims, 2)
	for i, c := range claims {
		assert.Equal(t, nums[i], c.Num, "oldest first")
		assert.Equal(t, backend.Processing, c.State)
		assert.Equal(t, 1, c.Attempts)
		assert.Equal(t, "w1", c.Token)
		assert.Equal(t, at(20), c.LeaseUntil)
		stored := e.version(c.Num)
		assert.Equal(t, &c.Source, stored)
	}
	claims, err = e.Claim(ctx, "w2", at(10), at(20), 10, 0)
	require.NoError(t, err)
	require.Len(t, claims, 2, "the rest")
	assert.Equal(t, nums[2:], []int64{claims[0].Num, claims[1].Num})
	claims, err = e.Claim(ctx, "w3", at(10), at(20), 10, 0)
	require.NoError(t, err)
	assert.Empty(t, claims)
}

func testClaimBytes(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	var items []item
	for i, size := range []int64{50, 60, 10, 500, 1} {
		it := memory(fmt.Sprint("i", i))
		it.SizeBytes = size
		items = append(items, it)
	}
	e.accept(items...)
	var got []int
	for i := range 4 {
		claims, err := e.Claim(ctx, fmt.Sprint("w", i), at(0), at(100), 10, 100)
		require.NoError(t, err)
		got = append(got, len(claims))
	}
	assert.Equal(t, []int{1, 2, 1, 1}, got, "it stops before the bound, and takes one that is above it")
}

func testClaimLease(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	nums := e.accept(memory("a"), memory("b"))
	claim := func(token string, now, until int) []int64 {
		claims, err := e.Claim(ctx, token, at(now), at(until), 10, 0)
		require.NoError(t, err)
		got := []int64{}
		for _, c := range claims {
			got = append(got, c.Num)
		}
		return got
	}
	assert.Equal(t, nums, claim("w1", 0, 10))
	require.NoError(t, e.Renew(ctx, "w1", []int64{nums[0]}, at(30)))
	require.NoError(t, e.Renew(ctx, "other", nums, at(1000)))
	assert.Empty(t, claim("w2", 9, 20))
	assert.Equal(t, nums[1:], claim("w2", 10, 20), "a lapsed lease; the other was renewed by its holder")
	require.NoError(t, e.Renew(ctx, "w1", []int64{nums[1], 999}, at(1000)), "claims lost or unknown are left alone")
	assert.Equal(t, nums[1:], claim("w3", 20, 40))
	assert.Equal(t, 3, e.version(nums[1]).Attempts, "each claim counts")
	assert.Equal(t, 1, e.version(nums[0]).Attempts)
	assert.Equal(t, backend.Processing, e.version(nums[1]).State)
}

func testClaimContent(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	it := memory("a", "one", "two")
	it.blobs = []backend.Blob{{Kind: backend.Original, Data: []byte("orig")}, {Kind: backend.Supplied, Data: []byte{}}}
	nums := e.accept(it)
	token, claims := e.claimAll()
	require.Len(t, claims, 1)
	require.ElementsMatch(t, it.blobs, claims[0].Blobs)
	require.Empty(t, claims[0].Chunks)
	ok, err := e.Index(ctx, []backend.Indexed{{
		Num: nums[0], Token: token, Chunks: it.chunks(),
		Blobs: []backend.Blob{{Kind: backend.Text, Data: []byte("text")}, {Kind: backend.Original, Data: []byte("orig 2")}},
	}})
	require.NoError(t, err)
	require.Equal(t, []bool{true}, ok)

	claims, err = e.Claim(ctx, "again", at(3e6), at(4e6), 10, 0)
	require.NoError(t, err)
	require.Len(t, claims, 1, "the lease lapsed between Index and Finish")
	assert.Equal(t, backend.GraphCreation, claims[0].State, "the state is kept")
	assert.ElementsMatch(t, []backend.Blob{
		{Kind: backend.Original, Data: []byte("orig 2")}, {Kind: backend.Text, Data: []byte("text")}, {Kind: backend.Supplied, Data: []byte{}},
	}, claims[0].Blobs, "a blob replaces one of its kind")
	want, err := e.SourceChunks(ctx, nums[0], 0, 10, true)
	require.NoError(t, err)
	assert.Equal(t, want, claims[0].Chunks)
}

func testIndex(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	it := memory("a", "one", "two", "three").tagged(5)
	nums := e.accept(it, memory("b"))
	token, _ := e.claimAll()
	require.Equal(t, []string{}, e.visible(it), "not yet")
	ok, err := e.Index(ctx, []backend.Indexed{
		{Num: nums[0], Token: token, Title: "New title", Doc: []byte(`{"new":1}`), Tags: []uint64{77, 78}, Time: at(33), Chunks: it.chunks()},
		{Num: nums[1], Token: token},
	})
	require.NoError(t, err)
	require.Equal(t, []bool{true, true}, ok)
	src := e.source(notes, "a")
	assert.Equal(t, backend.GraphCreation, src.State)
	assert.Equal(t, "New title", src.Title)
	assert.Equal(t, at(33), src.Time)
	assert.JSONEq(t, `{"new":1}`, string(src.Doc))
	tagged, _, err := e.List(ctx, backend.ListQuery{Part: notes, Filter: backend.Filter{All: [][]uint64{{5}, {78}}}, Limit: 10, Now: at(40)})
	require.NoError(t, err)
	require.Len(t, tagged, 1, "a tag joins those that the source has")
	led, _, err := e.List(ctx, backend.ListQuery{Part: notes, Filter: backend.Filter{All: [][]uint64{{77}}}, Limit: 10, Now: at(40)})
	require.NoError(t, err)
	require.Len(t, led, 1, "and leads lists")
	assert.Equal(t, token, src.Token, "the claim stays for Finish")
	assert.Equal(t, "title of b", e.source(notes, "b").Title, "an empty title keeps the old one")

	got, err := e.SourceChunks(ctx, nums[0], 0, 100, true)
	require.NoError(t, err)
	want := it.chunks()
	require.Len(t, got, 3)
	last := int64(0)
	for i := range want {
		assert.Greater(t, got[i].Num, last, "chunk Nums rise")
		last = got[i].Num
		want[i].Num, want[i].Source = got[i].Num, nums[0]
	}
	assert.Equal(t, want, got)
	assert.Equal(t, it.texts, e.visible(it))

	unknownTime := memory("c", "x")
	unknownTime.Time = at(44)
	e.index(unknownTime)
	assert.Equal(t, at(44), e.source(notes, "c").Time, "a zero time keeps the one that is known")
}

func testIndexReplaces(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	old := memory("a", "old one", "old two").mention(0, "red").mention(1, "blue")
	v1 := e.complete(old)[0]
	oldChunks := e.chunkNums(old)
	next := memory("a", "new")
	v2, token := e.index(next)
	assert.Nil(t, e.version(v1), "the older version goes when the newer is indexed")
	hs, err := e.Chunks(ctx, oldChunks, at(0))
	require.NoError(t, err)
	assert.Empty(t, hs)
	assert.Equal(t, []string{"new"}, e.visible(next))
	assert.Equal(t, []any{int64(0), false}, []any{e.version(v2[0]).Older, e.version(v2[0]).Replaced})
	assert.Nil(t, e.entity("red"), "its graph goes with it")
	nums, err := e.ChunkNums(ctx, notes, []string{"a/0", "a/1"})
	require.NoError(t, err)
	assert.Positive(t, nums[0])
	assert.Zero(t, nums[1])
	ok, err := e.Finish(ctx, []backend.Finished{{Num: v2[0], Token: token, State: backend.Completed}})
	require.NoError(t, err)
	assert.Equal(t, []bool{true}, ok)
}

func testIndexAgain(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	first := memory("a", "draft one", "draft two")
	nums, token := e.index(first)
	before := e.chunkNums(first)
	second := memory("a", "final")
	ok, err := e.Index(ctx, []backend.Indexed{{Num: nums[0], Token: token, Chunks: second.chunks()}})
	require.NoError(t, err)
	require.Equal(t, []bool{true}, ok)
	got, err := e.SourceChunks(ctx, nums[0], 0, 10, false)
	require.NoError(t, err)
	require.Len(t, got, 1, "the chunks are replaced")
	assert.Greater(t, got[0].Num, before[1], "Nums are never used again")
	hs, err := e.Chunks(ctx, before, at(0))
	require.NoError(t, err)
	assert.Empty(t, hs)
	feed := e.changes(0)
	require.Len(t, feed, 1)
	require.Len(t, feed[0].Rows, 1)
	assert.Equal(t, "final", feed[0].Rows[0].Text)
}

func testLostClaims(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	nums := e.accept(memory("deleted"), memory("taken"), memory("unclaimed"), memory("mine"))
	claims, err := e.Claim(ctx, "w1", at(0), at(10), 2, 0)
	require.NoError(t, err)
	require.Len(t, claims, 2)
	_, err = e.Delete(ctx, notes, []string{"deleted"}, backend.DeleteOptions{})
	require.NoError(t, err)
	claims, err = e.Claim(ctx, "w2", at(10), at(20), 1, 0)
	require.NoError(t, err)
	require.Equal(t, nums[1], claims[0].Num)
	chunks := memory("x", "text").chunks()
	ok, err := e.Index(ctx, []backend.Indexed{
		{Num: nums[0], Token: "w1", Chunks: chunks}, {Num: nums[1], Token: "w1", Chunks: chunks},
		{Num: nums[2], Token: "", Chunks: chunks}, {Num: nums[3], Token: "w1", Chunks: chunks},
		{Num: 12345, Token: "w1", Chunks: chunks},
	})
	require.NoError(t, err)
	assert.Equal(t, make([]bool, 5), ok)
	ok, err = e.Finish(ctx, []backend.Finished{
		{Num: nums[0], Token: "w1", State: backend.Errored}, {Num: nums[1], Token: "w1", State: backend.Errored},
		{Num: nums[2], Token: "", State: backend.Errored, Event: true}, {Num: 12345, State: backend.Errored},
	})
	require.NoError(t, err)
	assert.Equal(t, make([]bool, 4), ok)
	require.NoError(t, e.Defer(ctx, []backend.Deferred{{Num: nums[1], Token: "w1", State: backend.Queued, ErrorCode: "E9"}}))
	assert.Equal(t, backend.Processing, e.version(nums[1]).State)
	assert.Empty(t, e.version(nums[1]).ErrorCode)
	assert.Equal(t, backend.Queued, e.version(nums[2]).State)
	assert.Empty(t, e.changes(0))
	events, err := e.Events(ctx, 10)
	require.NoError(t, err)
	assert.Empty(t, events)

	ok, err = e.Index(ctx, []backend.Indexed{{Num: nums[1], Token: "w2", Chunks: chunks}})
	require.NoError(t, err)
	assert.Equal(t, []bool{true}, ok, "a lease that lapsed is still held until another claims")

	e.accept(memory("taken", "newer"))
	ok, err = e.Finish(ctx, []backend.Finished{{Num: nums[1], Token: "w2", State: backend.Completed}})
	require.NoError(t, err)
	assert.Equal(t, []bool{false}, ok, "replaced meanwhile")
}
