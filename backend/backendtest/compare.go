package backendtest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// querySet lists the queries with which compareIndexes compares two sets of indexes.
type querySet struct {
	parts   []backend.Partition
	texts   []string
	keys    []string
	filters []backend.Filter
}

// mapping translates Nums of the indexes under test into Nums of the oracle.
type mapping struct {
	chunks   map[int64]int64
	sources  map[int64]int64
	entities map[int64]int64 // nil: both sides use the same Nums
}

// same returns the identity mapping for the chunk Nums 1 to chunks and the source Nums 1 to sources.
// It fits two sets of indexes that follow one feed.
func same(chunks, sources int64) mapping {
	m := mapping{chunks: make(map[int64]int64), sources: make(map[int64]int64)}
	for n := int64(1); n <= chunks; n++ {
		m.chunks[n] = n
	}
	for n := int64(1); n <= sources; n++ {
		m.sources[n] = n
	}
	return m
}

func (m mapping) entity(n int64) int64 {
	if m.entities == nil {
		return n
	}
	return m.entities[n]
}

// compareIndexes sends every query of p to got and to want, and requires equal answers. Scores may
// differ by tolerance, and hits whose scores differ by less than that may come in any order.
func compareIndexes(t testing.TB, got, want backend.IndexSet, p querySet, m mapping, msg string) {
	t.Helper()
	c := &comparer{t: t, got: got, want: want, m: m}
	for _, part := range p.parts {
		c.part, c.msg = part, fmt.Sprintf("%s, %v", msg, part)
		for _, text := range p.texts {
			c.terms(text)
			for _, f := range p.filters {
				for lane := range backend.LaneCount {
					c.vectors(backend.VectorQuery{Part: part, Lane: lane, Vector: Vector(text, dim), Filter: f})
				}
				for _, op := range []backend.Operator{backend.Or, backend.And, backend.Phrase} {
					c.keywords(backend.KeywordQuery{Part: part, Text: text, Operator: op, Filter: f})
				}
				c.scores(0, text)
				c.scores(1, text)
				c.survey(0, text, f)
				c.survey(1, text, f)
			}
			c.sessions(text)
		}
		c.around()
		c.graph(p.keys)
	}
}

type comparer struct {
	t         testing.TB
	got, want backend.IndexSet
	m         mapping
	part      backend.Partition
	msg       string
}

// hits requires that got is a correct top k of all, the oracle's complete list of hits.
func (c *comparer) hits(got, all []backend.Hit, k int, what string) {
	c.t.Helper()
	msg := c.msg + ", " + what
	require.Len(c.t, got, min(k, len(all)), msg)
	right := make(map[int64]backend.Hit, len(all))
	for _, h := range all {
		right[h.Chunk] = h
	}
	for i, h := range got {
		w, ok := right[c.m.chunks[h.Chunk]]
		require.True(c.t, ok, "%s: chunk %d is no hit", msg, h.Chunk)
		delete(right, c.m.chunks[h.Chunk])
		require.Equal(c.t, w.Source, c.m.sources[h.Source], msg)
		require.InDelta(c.t, w.Score, h.Score, tolerance, msg)
		require.InDelta(c.t, all[i].Score, h.Score, tolerance, "%s: place %d", msg, i)
	}
	requireSorted(c.t, got)
}

func (c *comparer) vectors(q backend.VectorQuery) {
	c.t.Helper()
	ctx := c.t.Context()
	q.K = 1 << 20
	all, err := c.want.Vectors().SearchVectors(ctx, q)
	if err != nil {
		q.K = 5
		_, err = c.got.Vectors().SearchVectors(ctx, q)
		require.Error(c.t, err, c.msg)
		return
	}
	for _, k := range []int{3, 100} {
		q.K, q.Answer = k, backend.Answer{}
		got, err := c.got.Vectors().SearchVectors(ctx, q)
		require.NoError(c.t, err, c.msg)
		c.hits(got, all, k, "vectors")
		q.Answer = unsorted()
		again, err := c.got.Vectors().SearchVectors(ctx, q)
		require.NoError(c.t, err, c.msg)
		require.ElementsMatch(c.t, got, again, c.msg)
	}
}

// unsorted lets the index return hits in any order. It passes a buffer with old hits, which the index must overwrite.
func unsorted() backend.Answer {
	return backend.Answer{AnyOrder: true, Into: []backend.Hit{{Chunk: -1, Source: -1, Score: 100}, {Chunk: -2}}}
}

func (c *comparer) keywords(q backend.KeywordQuery) {
	c.t.Helper()
	ctx := c.t.Context()
	q.K = 1 << 20
	all, err := c.want.Keywords().SearchKeywords(ctx, q)
	require.NoError(c.t, err)
	for _, k := range []int{3, 100} {
		q.K, q.Answer = k, backend.Answer{}
		got, err := c.got.Keywords().SearchKeywords(ctx, q)
		require.NoError(c.t, err, c.msg)
		c.hits(got, all, k, fmt.Sprintf("keywords %q, operator %d", q.Text, q.Operator))
		q.Answer = unsorted()
		again, err := c.got.Keywords().SearchKeywords(ctx, q)
		require.NoError(c.t, err, c.msg)
		require.ElementsMatch(c.t, got, again, c.msg)
	}
}

func (c *comparer) terms(text string) {
	c.t.Helper()
	got, docs, avg, err := c.got.Keywords().Terms(c.t.Context(), c.part, text)
	require.NoError(c.t, err, c.msg)
	want, wantDocs, wantAvg, err := c.want.Keywords().Terms(c.t.Context(), c.part, text)
	require.NoError(c.t, err)
	require.Equal(c.t, wantDocs, docs, c.msg)
	require.InDelta(c.t, wantAvg, avg, tolerance, c.msg)
	require.Len(c.t, got, len(want), c.msg)
	for i := range want {
		require.Equal(c.t, []any{want[i].Term, want[i].DF}, []any{got[i].Term, got[i].DF}, c.msg)
		require.InDelta(c.t, want[i].IDF, got[i].IDF, tolerance, c.msg)
	}
}

// session describes a session by the list of its chunks. If mapped is set, it translates their Nums into
// the oracle's.
func (c *comparer) session(x backend.IndexSet, num int64, mapped bool) string {
	c.t.Helper()
	chunks, err := x.Graph().SessionChunks(c.t.Context(), c.part, num, 1<<20)
	require.NoError(c.t, err, c.msg)
	if mapped {
		for i, n := range chunks {
			chunks[i] = c.m.chunks[n]
		}
	}
	return fmt.Sprint(chunks)
}

func (c *comparer) sessions(text string) {
	c.t.Helper()
	ctx := c.t.Context()
	q := backend.KeywordQuery{Part: c.part, Text: text, K: 1 << 20}
	want, err := c.want.Keywords().SearchSessions(ctx, q)
	require.NoError(c.t, err)
	q.K = 1000
	got, err := c.got.Keywords().SearchSessions(ctx, q)
	require.NoError(c.t, err, c.msg)
	require.Len(c.t, got, len(want), "%s: sessions for %q", c.msg, text)
	right := make(map[string]float32, len(want))
	for _, h := range want {
		right[c.session(c.want, h.Source, false)] = h.Score
	}
	for i, h := range got {
		score, ok := right[c.session(c.got, h.Source, true)]
		require.True(c.t, ok, "%s: session %d is no hit", c.msg, h.Source)
		require.InDelta(c.t, score, h.Score, tolerance, c.msg)
		require.InDelta(c.t, want[i].Score, h.Score, tolerance, "%s: place %d", c.msg, i)
	}
}

func (c *comparer) around() {
	c.t.Helper()
	ctx := c.t.Context()
	chunks, theirs := c.pairs()
	got, err := c.got.Graph().Neighbours(ctx, c.part, chunks)
	require.NoError(c.t, err, c.msg)
	want, err := c.want.Graph().Neighbours(ctx, c.part, theirs)
	require.NoError(c.t, err)
	require.Len(c.t, got, len(want))
	for i, g := range got {
		w := want[i]
		require.Equal(c.t, w.Chunk != 0, g.Chunk != 0, "%s: chunk %d", c.msg, chunks[i])
		if w.Chunk == 0 {
			require.Zero(c.t, g, c.msg)
			continue
		}
		require.Equal(c.t, w.Session != 0, g.Session != 0, "%s: chunk %d", c.msg, chunks[i])
		if g.Session != 0 {
			require.Equal(c.t, c.session(c.want, w.Session, false), c.session(c.got, g.Session, true), "%s: session of chunk %d", c.msg, chunks[i])
		}
		g.Chunk, g.Source = c.m.chunks[g.Chunk], c.m.sources[g.Source]
		for j := range 2 {
			g.Prev[j], g.Next[j] = c.m.chunks[g.Prev[j]], c.m.chunks[g.Next[j]]
		}
		g.Session, w.Session = 0, 0
		require.Equal(c.t, w, g, "%s: around chunk %d", c.msg, chunks[i])
	}
}

// pairs returns all chunks of the mapping: their Nums in the indexes under test, and the oracle's.
func (c *comparer) pairs() (got, want []int64) {
	for g, w := range c.m.chunks {
		got, want = append(got, g), append(want, w)
	}
	return got, want
}

func (c *comparer) graph(keys []string) {
	c.t.Helper()
	ctx := c.t.Context()
	got, err := c.got.Graph().MatchEntities(ctx, c.part, keys)
	require.NoError(c.t, err, c.msg)
	want, err := c.want.Graph().MatchEntities(ctx, c.part, keys)
	require.NoError(c.t, err)
	var ours, theirs []int64
	for _, w := range want {
		theirs = append(theirs, w.Entity)
	}
	for i, g := range got {
		ours = append(ours, g.Entity)
		got[i].Entity = c.m.entity(g.Entity)
	}
	require.ElementsMatch(c.t, want, got, "%s: entities", c.msg)
	ours, theirs = distinct(ours), distinct(theirs)

	chunks, wantChunks := c.pairs()
	refs, err := c.got.Graph().Mentions(ctx, c.part, chunks)
	require.NoError(c.t, err, c.msg)
	wantRefs, err := c.want.Graph().Mentions(ctx, c.part, wantChunks)
	require.NoError(c.t, err)
	require.ElementsMatch(c.t, wantRefs, c.refs(refs), "%s: mentions", c.msg)
	for _, per := range []int{1, 1000} {
		refs, err = c.got.Graph().MentionedIn(ctx, c.part, ours, per)
		require.NoError(c.t, err, c.msg)
		wantRefs, err = c.want.Graph().MentionedIn(ctx, c.part, theirs, per)
		require.NoError(c.t, err)
		require.ElementsMatch(c.t, wantRefs, c.refs(refs), "%s: mentioned in", c.msg)
	}
	info, err := c.got.Graph().Info(ctx, c.part)
	require.NoError(c.t, err, c.msg)
	wantInfo, err := c.want.Graph().Info(ctx, c.part)
	require.NoError(c.t, err)
	require.Equal(c.t, wantInfo, info, c.msg)
}

func distinct(nums []int64) []int64 {
	slices.Sort(nums)
	return slices.Compact(nums)
}

func (c *comparer) refs(refs []backend.EntityRef) []backend.EntityRef {
	for i, r := range refs {
		refs[i].Chunk, refs[i].Entity = c.m.chunks[r.Chunk], c.m.entity(r.Entity)
	}
	return refs
}
