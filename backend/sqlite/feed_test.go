package sqlite

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// replay reads the feed in small steps from its last position, as an index does.
func replay(t *testing.T, s *store, after uint64, steps int) (seen []backend.Change, at uint64, err error) {
	t.Helper()
	for range steps {
		cs, err := s.Changes(t.Context(), after, 1)
		if err != nil {
			return seen, after, err
		}
		if len(cs) == 0 {
			return seen, s.LastSeq(), nil
		}
		require.Len(t, cs, 1)
		require.Greater(t, cs[0].Seq, after)
		require.LessOrEqual(t, cs[0].Seq, s.LastSeq())
		seen, after = append(seen, cs...), cs[0].Seq
	}
	return seen, after, nil
}

// TestReplayOfACompactedFeed checks that an index that starts from zero after the feed was compacted reaches its end in
// any number of steps, and that one that missed a tombstone gets an error, whatever its position.
func TestReplayOfACompactedFeed(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	_, s := openTest(t)
	r := rand.New(rand.NewPCG(3, 3))
	accepted := ingest(t, s, r, 0, 6)
	srcs, err := s.SourcesByNum(ctx, []int64{accepted[2].Num, accepted[4].Num})
	require.NoError(t, err)
	var behind []uint64
	whole, end, err := replay(t, s, 0, 100)
	require.NoError(t, err)
	require.Len(t, whole, 12)
	for _, c := range whole {
		behind = append(behind, c.Seq)
	}
	remove := func(i int) {
		t.Helper()
		res, err := s.Delete(ctx, testPart, []string{srcs[i].ID}, backend.DeleteOptions{})
		require.NoError(t, err)
		require.True(t, res[0].Found)
	}
	remove(0)
	ingest(t, s, r, 6, 8)
	_, err = s.CompactFeed(ctx, s.LastSeq(), 100)
	require.NoError(t, err)
	for _, seq := range behind {
		_, err := s.Changes(ctx, seq, 10)
		require.ErrorIs(t, err, backend.ErrFeedGone, "at %d", seq)
	}
	part, at, err := replay(t, s, 0, 5)
	require.NoError(t, err)
	require.Len(t, part, 5)
	rest, last, err := replay(t, s, at, 100)
	require.NoError(t, err)
	require.Len(t, rest, 9)
	require.Equal(t, s.LastSeq(), last)
	require.Greater(t, last, end)
	seen := make(map[int64]int)
	for _, c := range append(part, rest...) {
		seen[c.Source]++
	}
	assert.Len(t, seen, 7)
	assert.NotContains(t, seen, accepted[2].Num)
	// A tombstone that comes meanwhile is delivered; one that is compacted away meanwhile
	// sends the index back.
	remove(1)
	cs, _, err := replay(t, s, last, 100)
	require.NoError(t, err)
	require.Len(t, cs, 1)
	assert.Equal(t, backend.Drop, cs[0].Kind)
	_, _, err = replay(t, s, at, 100)
	require.NoError(t, err, "the tombstone is still there")
	_, err = s.CompactFeed(ctx, s.LastSeq(), 100)
	require.NoError(t, err)
	_, _, err = replay(t, s, at, 100)
	require.ErrorIs(t, err, backend.ErrFeedGone)
	_, err = s.Changes(ctx, last, 10)
	require.ErrorIs(t, err, backend.ErrFeedGone)
	again, _, err := replay(t, s, 0, 100)
	require.NoError(t, err)
	assert.Len(t, again, 12)
	check(t, s)
}

func TestFeedIsFull(t *testing.T) {
	t.Parallel()
	_, s := openTest(t)
	require.NoError(t, s.change(t.Context(), func(tx *tx) error {
		tx.led.Seq = storerules.MaxEntries - 1
		return nil
	}))
	before := s.LastSeq()
	pipeOne := func() error {
		_, err := s.Accept(t.Context(), item("x"))
		require.NoError(t, err)
		claims, err := s.Claim(t.Context(), "token", testTime, testTime, 1, 0)
		require.NoError(t, err)
		require.Len(t, claims, 1)
		_, err = s.Index(t.Context(), []backend.Indexed{{Num: claims[0].Num, Token: "token", Chunks: []backend.Chunk{{Key: "k"}}}})
		return err
	}
	require.NoError(t, pipeOne())
	assert.Greater(t, s.LastSeq(), before)
	require.ErrorIs(t, pipeOne(), backend.ErrUnavailable)
	check(t, s)
}

// Checks that an expired item does not count before it is swept. The clock is that of testing/synctest.
func TestCountsWithoutExpired(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		d, err := Open(ctx, dir, nil)
		require.NoError(t, err)
		s, err := d.OpenStore(ctx, testUID)
		require.NoError(t, err)
		now := time.Now()
		in := append(item("stays"), item("goes")...)
		in[1].ExpiresAt = now.Add(time.Hour)
		_, err = s.Accept(ctx, in)
		require.NoError(t, err)
		claims, err := s.Claim(ctx, "token", now, now, 2, 0)
		require.NoError(t, err)
		for i, c := range claims {
			_, err = s.Index(ctx, []backend.Indexed{{Num: c.Num, Token: "token", Chunks: []backend.Chunk{{Key: c.ID}, {Key: c.ID + "2"}}}})
			require.NoError(t, err, "%d", i)
		}
		count := func(sources, chunks int) {
			t.Helper()
			st, err := s.Stats(ctx, backend.Memory)
			require.NoError(t, err)
			assert.Equal(t, backend.Stats{Sources: sources, Chunks: chunks}, st)
			subs, err := s.Subs(ctx)
			require.NoError(t, err)
			assert.Equal(t, []backend.SubInfo{{Sub: testPart.Sub, Memory: sources}}, subs)
		}
		count(2, 4)
		time.Sleep(time.Hour)
		count(1, 2)
		n, next, err := s.Expire(ctx, time.Now(), 10)
		require.NoError(t, err)
		assert.Equal(t, 1, n)
		assert.True(t, next.IsZero())
		count(1, 2)
		require.NoError(t, d.Close())
	})
}

// TestMergedEntitiesOfLongTexts checks the entities of the mentions that the feed returns for a text that mentions more of them than are looked up one by one.
func TestMergedEntitiesOfLongTexts(t *testing.T) {
	t.Parallel()
	_, s := openTest(t)
	in, ix, fin := memory(rand.New(rand.NewPCG(3, 3)), 1)
	fin.Mentions = nil
	const n = 3 * rootsAlone
	for i := range n {
		name := fmt.Sprintf("Place %d", i)
		fin.Mentions = append(fin.Mentions, backend.Mention{Name: name, Key: strings.ToLower(name), Type: "PLACE", Weight: 1})
	}
	fin.Relations = nil
	accepted, err := s.Accept(t.Context(), []backend.Incoming{in})
	require.NoError(t, err)
	_, err = s.Claim(t.Context(), "w", testTime, testTime.Add(time.Hour), 1, 0)
	require.NoError(t, err)
	ix.Num, ix.Token, fin.Num, fin.Token = accepted[0].Num, "w", accepted[0].Num, "w"
	_, err = s.Index(t.Context(), []backend.Indexed{ix})
	require.NoError(t, err)
	_, err = s.Finish(t.Context(), []backend.Finished{fin})
	require.NoError(t, err)
	for i := 5; i < n; i += 5 { // each fifth becomes one with the second, over one other
		_, err := s.MergeEntities(t.Context(), testPart, fmt.Sprint("place ", i), fmt.Sprint("place ", max(i-5, 1)), "same", testTime)
		require.NoError(t, err)
	}
	changes, err := s.Changes(t.Context(), 0, 1000)
	require.NoError(t, err)
	last := changes[len(changes)-1]
	require.Equal(t, backend.PutGraph, last.Kind)
	require.Len(t, last.Mentions, n)
	of := make(map[string]int64)
	for _, m := range last.Mentions {
		of[m.Key] = m.Entity
	}
	roots := make(map[int64]int)
	for i := range n {
		root := of[fmt.Sprint("place ", i)]
		require.NotZero(t, root)
		if roots[root]++; i > 0 && i%5 == 0 {
			require.Equal(t, of["place 1"], root)
		}
	}
	require.Len(t, roots, n-(n-1)/5)
}
