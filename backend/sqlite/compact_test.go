package sqlite

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// openHalfDeleted returns a store in which every other item was deleted, and the numbers of the remaining items.
func openHalfDeleted(t *testing.T, dir string, o *Options) (d *DB, s *store, left []int64) {
	t.Helper()
	d, s = reopenWith(t, dir, o)
	for n := range 4 {
		accepted := ingest(t, s, rand.New(rand.NewPCG(uint64(n), 7)), 200*n, 200*n+200)
		var gone []string
		for i, a := range accepted {
			if i%2 == 0 {
				left = append(left, a.Num)
				continue
			}
			src, err := s.SourcesByNum(t.Context(), []int64{a.Num})
			require.NoError(t, err)
			gone = append(gone, src[0].ID)
		}
		_, err := s.Delete(t.Context(), testPart, gone, backend.DeleteOptions{})
		require.NoError(t, err)
	}
	return d, s, left
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Size()
}

// readAll reads the remaining items.
func readAll(t *testing.T, s *store, nums []int64) {
	t.Helper()
	for _, num := range nums {
		data, err := s.Content(t.Context(), num, backend.Original)
		require.NoError(t, err)
		require.NotEmpty(t, data)
	}
}

// Checks that a half-empty file is compacted once, concurrently with reads, and keeps its content.
func TestCompact(t *testing.T) {
	t.Parallel()
	for name, o := range plainAndEncrypted("plain", "encrypted") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			d, s, left := openHalfDeleted(t, dir, o)
			maintain(t, s)
			require.NoError(t, s.checkpoint(t.Context()))
			before, commits, seq := sizeOf(t, s.path), s.committed(), s.LastSeq()
			full, _, err := fullness(s.path, s.cipher)
			require.NoError(t, err)
			require.Less(t, full, fullEnough)

			ctx, stop := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			for range 2 {
				wg.Go(func() {
					for i := 0; ctx.Err() == nil; i++ {
						_, err := s.Content(t.Context(), left[i%len(left)], backend.Original)
						assert.NoError(t, err)
					}
				})
			}
			again, err := s.Compact(t.Context())
			stop()
			wg.Wait()
			require.NoError(t, err)
			require.False(t, again)
			after := sizeOf(t, s.path)
			assert.Less(t, 10*after, 7*before)
			full, _, err = fullness(s.path, s.cipher)
			require.NoError(t, err)
			assert.Greater(t, full, .7)
			_, free, mode, err := s.room(t.Context())
			require.NoError(t, err)
			assert.Zero(t, free)
			assert.EqualValues(t, incremental, mode)
			check(t, s)
			readAll(t, s, left)
			assert.Equal(t, seq, s.LastSeq())
			assert.Equal(t, commits, s.committed(), "a backup tells states apart by it")
			assert.NoFileExists(t, s.path+compactSuffix)

			again, err = s.Compact(t.Context())
			require.NoError(t, err)
			assert.False(t, again)
			assert.Equal(t, after, sizeOf(t, s.path))
			ingest(t, s, rand.New(rand.NewPCG(1, 8)), 5000, 5100)
			assert.Greater(t, s.committed(), commits)
			require.NoError(t, d.Close())

			require.NoError(t, os.WriteFile(s.path+compactSuffix, []byte("of a process that was killed"), 0o600))
			_, s = reopenWith(t, dir, o)
			assert.NoFileExists(t, s.path+compactSuffix)
			check(t, s)
			readAll(t, s, left)
		})
	}
}

// Checks that a file that has doubled since its last compaction, or was never compacted, is compacted when nothing was written between two
// calls, and not again before it has doubled.
func TestCompactGrown(t *testing.T) {
	t.Parallel()
	_, s := openTest(t)
	r := rand.New(rand.NewPCG(1, 7))
	for n := range 8 {
		ingest(t, s, r, 200*n, 200*n+200)
	}
	require.NoError(t, s.checkpoint(t.Context()))
	first := sizeOf(t, s.path)
	require.Greater(t, first, int64(2*freePages*pageSize))
	full, _, err := fullness(s.path, s.cipher)
	require.NoError(t, err)
	require.Greater(t, full, fullEnough)
	require.Less(t, full, fullAnew)
	compact := func(want bool) int64 {
		t.Helper()
		again, err := s.Compact(t.Context())
		require.NoError(t, err)
		assert.Equal(t, want, again)
		return sizeOf(t, s.path)
	}
	assert.Equal(t, first, compact(true), "more may come")
	ingest(t, s, r, 1600, 1601)
	assert.GreaterOrEqual(t, compact(true), first, "more came")
	after := compact(false)
	assert.Less(t, 100*after, 97*first)
	check(t, s)
	grown, err := s.grown(t.Context())
	require.NoError(t, err)
	assert.False(t, grown)

	ingest(t, s, r, 1601, 1700)
	assert.Greater(t, compact(false), after, "it has not doubled")
	for n := range 10 {
		ingest(t, s, r, 1700+200*n, 1900+200*n)
	}
	compact(true)
	last := sizeOf(t, s.path)
	assert.Less(t, compact(false), last)
	check(t, s)
}

// Checks that a compacted copy replaces the file only if there was no write since the copy began and there is no reader.
func TestCompactGivesWay(t *testing.T) {
	t.Parallel()
	_, s, left := openHalfDeleted(t, t.TempDir(), nil)
	for _, name := range []string{"old", "gone"} {
		require.NoError(t, s.Set(t.Context(), name, nil, []byte("one")))
	}
	to := filepath.Join(t.TempDir(), "copy")
	copied := func() {
		_ = os.Remove(to)
		s.sinceNow()
		worth, err := s.compacted(t.Context(), to)
		require.NoError(t, err)
		require.True(t, worth)
	}
	copied()
	ingest(t, s, rand.New(rand.NewPCG(1, 8)), 5000, 5001)
	again, err := s.takeName(t.Context(), to)
	require.NoError(t, err)
	require.True(t, again, "something was written")

	copied()
	s.apart.RLock()
	again, err = s.takeName(t.Context(), to)
	s.apart.RUnlock()
	require.NoError(t, err)
	require.True(t, again, "a backup is made")

	// The copy receives the values that were written meanwhile. Replacing the file waits for running reads.
	require.NoError(t, s.Set(t.Context(), "new", nil, []byte("yes")))
	require.NoError(t, s.Set(t.Context(), "old", []byte("one"), []byte("two")))
	require.NoError(t, s.Set(t.Context(), "gone", []byte("one"), nil))
	reading, read := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		assert.NoError(t, s.read(t.Context(), func(*conn) error {
			close(reading)
			<-read
			return nil
		}))
	})
	<-reading
	before := sizeOf(t, s.path)
	wg.Go(func() {
		again, err := s.takeName(t.Context(), to)
		assert.NoError(t, err)
		assert.False(t, again)
	})
	readAll(t, s, left) // others read on
	close(read)
	wg.Wait()
	assert.Less(t, sizeOf(t, s.path), before)
	check(t, s)
	require.NoError(t, s.read(t.Context(), func(c *conn) error { // past the cache
		for name, want := range map[string]string{"new": "yes", "old": "two", "gone": ""} {
			v, err := readValue(t.Context(), c, name)
			require.NoError(t, err)
			assert.Equal(t, want, string(v), name)
		}
		return nil
	}))
	readAll(t, s, left)

	// A write aborts a running copy.
	s.sinceNow()
	ctx, stop := s.untilOvertaken(t.Context())
	defer stop()
	ingest(t, s, rand.New(rand.NewPCG(2, 8)), 6000, 6001)
	<-ctx.Done()
	require.ErrorIs(t, context.Cause(ctx), errOvertaken)
}
