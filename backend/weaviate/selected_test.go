package weaviate

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// TestNodesRankingIsChecked checks that what a node selects is not used if one of the best is in the second half of it, or if it has selected none.
func TestNodesRankingIsChecked(t *testing.T) {
	t.Parallel()
	hits := func(scores ...float32) (out []backend.Hit) {
		for i, s := range scores {
			out = append(out, backend.Hit{Chunk: int64(i), Score: s})
		}
		return out
	}
	got := hits(1, 7, 6, 5, 4, 3, 2)
	require.True(t, sortSelected(got, 2))
	assert.Equal(t, int64(1), got[0].Chunk)
	assert.Equal(t, int64(0), got[6].Chunk)
	assert.True(t, sortSelected(hits(5, 1, 1, 6, 1, 1, 1), 2))
	assert.False(t, sortSelected(hits(5, 1, 1, 1, 6, 1, 1), 2), "the best is in the second half")
	assert.False(t, sortSelected(hits(6, 1, 1, 1, 1, 1, 5), 2), "the second is")
	assert.True(t, sortSelected(hits(6, 1, 1, 1, 1, 1, 5), 1), "only one is wanted")
	assert.False(t, sortSelected(nil, 2))
}

// TestUnsettledNodesSelectNothing checks for how long what nodes have in memory may be old: after a node came back, after this process
// has rewritten something, and after another one has.
func TestUnsettledNodesSelectNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{nodes: []*node{{}, {place: 1}}, log: slog.New(slog.DiscardHandler)}
		c.health.allUp, c.health.cancelAllUp = context.WithCancel(t.Context())
		for _, n := range c.nodes {
			n.liveness.ctx, n.liveness.end = context.WithCancel(t.Context())
		}
		defer func() {
			c.health.cancelAllUp()
			for _, n := range c.nodes {
				n.liveness.end()
			}
		}()
		x := &index{x: &Indexers{cluster: c, partitions: newPartitionCache(defaultCacheBytes)}}
		mark := func(rewrites uint64) {
			time.Sleep(time.Second)
			x.marks.set("own", map[string]state{"other": {Rewrites: rewrites}}, time.Now())
		}
		for what, f := range map[string]func(){
			"a node came back": func() { c.setDown(c.nodes[1], true); c.setDown(c.nodes[1], false) },
			"rewritten here":   x.noteRewrite,
			"rewritten there":  func() { mark(1); mark(2) },
		} {
			require.True(t, x.settled(), what)
			f()
			require.False(t, x.settled(), what)
			time.Sleep(unsettledTimes * settleTime)
			require.False(t, x.settled(), what)
			time.Sleep(time.Second)
			require.True(t, x.settled(), what)
		}
		mark(2)
		require.True(t, x.settled(), "the same mark")
	})
}

// TestScoresFollowFromExplanations checks the scores that follow from a node's explanations against those that terms give, and that
// objects of unknown chunks are left out. Without an explanation there is no candidate.
func TestScoresFollowFromExplanations(t *testing.T) {
	t.Parallel()
	part := backend.Partition{Class: backend.Knowledge, Sub: "a"}
	all, d := newPartitionTerms(part), &partitionDictionary{part: part}
	for i, text := range []string{"lantern lantern kyoto", "a long text about a lantern, and about nothing else", "nothing", "kyoto_frequency:9 is a word"} {
		p := planOf([]backend.Change{{Kind: backend.PutChunks, Part: part, Source: int64(10 + i), Title: "violin", Rows: []backend.Row{{Chunk: int64(i), Text: text}}}})[0]
		require.True(t, all.apply(p))
		require.True(t, d.apply(p))
	}
	q := parse(&backend.KeywordQuery{Part: part, Text: "lantern kyoto violin kyoto_frequency:9"})
	c := all.counts(q.names())
	var found []object
	for chunk := range int64(5) {
		explanation := ""
		for _, term := range q.terms {
			list := all.postings[encodeTerm(term.Term)]
			for at, tf := range list.all() {
				if word := ", BM25F_" + wordOf(q.space, term.Term); all.chunks[at].chunk == chunk {
					explanation += fmt.Sprint(word, "_propLength:", 60, word, "_frequency:", float32(tf))
				}
			}
		}
		found = append(found, object{props: map[string]any{"_additional": map[string]any{"id": string(uuidOf("chunk", number(chunk))), explained: explanation}}})
	}
	weights := c.weigh(q.terms)
	var got []backend.Hit
	for _, f := range d.candidates(q.space, found) {
		require.Equal(t, 60, f.tokens)
		got = append(got, f.hit(&weights))
	}
	require.Len(t, got, 4)
	sortHits(got)
	requireHits(t, got, all.search(&q, c, backend.Filter{}, 10, nil), "explained")
	both := bag{tf: map[string]int{everyTerm: 1, "kyoto": 1}}
	require.True(t, (&candidate{bag: both}).matches())
	delete(both.tf, "kyoto")
	require.False(t, (&candidate{bag: both}).matches())
	found[0].props["_additional"].(map[string]any)[explained] = ""
	require.Empty(t, d.candidates(q.space, found))
}
