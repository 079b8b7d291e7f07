package backendtest

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

var storeExpectTests = []namedTest[*storeEnv]{
	{"Revisions", testRevisions},
	{"SetExpects", testSetExpects},
	{"ConcurrentEdits", testConcurrentEdits},
	{"ConcurrentWriters", testConcurrentWriters},
}

// otherWrite is a write of another caller to the item "a", after the tested caller has read it.
type otherWrite struct {
	name string
	do   func(t *testing.T, e *storeEnv)
}

var otherWrites = []otherWrite{
	{"replaced", func(t *testing.T, e *storeEnv) { e.accept(memory("a", "newer").tagged(5)) }},
	{"replaced and indexed", func(t *testing.T, e *storeEnv) { e.complete(memory("a", "newer").tagged(5)) }},
	{"placed", func(t *testing.T, e *storeEnv) {
		_, err := e.Place(t.Context(), []backend.Placed{{Incoming: backend.Incoming{Source: memory("a").Source}, Chunks: memory("a", "newer").chunks()}})
		require.NoError(t, err)
	}},
	{"edited", func(t *testing.T, e *storeEnv) {
		_, err := e.UpdateMetadata(t.Context(), notes, "a", e.newest(notes, "a"), []byte(`{"theirs":1}`), nil, nil, []uint64{6}, at(1))
		require.NoError(t, err)
	}},
	{"deleted", func(t *testing.T, e *storeEnv) {
		_, err := e.Delete(t.Context(), notes, []string{"a"}, backend.DeleteOptions{})
		require.NoError(t, err)
	}},
	{"deleted and made again", func(t *testing.T, e *storeEnv) {
		_, err := e.Delete(t.Context(), notes, []string{"a"}, backend.DeleteOptions{})
		require.NoError(t, err)
		e.complete(memory("a", "reborn"))
	}},
	{"deleted with its sub-tenant", func(t *testing.T, e *storeEnv) {
		n, err := e.DeleteSub(t.Context(), "notes", 10)
		require.NoError(t, err)
		require.Equal(t, 2, n)
	}},
	{"expired", func(t *testing.T, e *storeEnv) {
		n, _, err := e.Expire(t.Context(), at(500), 10)
		require.NoError(t, err)
		require.Equal(t, 1, n)
	}},
}

// conditionalWrite is a write that expects a version of the item "a". do reports whether the
// store accepted the write.
type conditionalWrite struct {
	name string
	do   func(t *testing.T, e *storeEnv, read backend.Version) bool
}

var conditionalWrites = []conditionalWrite{
	{"UpdateMetadata", func(t *testing.T, e *storeEnv, read backend.Version) bool {
		there := e.source(notes, "a") != nil
		_, err := e.UpdateMetadata(t.Context(), notes, "a", read, []byte(`{"mine":1}`), nil, nil, []uint64{7}, at(2))
		if err != nil {
			want := backend.ErrNotFound
			if there {
				want = backend.ErrConflict
			}
			require.ErrorIs(t, err, want)
		}
		return err == nil
	}},
	{"Accept", func(t *testing.T, e *storeEnv, read backend.Version) bool {
		out, err := e.Accept(t.Context(), []backend.Incoming{{Source: memory("a").Source, Expect: read}, {Source: memory("beside").Source}})
		require.NoError(t, err)
		require.Positive(t, out[1].Num, "an item beside it is stored in any case")
		_, err = e.Delete(t.Context(), notes, []string{"beside"}, backend.DeleteOptions{})
		require.NoError(t, err)
		require.Equal(t, out[0].Conflict, out[0].Num == 0)
		return !out[0].Conflict
	}},
	{"Place", func(t *testing.T, e *storeEnv, read backend.Version) bool {
		_, err := e.Place(t.Context(), []backend.Placed{
			{Incoming: backend.Incoming{Source: memory("beside").Source}, Chunks: memory("beside", "x").chunks()},
			{Incoming: backend.Incoming{Source: memory("a").Source, Expect: read}, Chunks: memory("a", "placed").chunks()},
		})
		if err != nil {
			require.ErrorIs(t, err, backend.ErrConflict)
			require.Nil(t, e.source(notes, "beside"), "nothing is stored then")
			return false
		}
		_, err = e.Delete(t.Context(), notes, []string{"beside"}, backend.DeleteOptions{})
		require.NoError(t, err)
		return true
	}},
	{"Delete", func(t *testing.T, e *storeEnv, read backend.Version) bool {
		there := e.source(notes, "a") != nil
		out, err := e.Delete(t.Context(), notes, []string{"nobody", "a"}, backend.DeleteOptions{Expect: []backend.Version{{}, read}})
		require.NoError(t, err)
		require.Equal(t, there, out[1].Found)
		require.Equal(t, backend.DeleteResult{}, out[0])
		if out[1].Conflict {
			require.NotNil(t, e.source(notes, "a"), "it was left alone")
		}
		return out[1].Found && !out[1].Conflict
	}},
}

// runStoreExpect tries each conditional write after each write of another caller.
func runStoreExpect(t *testing.T, h StoresHarness) {
	run(t, func(t *testing.T) *storeEnv { return openStore(t, h) }, storeExpectTests)
	for _, w := range conditionalWrites {
		for _, b := range append(otherWrites, otherWrite{"nothing", nil}) {
			t.Run(w.name+" after it was "+b.name, func(t *testing.T) {
				t.Parallel()
				testConditionalWrite(t, openStore(t, h), w, b)
			})
		}
	}
}

func testConditionalWrite(t *testing.T, e *storeEnv, w conditionalWrite, b otherWrite) {
	e.complete(memory("a", "first").tagged(1, 2).expires(at(500)), memory("other", "x"))
	read := e.newest(notes, "a")
	require.NotZero(t, read)
	if b.do == nil {
		assert.True(t, w.do(t, e, read), "no other write in between")
		assert.False(t, w.do(t, e, read), "the write changed the version")
		return
	}
	b.do(t, e)
	u := universe{parts: []backend.Partition{notes}, ids: []string{"a", "other"}, now: at(0)}
	for n := read.Num; n < read.Num+10; n++ {
		u.versions = append(u.versions, n)
	}
	before := dump(t, e.Store, u)
	require.False(t, w.do(t, e, read), "the store accepted a write that expects an older version")
	require.Equal(t, before, dump(t, e.Store, u), "nothing changed")
	if now := e.newest(notes, "a"); now != (backend.Version{}) {
		require.True(t, w.do(t, e, now), "a write that expects the newest version succeeds")
	}
}

// testRevisions checks that a version's Rev counts the changes made to it in place.
func testRevisions(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	rev := func(want int64) {
		t.Helper()
		assert.Equal(t, want, e.source(notes, "a").Rev)
		assert.Equal(t, want, e.version(e.source(notes, "a").Num).Rev)
	}
	num := e.accept(memory("a"))[0]
	rev(0)
	token, _ := e.claimAll()
	rev(0)
	ok, err := e.Index(ctx, []backend.Indexed{{Num: num, Token: token, Title: "found in the text", Chunks: memory("a", "one").chunks()}})
	require.NoError(t, err)
	require.Equal(t, []bool{true}, ok)
	rev(1)
	ok, err = e.Finish(ctx, []backend.Finished{{Num: num, Token: token, State: backend.Completed}})
	require.NoError(t, err)
	require.Equal(t, []bool{true}, ok)
	rev(1)
	for i := range 3 {
		_, err = e.UpdateMetadata(ctx, notes, "a", backend.Version{Num: num, Rev: int64(i + 1)}, nil, nil, nil, nil, at(1))
		require.NoError(t, err)
		rev(int64(i + 2))
	}
	e.reopen()
	rev(4)
	hs, err := e.Chunks(ctx, e.chunkNums(memory("a", "one")), at(0))
	require.NoError(t, err)
	require.Len(t, hs, 1)
	assert.Equal(t, backend.Version{Num: num, Rev: 4}, hs[0].Src.Version())
	acc, err := e.Accept(ctx, []backend.Incoming{{Source: *e.source(notes, "a")}})
	require.NoError(t, err)
	assert.Equal(t, backend.Version{Num: acc[0].Num}, e.newest(notes, "a"), "a new version starts at 0")
	assert.EqualValues(t, 4, e.version(num).Rev, "and leaves the one before alone")
	p, err := e.Place(ctx, []backend.Placed{{Incoming: backend.Incoming{Source: *e.source(notes, "a")}, Chunks: memory("a", "x").chunks()}})
	require.NoError(t, err)
	assert.Equal(t, backend.Version{Num: p.Nums[0]}, e.newest(notes, "a"))
}

func testSetExpects(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	get := func(want []byte) {
		t.Helper()
		v, err := e.Get(ctx, "name")
		require.NoError(t, err)
		require.Equal(t, want, v)
	}
	one, two := []byte("one"), []byte("two")
	require.ErrorIs(t, e.Set(ctx, "name", one, two), backend.ErrConflict, "there is none")
	get(nil)
	require.NoError(t, e.Set(ctx, "name", nil, one))
	require.ErrorIs(t, e.Set(ctx, "name", nil, two), backend.ErrConflict)
	require.ErrorIs(t, e.Set(ctx, "name", two, two), backend.ErrConflict)
	get(one)
	require.NoError(t, e.Set(ctx, "name", one, one))
	require.NoError(t, e.Set(ctx, "name", one, two))
	e.reopen()
	get(two)
	require.NoError(t, e.Set(ctx, "name", two, []byte{}))
	get(nil)
	require.NoError(t, e.Set(ctx, "name", []byte{}, one), "no bytes are no value")
	get(one)
}

// testConcurrentEdits increments a counter in the metadata of one item from many goroutines, half of
// which also replace the item. No increment may be lost.
func testConcurrentEdits(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	const workers, each = 6, 15
	start := memory("a", "text")
	start.Metadata = []byte("0")
	e.complete(start)
	require.NoError(t, e.Set(ctx, "count", nil, []byte("0")))
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for done := 0; done < each; {
				srcs, err := e.Sources(ctx, notes, []string{"a"})
				if !assert.NoError(t, err) {
					return
				}
				src := srcs[0]
				n, err := strconv.Atoi(string(src.Metadata))
				assert.NoError(t, err)
				next := []byte(strconv.Itoa(n + 1))
				taken := false
				switch w % 3 {
				case 0:
					_, err = e.UpdateMetadata(ctx, notes, "a", src.Version(), next, nil, nil, nil, at(1))
					taken = err == nil
				case 1:
					it := memory("a")
					it.Metadata = next
					var out []backend.Accepted
					out, err = e.Accept(ctx, []backend.Incoming{{Source: it.Source, Expect: src.Version()}})
					taken = err == nil && !out[0].Conflict
				default:
					it := memory("a", "text")
					it.Metadata = next
					_, err = e.Place(ctx, []backend.Placed{{Incoming: backend.Incoming{Source: it.Source, Expect: src.Version()}, Chunks: it.chunks()}})
					taken = err == nil
				}
				if err != nil && !assert.ErrorIs(t, err, backend.ErrConflict) {
					return
				}
				if taken {
					done++
				}
			}
		})
		wg.Go(func() {
			for done := 0; done < each; {
				old, err := e.Get(ctx, "count")
				assert.NoError(t, err)
				n, err := strconv.Atoi(string(old))
				assert.NoError(t, err)
				err = e.Set(ctx, "count", old, []byte(strconv.Itoa(n+1)))
				if err == nil {
					done++
				} else if !assert.ErrorIs(t, err, backend.ErrConflict) {
					return
				}
			}
		})
	}
	wg.Wait()
	assert.Equal(t, fmt.Sprint(workers*each), string(e.source(notes, "a").Metadata))
	count, err := e.Get(ctx, "count")
	require.NoError(t, err)
	assert.Equal(t, fmt.Sprint(workers*each), string(count))
}

// testConcurrentWriters replaces an item unconditionally while others edit it with an expectation. The
// tags and metadata of a version must always belong to its content, and a deleted item must stay deleted.
func testConcurrentWriters(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	const rounds = 40
	content := func(n int) item {
		it := memory("a").tagged(uint64(n))
		it.Metadata, it.Doc = []byte(fmt.Sprint(n)), []byte(fmt.Sprint(n))
		return it
	}
	check := func(src *backend.Source) {
		assert.Equal(t, string(src.Doc), string(src.Metadata), "metadata of another version")
		if assert.Len(t, src.Tags, 1) {
			assert.Equal(t, string(src.Doc), fmt.Sprint(src.Tags[0]), "tags of another version")
		}
	}
	e.accept(content(0))
	var wg sync.WaitGroup
	done := make(chan struct{})
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				srcs, err := e.Sources(ctx, notes, []string{"a"})
				if !assert.NoError(t, err) {
					return
				}
				if srcs[0] == nil {
					continue
				}
				check(srcs[0])
				_, err = e.UpdateMetadata(ctx, notes, "a", srcs[0].Version(), srcs[0].Metadata, nil, nil, srcs[0].Tags, at(1))
				assert.True(t, err == nil || errors.Is(err, backend.ErrConflict) || errors.Is(err, backend.ErrNotFound), "%v", err)
				_, err = e.Accept(ctx, []backend.Incoming{{Source: *srcs[0], Expect: srcs[0].Version()}})
				assert.NoError(t, err)
			}
		})
	}
	for n := range rounds {
		_, err := e.Accept(ctx, []backend.Incoming{{Source: content(n).Source}})
		require.NoError(t, err)
		if n%4 == 3 {
			_, err := e.Delete(ctx, notes, []string{"a"}, backend.DeleteOptions{})
			require.NoError(t, err)
			for range 20 {
				require.Nil(t, e.source(notes, "a"), "an edit brought it back")
			}
		}
	}
	close(done)
	wg.Wait()
}
