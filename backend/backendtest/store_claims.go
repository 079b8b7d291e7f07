package backendtest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// endClaims ends the claims of a worker, if the Store is a [backend.ClaimEnder].
func (m *model) endClaims() {
	got, ok := m.got.(backend.ClaimEnder)
	if !ok || len(m.held) == 0 {
		return
	}
	want := m.want.(backend.ClaimEnder)
	ctx, token, attempts := m.t.Context(), pick(m.rng, m.held).token, 1+m.rng.IntN(4)
	n, err := got.EndClaims(ctx, []string{token}, attempts)
	wantN, wantErr := want.EndClaims(ctx, []string{token}, attempts)
	if m.sameOutcome(err, wantErr) {
		m.note("end %d claims of %s", n, token)
		m.did["claim ended"] += n
		assert.Equal(m.t, wantN, n)
	}
	tokens, err := got.Claimants(ctx)
	wantTokens, wantErr := want.Claimants(ctx)
	if m.sameOutcome(err, wantErr) {
		assert.ElementsMatch(m.t, wantTokens, tokens)
	}
}

// testEndClaims checks a [backend.ClaimEnder]. A Store need not be one.
func testEndClaims(t *testing.T, e *storeEnv) {
	ender, ok := e.Store.(backend.ClaimEnder)
	if !ok {
		return
	}
	ctx := t.Context()
	claimants := func() []string {
		t.Helper()
		tokens, err := ender.Claimants(ctx)
		require.NoError(t, err)
		return tokens
	}
	end := func(attempts int, tokens ...string) int {
		t.Helper()
		n, err := ender.EndClaims(ctx, tokens, attempts)
		require.NoError(t, err)
		return n
	}
	claim := func(token string, now, limit int) (nums []int64) {
		t.Helper()
		claims, err := e.Claim(ctx, token, at(now), at(1000), limit, 0)
		require.NoError(t, err)
		for i := range claims {
			nums = append(nums, claims[i].Num)
		}
		return nums
	}
	assert.Empty(t, claimants())
	var items []item
	for i := range 6 {
		items = append(items, memory(fmt.Sprint("i", i), "text"))
	}
	nums := e.accept(items...)
	require.Equal(t, nums[:3], claim("dead", 0, 3))
	require.Equal(t, nums[3:4], claim("lives", 0, 1))
	require.Equal(t, nums[4:5], claim("dead too", 0, 1))
	assert.ElementsMatch(t, []string{"dead", "lives", "dead too"}, claimants())
	// One was indexed by the holder that is gone, one deferred, one finished.
	ok1, err := e.Index(ctx, []backend.Indexed{{Num: nums[0], Token: "dead", Chunks: items[0].chunks()}})
	require.NoError(t, err)
	require.Equal(t, []bool{true}, ok1)
	require.NoError(t, e.Defer(ctx, []backend.Deferred{{Num: nums[1], Token: "dead", State: backend.Processing, NotBefore: at(50)}}))

	assert.Zero(t, end(8))
	assert.Zero(t, end(8, "unknown", ""))
	assert.Zero(t, end(1, "dead", "dead too"), "they were claimed once, which is too often")
	require.Empty(t, claim("next", 10, 0))
	assert.Equal(t, 3, end(8, "dead", "unknown", "dead too"))
	assert.Equal(t, []string{"lives"}, claimants())
	assert.Zero(t, end(8, "dead", "dead too"))
	src := e.version(nums[2])
	assert.Equal(t, backend.Processing, src.State)
	assert.Empty(t, src.Token)
	assert.True(t, src.LeaseUntil.IsZero())
	counts, next, err := e.Backlog(ctx)
	require.NoError(t, err)
	assert.Equal(t, map[backend.State]int{backend.Queued: 1, backend.Processing: 4, backend.GraphCreation: 1}, counts)
	assert.False(t, next.After(at(10)), "some can be claimed now")

	ok2, err := e.Index(ctx, []backend.Indexed{{Num: nums[2], Token: "dead", Chunks: items[2].chunks()}})
	require.NoError(t, err)
	ok3, err := e.Finish(ctx, []backend.Finished{{Num: nums[0], Token: "dead", State: backend.Completed, Event: true}})
	require.NoError(t, err)
	assert.Equal(t, []bool{false, false}, append(ok2, ok3...), "a holder that went on has lost them")
	require.NoError(t, e.Renew(ctx, "dead", nums, at(2000)))
	require.NoError(t, e.Defer(ctx, []backend.Deferred{{Num: nums[2], Token: "dead", State: backend.Queued, NotBefore: at(3000)}}))
	events, err := e.Events(ctx, 10)
	require.NoError(t, err)
	assert.Empty(t, events)

	assert.Equal(t, []int64{nums[0], nums[2], nums[4], nums[5]}, claim("next", 10, 10), "all but what waits for its time or is worked on")
	assert.Equal(t, 2, e.version(nums[2]).Attempts)
	assert.Equal(t, nums[1:2], claim("last", 50, 10))
	ok4, err := e.Finish(ctx, []backend.Finished{{Num: nums[3], Token: "lives", State: backend.Completed}, {Num: nums[0], Token: "next", State: backend.Completed}})
	require.NoError(t, err)
	assert.Equal(t, []bool{true, true}, ok4)
	assert.ElementsMatch(t, []string{"next", "last"}, claimants(), "claims end with Finish")
	assert.Equal(t, 1, end(2, "next", "last"), "of those that were claimed once before")
	assert.ElementsMatch(t, []string{"next", "last"}, claimants())
	assert.Equal(t, nums[5:], claim("again", 60, 10))
}
