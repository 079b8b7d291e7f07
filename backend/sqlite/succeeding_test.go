package sqlite

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/contextmem/contextmem/backend"
)

// TestCachedSuccessions checks that the cached successions equal those in the database after each change, and that a
// caller's changes to a result do not affect the cache.
func TestCachedSuccessions(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	_, s := openTest(t)
	var nums []int64
	for _, id := range []string{"a", "b", "c", "d"} {
		_, err := s.Accept(ctx, []backend.Incoming{{Source: backend.Source{Part: testPart, ID: id, Kind: "text", CreatedAt: testTime, UpdatedAt: testTime}}})
		require.NoError(t, err)
		found, err := s.Sources(ctx, testPart, []string{id})
		require.NoError(t, err)
		nums = append(nums, found[0].Num)
	}
	same := func(want int, earlier ...int64) {
		t.Helper()
		for _, q := range [][]int64{earlier, earlier[:1], earlier} {
			ask := backend.SuccessionQuery{Part: testPart, Earlier: q}
			read, err := s.readSuccessions(ctx, ask)
			require.NoError(t, err)
			for range 2 {
				got, err := s.Successions(ctx, ask)
				require.NoError(t, err)
				require.Equal(t, read, got)
				clear(got)
			}
			if len(q) == len(earlier) {
				require.Len(t, read, want)
			}
		}
	}
	put := func(earlier, later int64) int64 {
		num, err := s.PutSuccession(ctx, backend.Succession{Later: later, Earlier: earlier, LaterChunk: -1, EarlierChunk: -1, Decider: "test", Confidence: .9, Created: testTime})
		require.NoError(t, err)
		return num
	}
	same(0, nums...)
	put(nums[1], nums[2])
	num := put(nums[0], nums[3])
	put(nums[0], nums[1])
	same(3, nums...)
	other, err := s.Successions(ctx, backend.SuccessionQuery{Part: backend.Partition{Class: testPart.Class, Sub: "another"}, Earlier: nums})
	require.NoError(t, err)
	require.Empty(t, other)
	same(3, nums...)
	require.NoError(t, s.UndoSuccession(ctx, num, testTime))
	same(2, nums...)
}

// TestSuccessionsBesideTheFirstWrite checks that reads may run while the first write starts the writer.
func TestSuccessionsBesideTheFirstWrite(t *testing.T) {
	t.Parallel()
	_, s := openTest(t)
	var g errgroup.Group
	var written atomic.Bool
	for range 4 {
		g.Go(func() error {
			for !written.Load() {
				if _, err := s.Successions(t.Context(), backend.SuccessionQuery{Earlier: []int64{1}}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := s.Set(t.Context(), "name", nil, []byte("value"))
	written.Store(true)
	require.NoError(t, g.Wait())
	require.NoError(t, err)
}

// TestMarks checks that the cache marks versions without a successor by version of the store and by partition, within
// bounds.
func TestMarks(t *testing.T) {
	t.Parallel()
	m := newCache(64 * 100) // 100 words
	a, b := backend.Partition{Class: backend.Memory, Sub: "a"}, backend.Partition{Class: backend.Memory, Sub: "b"}
	known := func(v uint64, part backend.Partition, nums ...int64) (out []int64) {
		m.eachMarked(v, lasting, part, nums, func(i int) { out = append(out, nums[i]) })
		return out
	}
	m.keepMarks(1, lasting, a, []int64{5, 64, 700, -1, 1 << 50, 64 * 99})
	require.Equal(t, []int64{5, 64, 700, 64 * 99}, known(1, a, 1, 5, 64, 65, 700, -1, 1<<50, 64*99))
	require.Empty(t, known(1, b, 5, 64))
	m.keepMarks(1, lasting, b, []int64{5})
	require.Empty(t, known(1, b, 5), "there is no room left")
	m.keepMarks(0, lasting, a, []int64{6})
	require.Empty(t, known(1, a, 6), "that is an older state")
	require.Empty(t, known(2, a, 5))
	m.keepMarks(2, lasting, b, []int64{7})
	require.Equal(t, []int64{7}, known(2, b, 5, 7))
	require.Empty(t, known(2, a, 5), "a commit came between")
	m.eachMarked(2, undated, b, []int64{7}, func(int) { t.Error("that is another mark") })
}
