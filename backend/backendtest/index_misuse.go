package backendtest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

func testIndexHostile(t *testing.T, e *indexEnv) {
	ctx := t.Context()
	for i, s := range hostile {
		part := backend.Partition{Class: backend.Memory, Sub: s}
		src, c := e.put(entry{part: part, id: s, title: s, heading: s, texts: []string{s + " lantern"}, session: s + "x", vectors: [][]float32{unit(1)}})
		e.change(backend.Change{Kind: backend.PutGraph, Part: part, Source: src, Mentions: []backend.MentionRef{{Chunk: c[0], Entity: int64(i + 1), Key: s, Weight: 1}}})
	}
	for _, sh := range e.Indexes() {
		require.NoError(t, sh.Flush(ctx))
	}
	e.reopen()
	e.replay()
	for i, s := range hostile {
		part := backend.Partition{Class: backend.Memory, Sub: s}
		hits := e.keywords(backend.KeywordQuery{Part: part, Text: "lantern"})
		require.Len(t, hits, 1, "string %d", i)
		require.Len(t, e.vectors(backend.VectorQuery{Part: part, Vector: unit(1)}), 1, "string %d", i)
		match, err := e.Graph().MatchEntities(ctx, part, []string{s})
		require.NoError(t, err)
		require.Len(t, match, 1, "string %d", i)
		require.True(t, match[0].Entity == int64(i+1) && match[0].Key == s, "string %d", i)
		around, err := e.Graph().Neighbours(ctx, part, []int64{hits[0].Chunk})
		require.NoError(t, err)
		require.NotZero(t, around[0].Session)
	}
	for i, s := range hostile {
		for _, op := range []backend.Operator{backend.Or, backend.And, backend.Phrase} {
			_, err := e.Keywords().SearchKeywords(ctx, backend.KeywordQuery{Part: notes, Text: s, Operator: op, K: 5})
			require.NoError(t, err, "string %d as a query", i)
		}
	}
}

func testIndexCopies(t *testing.T, e *indexEnv) {
	ctx := t.Context()
	v, tags, extra := unit(1), []uint64{1}, []byte(`{"s":"Anna"}`)
	c := backend.Change{Seq: 1, Kind: backend.PutChunks, Part: notes, Source: 1, Tags: tags, Rows: []backend.Row{{Chunk: 1, Text: "lantern", Vector: v, Extra: extra}}}
	for _, sh := range e.Indexes() {
		require.NoError(t, sh.Apply(ctx, []backend.Change{c}))
	}
	require.Equal(t, []any{unit(1), []uint64{1}, `{"s":"Anna"}`}, []any{v, tags, string(extra)})
	v[0], tags[0] = 99, 99
	copy(extra, strings.Repeat("x", len(extra)))
	c.Rows[0].Text, c.Rows[0].Chunk = "other", 99
	hits := e.vectors(backend.VectorQuery{Vector: unit(1), Filter: backend.Filter{All: [][]uint64{{1}}}})
	require.Len(t, hits, 1)
	assert.InDelta(t, 1, hits[0].Score, tolerance)
	assert.Equal(t, []int64{1}, chunksOf(e.keywords(backend.KeywordQuery{Text: "lantern"})))
	assert.Equal(t, "Anna", e.around(1)[0].Speaker)
}

func indexCalls(x backend.IndexSet) []call {
	ignore := func(_ any, err error) error { return err }
	v, k, g := x.Vectors(), x.Keywords(), x.Graph()
	calls := []call{
		{"SearchVectors", func(ctx context.Context) error {
			return ignore(v.SearchVectors(ctx, backend.VectorQuery{Part: notes, Vector: unit(1), K: 5}))
		}},
		{"SearchKeywords", func(ctx context.Context) error {
			return ignore(k.SearchKeywords(ctx, backend.KeywordQuery{Part: notes, Text: "lantern", K: 5}))
		}},
		{"SearchSessions", func(ctx context.Context) error {
			return ignore(k.SearchSessions(ctx, backend.KeywordQuery{Part: notes, Text: "lantern", K: 5}))
		}},
		{"Terms", func(ctx context.Context) error { _, _, _, err := k.Terms(ctx, notes, "lantern"); return err }},
		{"Neighbours", func(ctx context.Context) error { return ignore(g.Neighbours(ctx, notes, []int64{1})) }},
		{"SessionChunks", func(ctx context.Context) error { return ignore(g.SessionChunks(ctx, notes, 1, 5)) }},
		{"MatchEntities", func(ctx context.Context) error { return ignore(g.MatchEntities(ctx, notes, []string{"red"})) }},
		{"Mentions", func(ctx context.Context) error { return ignore(g.Mentions(ctx, notes, []int64{1})) }},
		{"MentionedIn", func(ctx context.Context) error { return ignore(g.MentionedIn(ctx, notes, []int64{1}, 5)) }},
		{"Info", func(ctx context.Context) error { return ignore(g.Info(ctx, notes)) }},
	}
	for _, sh := range x.Indexes() {
		calls = append(calls,
			call{"Apply", func(ctx context.Context) error {
				return sh.Apply(ctx, []backend.Change{{Seq: 1000, Kind: backend.DropSub, Part: backend.Partition{Sub: "notes"}}})
			}},
			call{"Flush", sh.Flush},
			call{"Reset", sh.Reset},
		)
	}
	return calls
}

func testIndexCancelled(t *testing.T, e *indexEnv) {
	e.fill()
	requireEnded(t, indexCalls(e.IndexSet))
	for _, sh := range e.Indexes() {
		require.Equal(t, e.seq, sh.Applied())
	}
	e.requireLikeOracle("nothing happened")
}

func testIndexClosed(t *testing.T, e *indexEnv) {
	e.fill()
	calls := indexCalls(e.IndexSet)
	indexes := e.Indexes()
	require.NoError(t, e.IndexSet.Close())
	requireClosed(t, calls)
	assert.NotPanics(t, func() { indexes[0].Applied() })
	require.NoError(t, e.indexers.Close())
	requireClosed(t, []call{
		{"OpenIndexes", func(ctx context.Context) error { _, err := e.indexers.OpenIndexes(ctx, UID("a")); return err }},
		{"RemoveIndexes", func(ctx context.Context) error { return e.indexers.RemoveIndexes(ctx, UID("a")) }},
	})
}

func testIndexWorkspaces(t *testing.T, e *indexEnv) {
	ctx := t.Context()
	e.fill()
	for _, sh := range e.Indexes() {
		require.NoError(t, sh.Flush(ctx))
	}
	require.NoError(t, e.IndexSet.Close())
	require.NoError(t, e.indexers.RemoveIndexes(ctx, e.uid))
	require.NoError(t, e.indexers.RemoveIndexes(ctx, e.uid), "an interrupted removal can be repeated")
	x, err := e.indexers.OpenIndexes(ctx, e.uid)
	require.NoError(t, err)
	closeAtEnd(t, x)
	e.IndexSet = x
	for _, sh := range e.Indexes() {
		require.Zero(t, sh.Applied(), "removed")
	}
	e.replay()
	e.requireLikeOracle("after a removal")
	for _, uid := range []string{"", "..", "../../etc", strings.Repeat("A", 32), UID("x") + "0", UID("x")[:31] + "/"} {
		_, err := e.indexers.OpenIndexes(ctx, uid)
		assert.Error(t, err, "workspace %q", uid)
		assert.Error(t, e.indexers.RemoveIndexes(ctx, uid), "workspace %q", uid)
	}
}

// testIndexConcurrent searches while it applies changes. Each answer must be correct for
// some prefix of the feed.
func testIndexConcurrent(t *testing.T, e *indexEnv) {
	ctx := t.Context()
	const versions = 40
	var feed []backend.Change
	seq := uint64(0)
	for i := range int64(versions) {
		seq++
		c := backend.Change{Seq: seq, Kind: backend.PutChunks, Part: notes, Source: i + 1, Time: at(int(i)), Tags: []uint64{1}}
		for j := range int64(3) {
			text := fmt.Sprintf("lantern number %d", i)
			c.Rows = append(c.Rows, backend.Row{Chunk: i*3 + j + 1, Ordinal: int(j), Text: text, Vector: Vector(text, dim)})
		}
		feed = append(feed, c)
		if i%4 == 3 {
			seq++
			feed = append(feed, backend.Change{Seq: seq, Kind: backend.Drop, Part: notes, Source: i})
		}
	}
	done := make(chan struct{})
	var searchers, followers sync.WaitGroup
	check := func(hits []backend.Hit, err error) {
		assert.NoError(t, err)
		seen := map[int64]bool{}
		for _, h := range hits {
			assert.False(t, seen[h.Chunk], "a chunk is found once")
			seen[h.Chunk] = true
			assert.Equal(t, (h.Chunk-1)/3+1, h.Source)
		}
	}
	for range 2 {
		searchers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				check(e.Keywords().SearchKeywords(ctx, backend.KeywordQuery{Part: notes, Text: "lantern", K: 500}))
				check(e.Vectors().SearchVectors(ctx, backend.VectorQuery{Part: notes, Vector: Vector("lantern", dim), K: 500, Filter: backend.Filter{All: [][]uint64{{1}}}}))
				_, err := e.Graph().Neighbours(ctx, notes, []int64{1, 7, 20})
				assert.NoError(t, err)
				_, err = e.Graph().Info(ctx, notes)
				assert.NoError(t, err)
			}
		})
	}
	for _, sh := range e.Indexes() {
		followers.Go(func() {
			for i := range feed {
				assert.NoError(t, sh.Apply(ctx, feed[i:i+1]))
				if i%10 == 9 {
					assert.NoError(t, sh.Flush(ctx))
				}
			}
		})
	}
	followers.Wait()
	close(done)
	searchers.Wait()
	assert.Len(t, e.keywords(backend.KeywordQuery{Text: "lantern", K: 500}), 3*versions*3/4)
	assert.Len(t, e.vectors(backend.VectorQuery{Vector: unit(1), K: 500}), 3*versions*3/4)
}
