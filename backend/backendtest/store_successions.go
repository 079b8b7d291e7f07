package backendtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

var storeSuccessionTests = []namedTest[*storeEnv]{
	{"Uncompared", testUncompared},
	{"Settled", testSettled},
	{"Compare", testCompare},
	{"CompareExpects", testCompareExpects},
	{"SuccessionsOf", testSuccessionsOf},
	{"PutSuccession", testPutSuccession},
	{"SuccessionsDeletedWithTheirVersions", testSuccessionsDeleted},
}

// successions returns all successions of notes, including undone ones.
func (e *storeEnv) successions() []backend.Succession {
	e.t.Helper()
	all, err := e.Successions(e.t.Context(), backend.SuccessionQuery{Part: notes, Undone: true})
	require.NoError(e.t, err)
	return all
}

// compare marks an item as compared under generation 1.
func (e *storeEnv) compare(id string, found ...backend.Succession) {
	e.t.Helper()
	ok, err := e.Compare(e.t.Context(), 1, []backend.Compared{{Source: e.newest(notes, id), Found: found}})
	require.NoError(e.t, err)
	require.Equal(e.t, []bool{true}, ok)
}

func testUncompared(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	nums := e.complete(memory("a", "one"), memory("b", "two"), memory("c", "three"))
	e.complete(memory("f", "file").in(files))
	got, err := e.Uncompared(ctx, 1, 0, 2)
	require.NoError(t, err)
	assert.Equal(t, nums[:2], got, "memories that are indexed, in order")
	got, err = e.Uncompared(ctx, 1, nums[1], 9)
	require.NoError(t, err)
	assert.Equal(t, nums[2:], got)
	e.compare("b")
	e.reopen()
	got, err = e.Uncompared(ctx, 1, 0, 9)
	require.NoError(t, err)
	assert.Equal(t, []int64{nums[0], nums[2]}, got)
	got, err = e.Uncompared(ctx, 2, 0, 9)
	require.NoError(t, err)
	assert.Equal(t, nums, got, "another generation compares all of them")
	again := e.complete(memory("b", "new"))
	got, err = e.Uncompared(ctx, 1, nums[0], 9)
	require.NoError(t, err)
	assert.Equal(t, []int64{nums[2], again[0]}, got, "a newer version was not compared")
	_, err = e.Accept(ctx, []backend.Incoming{{Source: memory("waits").Source}, {Source: memory("b").Source}})
	require.NoError(t, err)
	got, err = e.Uncompared(ctx, 1, nums[0], 9)
	require.NoError(t, err)
	assert.Equal(t, []int64{nums[2], again[0]}, got, "what waits is not compared yet")
}

// testSettled checks that Uncompared leaves out versions that were indexed as compared under its generation.
// A version that had been compared before is compared again.
func testSettled(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	uncompared := func(generation int64) []int64 {
		got, err := e.Uncompared(ctx, generation, 0, 9)
		require.NoError(t, err)
		return got
	}
	index := func(compared int64, end backend.State) {
		token, claims := e.claimAll()
		var in []backend.Indexed
		for _, c := range claims {
			in = append(in, backend.Indexed{Num: c.Num, Token: token, Chunks: memory(c.ID, "text").chunks(), Compared: compared})
			compared = 0
		}
		_, err := e.Index(ctx, in)
		require.NoError(t, err)
		for _, c := range claims {
			_, err := e.Finish(ctx, []backend.Finished{{Num: c.Num, Token: token, State: end}})
			require.NoError(t, err)
		}
	}
	acc, err := e.Accept(ctx, []backend.Incoming{{Source: memory("a").Source}, {Source: memory("b").Source}})
	require.NoError(t, err)
	a, b := acc[0].Num, acc[1].Num
	index(1, backend.Errored)
	e.reopen()
	assert.Equal(t, []int64{b}, uncompared(1))
	assert.Equal(t, []int64{a, b}, uncompared(2))
	e.compare("b")
	require.NoError(t, e.Requeue(ctx, notes, "b"))
	index(2, backend.Completed)
	assert.Equal(t, []int64{a, b}, uncompared(2), "b was compared before, under another generation")
	assert.Empty(t, uncompared(1))
}

func testCompare(t *testing.T, e *storeEnv) {
	nums := e.complete(memory("a", "one"), memory("b", "two"), memory("c", "three"))
	a, b, c := nums[0], nums[1], nums[2]
	first := backend.Succession{Later: b, Earlier: a, LaterChunk: 0, EarlierChunk: -1, Retracts: true, Matter: "one", Evidence: "two", Decider: "test", Confidence: .75, Extra: []byte{1, 0}, Created: at(5)}
	e.compare("b", first)
	want := first
	want.LaterID, want.EarlierID = "b", "a"
	check := func(want ...backend.Succession) {
		t.Helper()
		got := e.successions()
		require.Len(t, got, len(want))
		for i := range want {
			want[i].Num = got[i].Num
		}
		assert.Equal(t, want, got)
	}
	check(want)
	e.reopen()
	check(want)
	// A new comparison of a version replaces the successions of the last one.
	e.compare("c", backend.Succession{Later: c, Earlier: a, Created: at(6)}, backend.Succession{Later: c, Earlier: b, Created: at(6)})
	e.compare("b")
	second := backend.Succession{Later: c, Earlier: a, LaterID: "c", EarlierID: "a", Created: at(6)}
	third := backend.Succession{Later: c, Earlier: b, LaterID: "c", EarlierID: "b", Created: at(6)}
	check(second, third)
	// An undone succession stays undone when it is undone again.
	require.NoError(t, e.UndoSuccession(t.Context(), e.successions()[0].Num, at(9)))
	require.NoError(t, e.UndoSuccession(t.Context(), e.successions()[0].Num, at(10)))
	second.Undone = at(9)
	check(second, third)
	e.compare("c", backend.Succession{Later: c, Earlier: a, Confidence: 1, Created: at(11)})
	check(second)
	// The comparison of either version may find a succession.
	e.compare("a", backend.Succession{Later: b, Earlier: a, Created: at(12)}, backend.Succession{Later: c, Earlier: a, Created: at(12)})
	fourth := backend.Succession{Later: b, Earlier: a, LaterID: "b", EarlierID: "a", Created: at(12)}
	check(second, fourth)
	fourth.Created = at(13)
	e.compare("b", backend.Succession{Later: b, Earlier: a, Created: at(13)})
	check(second, fourth)
	require.ErrorIs(t, e.UndoSuccession(t.Context(), 1<<40, at(9)), backend.ErrNotFound)
}

func testCompareExpects(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	nums := e.complete(memory("a", "one"), memory("b", "two"))
	far := e.complete(memory("x", "far").in(other))[0]
	read := e.newest(notes, "b")
	_, err := e.UpdateMetadata(ctx, notes, "b", read, nil, nil, nil, nil, at(3))
	require.NoError(t, err)
	ok, err := e.Compare(ctx, 1, []backend.Compared{
		{Source: read, Found: []backend.Succession{{Later: nums[1], Earlier: nums[0]}}},
		{Source: backend.Version{Num: 1 << 40}},
	})
	require.NoError(t, err)
	assert.Equal(t, []bool{false, false}, ok)
	assert.Empty(t, e.successions())
	got, err := e.Uncompared(ctx, 1, 0, 9)
	require.NoError(t, err)
	assert.Contains(t, got, nums[1])
	e.compare("b", backend.Succession{Later: nums[1], Earlier: far}, backend.Succession{Later: nums[1], Earlier: 1 << 40})
	assert.Empty(t, e.successions(), "of another sub-tenant, and gone")
	for _, f := range []backend.Succession{{Later: nums[1], Earlier: nums[1]}, {Later: far, Earlier: nums[0]}} {
		_, err = e.Compare(ctx, 1, []backend.Compared{{Source: e.newest(notes, "b"), Found: []backend.Succession{f}}})
		require.Error(t, err)
	}
}

func testSuccessionsOf(t *testing.T, e *storeEnv) {
	nums := e.complete(memory("a", "one"), memory("b", "two"), memory("c", "three"), memory("d", "four"))
	e.compare("b", backend.Succession{Later: nums[1], Earlier: nums[0]})
	e.compare("c", backend.Succession{Later: nums[2], Earlier: nums[0]}, backend.Succession{Later: nums[2], Earlier: nums[1]})
	all := e.successions()
	require.Len(t, all, 3)
	require.NoError(t, e.UndoSuccession(t.Context(), all[1].Num, at(1)))
	for _, c := range []struct {
		name string
		q    backend.SuccessionQuery
		want []int64
	}{
		{"all", backend.SuccessionQuery{Undone: true}, []int64{all[0].Num, all[1].Num, all[2].Num}},
		{"those that count", backend.SuccessionQuery{}, []int64{all[0].Num, all[2].Num}},
		{"earlier", backend.SuccessionQuery{Earlier: []int64{nums[1], nums[3]}}, []int64{all[2].Num}},
		{"later", backend.SuccessionQuery{Later: []int64{nums[1], nums[2]}, Undone: true}, []int64{all[0].Num, all[1].Num, all[2].Num}},
		{"none", backend.SuccessionQuery{Earlier: []int64{}}, nil},
		{"page", backend.SuccessionQuery{After: all[0].Num, Limit: 1, Undone: true}, []int64{all[1].Num}},
	} {
		c.q.Part = notes
		got, err := e.Successions(t.Context(), c.q)
		require.NoError(t, err, c.name)
		var nums []int64
		for _, x := range got {
			nums = append(nums, x.Num)
		}
		assert.Equal(t, c.want, nums, c.name)
		c.q.Part = other
		got, err = e.Successions(t.Context(), c.q)
		require.NoError(t, err, c.name)
		assert.Empty(t, got, c.name)
	}
}

func testPutSuccession(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	nums := e.complete(memory("a", "one"), memory("b", "two"))
	far := e.complete(memory("x", "far").in(other))[0]
	e.compare("b", backend.Succession{Later: nums[1], Earlier: nums[0], Decider: "test"})
	said := backend.Succession{Later: nums[1], Earlier: nums[0], LaterChunk: -1, EarlierChunk: -1, Evidence: "because", Decider: "caller", Confidence: 1, Created: at(4)}
	num, err := e.PutSuccession(ctx, said)
	require.NoError(t, err)
	want := said
	want.Num, want.LaterID, want.EarlierID, want.ByCaller = num, "b", "a", true
	assert.Equal(t, []backend.Succession{want}, e.successions())
	e.compare("b", backend.Succession{Later: nums[1], Earlier: nums[0], Decider: "test"})
	e.compare("a")
	assert.Equal(t, []backend.Succession{want}, e.successions(), "comparing changes nothing of it")
	for _, c := range []struct {
		later, earlier int64
		want           error
	}{{nums[0], nums[0], backend.ErrConflict}, {far, nums[0], backend.ErrConflict}, {nums[1], 1 << 40, backend.ErrNotFound}, {1 << 40, nums[1], backend.ErrNotFound}} {
		_, err := e.PutSuccession(ctx, backend.Succession{Later: c.later, Earlier: c.earlier})
		require.ErrorIs(t, err, c.want)
	}
	_, err = e.Accept(ctx, []backend.Incoming{{Source: memory("a").Source}})
	require.NoError(t, err)
	_, err = e.PutSuccession(ctx, said)
	require.ErrorIs(t, err, backend.ErrNotFound, "a newer version waits")
}

func testSuccessionsDeleted(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	nums := e.complete(memory("a", "one"), memory("b", "two"), memory("c", "three"), memory("d", "four").expires(at(50)))
	e.compare("b", backend.Succession{Later: nums[1], Earlier: nums[0]})
	e.compare("c", backend.Succession{Later: nums[2], Earlier: nums[1]})
	e.compare("d", backend.Succession{Later: nums[3], Earlier: nums[2]})
	e.complete(memory("a", "another"))
	left := e.successions()
	require.Len(t, left, 2, "a newer version takes the place of the earlier one")
	_, err := e.Delete(ctx, notes, []string{"b"}, backend.DeleteOptions{})
	require.NoError(t, err)
	require.Equal(t, left[1:], e.successions())
	_, _, err = e.Expire(ctx, at(60), 10)
	require.NoError(t, err)
	assert.Empty(t, e.successions())
	e.compare("c")
	num := e.complete(memory("e", "five"))[0]
	e.compare("e", backend.Succession{Later: num, Earlier: nums[2]})
	require.Greater(t, e.successions()[0].Num, left[1].Num, "numbers are never given out twice")
	_, err = e.DeleteSub(ctx, "notes", 100)
	require.NoError(t, err)
	assert.Empty(t, e.successions())
}
