package backendtest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// testDeleteJointly checks the results of a deletion in several partitions, and that it takes the events of those ids whose deletion says so.
func testDeleteJointly(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	items := []item{memory("a"), memory("b"), memory("b").in(files), memory("a").in(other)}
	nums, token := e.index(items...)
	in := make([]backend.Finished, len(items))
	for i := range items {
		in[i] = backend.Finished{Num: nums[i], Token: token, State: backend.Completed, Event: true}
	}
	_, err := e.Finish(ctx, in)
	require.NoError(t, err)
	waiting := e.accept(memory("w").in(files))
	out, err := backend.DeleteJointly(ctx, e.Store, []backend.Deletion{
		{Part: files, IDs: []string{"nobody", "b", "w"}, DeleteOptions: backend.DeleteOptions{KeepIndexing: true}, Events: true},
		{Part: notes, IDs: []string{"b", "b"}},
		{Part: other, IDs: []string{"a"}, DeleteOptions: backend.DeleteOptions{Expect: []backend.Version{{Num: nums[0]}}}},
	})
	require.NoError(t, err)
	require.Len(t, out, 3)
	assert.Equal(t, []backend.DeleteResult{{}, {Found: true}, {Found: true, Indexing: true}}, out[0].Items)
	assert.Equal(t, []backend.DeleteResult{{Found: true}, {}}, out[1].Items, "an id that is named twice is found once")
	assert.Equal(t, []backend.DeleteResult{{Found: true, Conflict: true}}, out[2].Items)
	assert.Nil(t, e.source(files, "b"))
	assert.Nil(t, e.source(notes, "b"))
	assert.NotNil(t, e.source(notes, "a"))
	assert.NotNil(t, e.source(other, "a"))
	assert.NotNil(t, e.version(waiting[0]))
	if _, ok := e.Store.(backend.JointDeleter); !ok {
		return
	}
	assert.Equal(t, []int{2, 0, 0}, []int{out[0].Events, out[1].Events, out[2].Events}, "of both classes")
	events, err := e.Events(ctx, 10)
	require.NoError(t, err)
	require.Len(t, events, 2)
	for _, v := range events {
		assert.Equal(t, "a", v.ItemID)
	}
	none, err := backend.DeleteJointly(ctx, e.Store, nil)
	require.NoError(t, err)
	assert.Empty(t, none)
}

// testDeleteJointlyAtOnce checks of a [backend.JointDeleter] that nobody sees a part of a deletion done.
func testDeleteJointlyAtOnce(t *testing.T, e *storeEnv) {
	joint, ok := e.Store.(backend.JointDeleter)
	if !ok {
		return
	}
	ctx := t.Context()
	const rounds, each = 5, 30
	for range rounds {
		var items []item
		var ids []string
		for i := range each {
			ids = append(ids, fmt.Sprint("i", i))
			items = append(items, memory(ids[i]), memory(ids[i]).in(files), memory(ids[i]).in(other))
		}
		nums := e.complete(items...)
		seen := make(chan int)
		started := make(chan struct{})
		go func() {
			defer close(seen)
			for first := true; ; first = false {
				srcs, err := e.SourcesByNum(ctx, nums)
				if first {
					close(started)
				}
				left := 0
				for _, src := range srcs {
					if src != nil {
						left++
					}
				}
				if err != nil || left < len(nums) {
					seen <- left
					return
				}
			}
		}()
		<-started
		_, err := joint.DeleteJointly(ctx, []backend.Deletion{{Part: files, IDs: ids}, {Part: notes, IDs: ids}, {Part: other, IDs: ids}})
		assert.Zero(t, <-seen, "all are deleted when one is")
		require.NoError(t, err)
	}
}
