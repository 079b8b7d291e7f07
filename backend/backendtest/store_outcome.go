package backendtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

func testFinish(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	good, bad := memory("good", "text"), memory("bad", "text")
	nums, token := e.index(good, bad)
	raw := e.accept(memory("raw"))
	rawToken, _ := e.claimAll()
	ok, err := e.Finish(ctx, []backend.Finished{
		{Num: nums[0], Token: token, State: backend.Completed, Blobs: []backend.Blob{{Kind: backend.Inferred, Data: []byte("facts")}}},
		{Num: nums[1], Token: token, State: backend.Errored, ErrorCode: "E7", ErrorMessage: "no"},
		{Num: raw[0], Token: rawToken, State: backend.Errored, ErrorCode: "E8"},
	})
	require.NoError(t, err)
	require.Equal(t, []bool{true, true, true}, ok)
	src := e.source(notes, "good")
	assert.Equal(t, backend.Completed, src.State)
	assert.Empty(t, src.Token)
	assert.True(t, src.LeaseUntil.IsZero())
	data, err := e.Content(ctx, nums[0], backend.Inferred)
	require.NoError(t, err)
	assert.Equal(t, "facts", string(data))
	failed := e.source(notes, "bad")
	assert.Equal(t, []any{backend.Errored, "E7", "no"}, []any{failed.State, failed.ErrorCode, failed.ErrorMessage})
	assert.Equal(t, []string{"text"}, e.visible(bad), "what was indexed stays visible")
	if k, ok := e.Store.(backend.ErrorCounter); ok {
		codes, err := k.ErrorCodes(ctx)
		require.NoError(t, err)
		assert.Equal(t, map[string]int{"E7": 1, "E8": 1}, codes)
	}
	for name, tc := range map[string]struct {
		q    backend.ListQuery
		want []string
	}{
		"errored":             {backend.ListQuery{States: []backend.State{backend.Errored}}, []string{"bad", "raw"}},
		"completed":           {backend.ListQuery{States: []backend.State{backend.Completed}}, []string{"good"}},
		"either":              {backend.ListQuery{States: []backend.State{backend.Completed, backend.Errored}}, []string{"bad", "good", "raw"}},
		"waiting":             {backend.ListQuery{States: []backend.State{backend.Queued, backend.Processing}}, []string{}},
		"none":                {backend.ListQuery{States: []backend.State{}}, []string{}},
		"errored of some ids": {backend.ListQuery{States: []backend.State{backend.Errored}, IDs: []string{"good", "bad"}}, []string{"bad"}},
		"errored, filtered":   {backend.ListQuery{States: []backend.State{backend.Errored}, Filter: backend.Filter{All: [][]uint64{{1 << 60}}}}, []string{}},
	} {
		tc.q.Part, tc.q.Limit = notes, 10
		ids, total := e.list(tc.q)
		assert.ElementsMatch(t, tc.want, ids, name)
		assert.Equal(t, len(tc.want), total, name)
	}
	ok, err = e.Finish(ctx, []backend.Finished{{Num: nums[0], Token: token, State: backend.Errored}})
	require.NoError(t, err)
	assert.Equal(t, []bool{false}, ok, "a claim ends with its Finish")
	_, claims := e.claimAll()
	assert.Empty(t, claims)
}

func testFinishRefuses(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	nums, token := e.index(memory("a", "one"), memory("b", "two"))
	for name, f := range map[string]backend.Finished{
		"mention behind the last chunk": {Mentions: []backend.Mention{{Chunk: 1, Key: "k"}}},
		"mention before the first":      {Mentions: []backend.Mention{{Chunk: -1, Key: "k"}}},
		"relation behind the last":      {Relations: []backend.Relation{{Chunk: 1, FromKey: "k", ToKey: "l"}}},
	} {
		f.Num, f.Token, f.State = nums[1], token, backend.Completed
		_, err := e.Finish(ctx, []backend.Finished{
			{Num: nums[0], Token: token, State: backend.Completed, Mentions: []backend.Mention{{Key: "first"}}}, f,
		})
		require.Error(t, err, name)
		assert.Equal(t, backend.GraphCreation, e.version(nums[0]).State, "none of it is there: %s", name)
		assert.Nil(t, e.entity("first"), name)
	}
}

func testDefer(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	nums := e.accept(memory("a"), memory("b"))
	claims, err := e.Claim(ctx, "w", at(0), at(100), 10, 0)
	require.NoError(t, err)
	require.Len(t, claims, 2)
	require.NoError(t, e.Defer(ctx, []backend.Deferred{
		{Num: nums[0], Token: "w", State: backend.Queued, NotBefore: at(50), ErrorCode: "E3", ErrorMessage: "try later"},
		{Num: nums[1], Token: "w", State: backend.Processing, NotBefore: at(60)},
	}))
	src := e.version(nums[0])
	assert.Equal(t, []any{backend.Queued, "E3", "try later", at(50), ""},
		[]any{src.State, src.ErrorCode, src.ErrorMessage, src.NotBefore, src.Token})
	assert.Equal(t, backend.Processing, e.version(nums[1]).State)
	claims, err = e.Claim(ctx, "w2", at(49), at(100), 10, 0)
	require.NoError(t, err)
	assert.Empty(t, claims, "before its time")
	claims, err = e.Claim(ctx, "w2", at(50), at(100), 10, 0)
	require.NoError(t, err)
	require.Len(t, claims, 1)
	assert.Equal(t, "E3", claims[0].ErrorCode, "visible until the retry ends")
	assert.Equal(t, 2, claims[0].Attempts)

	it := memory("indexed", "text")
	got, token := e.indexOne(it)
	require.NoError(t, e.Defer(ctx, []backend.Deferred{{Num: got, Token: token, State: backend.Processing, NotBefore: at(70)}}))
	assert.Equal(t, []string{"text"}, e.visible(it), "what was indexed stays visible while a retry waits")
}

// indexOne accepts, claims and indexes one item while other items wait.
func (e *storeEnv) indexOne(it item) (int64, string) {
	e.t.Helper()
	num := e.accept(it)[0]
	token, _ := e.claimAll()
	ok, err := e.Index(e.t.Context(), []backend.Indexed{{Num: num, Token: token, Chunks: it.chunks()}})
	require.NoError(e.t, err)
	require.Equal(e.t, []bool{true}, ok)
	return num, token
}

func testBacklog(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	check := func(want map[backend.State]int) time.Time {
		t.Helper()
		got, next, err := e.Backlog(ctx)
		require.NoError(t, err)
		for s := backend.Queued; s <= backend.Errored; s++ {
			assert.Equal(t, want[s], got[s], "state %d", s)
		}
		return next
	}
	assert.True(t, check(nil).IsZero(), "nothing waits")
	e.complete(memory("done", "text"))
	assert.True(t, check(map[backend.State]int{backend.Completed: 1}).IsZero())
	nums := e.accept(memory("a"), memory("b"), memory("done", "newer"))
	next := check(map[backend.State]int{backend.Queued: 3})
	assert.False(t, next.IsZero())
	assert.False(t, next.After(at(0)), "at once")
	_, err := e.Claim(ctx, "w", at(0), at(100), 10, 0)
	require.NoError(t, err)
	assert.Equal(t, at(100), check(map[backend.State]int{backend.Processing: 3}), "when the leases lapse")
	require.NoError(t, e.Defer(ctx, []backend.Deferred{{Num: nums[1], Token: "w", State: backend.Queued, NotBefore: at(70)}}))
	assert.Equal(t, at(70), check(map[backend.State]int{backend.Processing: 2, backend.Queued: 1}))
}

func testRequeue(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	require.ErrorIs(t, e.Requeue(ctx, notes, "a"), backend.ErrNotFound)
	nums := e.accept(memory("a"))
	require.ErrorIs(t, e.Requeue(ctx, notes, "a"), backend.ErrConflict)
	token, _ := e.claimAll()
	ok, err := e.Finish(ctx, []backend.Finished{{Num: nums[0], Token: token, State: backend.Errored, ErrorCode: "E1", ErrorMessage: "m"}})
	require.NoError(t, err)
	require.Equal(t, []bool{true}, ok)
	require.NoError(t, e.Requeue(ctx, notes, "a"))
	src := e.source(notes, "a")
	assert.Equal(t, []any{backend.Queued, 0, "", "", nums[0]}, []any{src.State, src.Attempts, src.ErrorCode, src.ErrorMessage, src.Num})
	_, claims := e.claimAll()
	require.Len(t, claims, 1)
	assert.Equal(t, 1, claims[0].Attempts)
	require.ErrorIs(t, e.Requeue(ctx, other, "a"), backend.ErrNotFound)
}

func testEvents(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	nums, token := e.index(memory("a", "x"), memory("b", "x"), memory("quiet", "x"), memory("c", "x"))
	_, err := e.Finish(ctx, []backend.Finished{
		{Num: nums[0], Token: token, State: backend.Completed, Event: true},
		{Num: nums[1], Token: token, State: backend.Errored, ErrorCode: "E2", ErrorMessage: "m", Event: true},
		{Num: nums[2], Token: token, State: backend.Completed},
		{Num: nums[3], Token: token, State: backend.Completed, Event: true},
	})
	require.NoError(t, err)
	got, err := e.Events(ctx, 10)
	require.NoError(t, err)
	require.Len(t, got, 3)
	for i, ev := range got {
		assert.False(t, ev.At.IsZero())
		if i > 0 {
			assert.Greater(t, ev.Seq, got[i-1].Seq)
		}
		got[i].At = time.Time{}
	}
	assert.Equal(t, backend.Event{Seq: got[1].Seq, ItemID: "b", Part: notes, Source: nums[1], Status: backend.Errored, ErrorCode: "E2", ErrorMessage: "m", Epoch: got[0].Epoch}, got[1])
	assert.Equal(t, backend.Completed, got[0].Status)
	two, err := e.Events(ctx, 2)
	require.NoError(t, err)
	require.Len(t, two, 2)
	_, err = e.Delete(ctx, notes, []string{"c"}, backend.DeleteOptions{})
	require.NoError(t, err)
	require.NoError(t, e.Acknowledge(ctx, got[1].Seq))
	require.NoError(t, e.Acknowledge(ctx, got[1].Seq), "again")
	left, err := e.Events(ctx, 10)
	require.NoError(t, err)
	require.Len(t, left, 1)
	assert.Equal(t, "c", left[0].ItemID, "an event outlives its item")
}
