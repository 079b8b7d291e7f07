package local

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// compare runs all queries against both and requires equal answers.
func (m *model) compare(t *testing.T, want, got indexes) {
	t.Helper()
	ctx := t.Context()
	require.Equal(t, want.Applied(), got.Applied())
	for _, part := range m.parts {
		vq := backend.VectorQuery{Part: part, Vector: m.vector(), K: m.r.IntN(20), Filter: m.filter()}
		w, err := want.SearchVectors(ctx, vq)
		require.NoError(t, err)
		g, err := got.SearchVectors(ctx, vq)
		require.NoError(t, err)
		if m.limits.exactRows > 0 {
			m.nearHits(t, want, w, g, vq)
		} else {
			sameHits(t, w, g, "vectors %+v", vq)
		}
		for range 3 {
			kq := m.keywordQuery(part)
			w, err = want.SearchKeywords(ctx, kq)
			require.NoError(t, err)
			g, err = got.SearchKeywords(ctx, kq)
			require.NoError(t, err)
			sameHits(t, w, g, "keywords %+v", kq)
			w, err = want.SearchSessions(ctx, kq)
			require.NoError(t, err)
			g, err = got.SearchSessions(ctx, kq)
			require.NoError(t, err)
			sameHits(t, w, g, "sessions %+v", kq)
		}
		text := m.text(3)
		wt, wn, wa, err := want.Terms(ctx, part, text)
		require.NoError(t, err)
		gt, gn, ga, err := got.Terms(ctx, part, text)
		require.NoError(t, err)
		require.Equal(t, wn, gn)
		require.InDelta(t, wa, ga, 1e-4)
		require.Equal(t, wt, gt)
		m.compareGraph(t, part, want, got)
	}
}

// nearHits requires correct hits but allows better ones to be missing. m.found counts the
// hits that are at least as good as the last wanted one.
func (m *model) nearHits(t *testing.T, oracle indexes, want, got []backend.Hit, q backend.VectorQuery) {
	t.Helper()
	require.Len(t, got, len(want))
	require.True(t, slices.IsSortedFunc(got, compareHits))
	q.K = int(m.chunk)
	all, err := oracle.SearchVectors(t.Context(), q)
	require.NoError(t, err)
	for _, g := range got {
		at := slices.IndexFunc(all, func(h backend.Hit) bool { return h.Chunk == g.Chunk })
		require.GreaterOrEqual(t, at, 0, "chunk %d is not to be found", g.Chunk)
		require.Equal(t, all[at].Source, g.Source)
		require.InDelta(t, all[at].Score, g.Score, 1e-4*max(1, math.Abs(float64(g.Score))))
		if g.Score >= want[len(want)-1].Score-1e-4 {
			m.found++
		}
	}
	m.wanted += len(want)
}

func (m *model) compareGraph(t *testing.T, part backend.Partition, want, got indexes) {
	t.Helper()
	ctx := t.Context()
	var chunks []int64
	for c := range m.chunk + 32 {
		chunks = append(chunks, c)
	}
	wa, err := want.Neighbours(ctx, part, chunks)
	require.NoError(t, err)
	ga, err := got.Neighbours(ctx, part, chunks)
	require.NoError(t, err)
	require.Equal(t, wa, ga)
	seen := make(map[int64]bool)
	for _, a := range wa {
		if a.Session != 0 && !seen[a.Session] {
			seen[a.Session] = true
			w, err := want.SessionChunks(ctx, part, a.Session, 7)
			require.NoError(t, err)
			g, err := got.SessionChunks(ctx, part, a.Session, 7)
			require.NoError(t, err)
			require.Equal(t, w, g)
		}
	}
	keys := []string{"key 3", "key 1", "none", "key 3", "key 7"}
	wm, err := want.MatchEntities(ctx, part, keys)
	require.NoError(t, err)
	gm, err := got.MatchEntities(ctx, part, keys)
	require.NoError(t, err)
	require.Equal(t, wm, gm)
	wr, err := want.Mentions(ctx, part, chunks)
	require.NoError(t, err)
	gr, err := got.Mentions(ctx, part, chunks)
	require.NoError(t, err)
	require.Equal(t, wr, gr)
	entities := []int64{4, 1, 99, 9, 2}
	wr, err = want.MentionedIn(ctx, part, entities, 3)
	require.NoError(t, err)
	gr, err = got.MentionedIn(ctx, part, entities, 3)
	require.NoError(t, err)
	require.Equal(t, wr, gr)
	wi, err := want.Info(ctx, part)
	require.NoError(t, err)
	gi, err := got.Info(ctx, part)
	require.NoError(t, err)
	require.Equal(t, wi, gi)
}

// sameHits requires the same chunks, with scores within 1e-4 absolute or relative,
// whichever is more, as the keyword engine counts in whole units. Chunks whose scores are
// that close may be in another order, also across the cut-off at the end.
func sameHits(t *testing.T, want, got []backend.Hit, format string, args ...any) {
	t.Helper()
	note := fmt.Sprintf(format, args...)
	require.Len(t, got, len(want), note)
	scores := make(map[int64]backend.Hit, len(want))
	near := func(a, b float32) { t.Helper(); require.InDelta(t, a, b, 1e-4*max(1, float64(a)), note) }
	for i := range want {
		near(want[i].Score, got[i].Score)
		if i > 0 {
			require.GreaterOrEqual(t, got[i-1].Score, got[i].Score, note)
			if got[i-1].Score == got[i].Score {
				require.Less(t, got[i-1].Chunk, got[i].Chunk, note)
			}
		}
		scores[want[i].Chunk] = want[i]
	}
	for _, h := range got {
		if w, ok := scores[h.Chunk]; ok {
			near(w.Score, h.Score)
			require.Equal(t, w.Source, h.Source, note)
		} else {
			near(want[len(want)-1].Score, h.Score)
		}
	}
}
