package weaviate

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// TestScoresOfNodesAreChecked compares scores of a node with exact ones.
func TestScoresOfNodesAreChecked(t *testing.T) {
	hits := func() (out []backend.Hit) {
		for chunk := range int64(5) {
			out = append(out, backend.Hit{Chunk: chunk, Score: float32(10 - chunk), Rough: true})
		}
		return out
	}
	of := func(chunk int64, score float32) []backend.Hit { return []backend.Hit{{Chunk: chunk, Score: score}} }
	got := hits()
	require.True(t, agree(got, of(1, 9.1), nil))
	assert.Equal(t, backend.Hit{Chunk: 1, Score: 9.1}, got[1], "the exact score")
	assert.True(t, got[0].Rough)
	assert.False(t, agree(hits(), of(1, 9.3), nil), "another score")
	assert.False(t, agree(hits(), of(7, 9), nil), "a best hit is missing")
	assert.True(t, agree(hits(), of(7, 9), map[int64]bool{7: true}), "its score is known")
	got = hits()
	got[4].Score = 0
	assert.False(t, agree(got, of(1, 9), nil), "a term counts more chunks than there are")
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

// TestScoresOfNodesAreRough checks that hits with scores of a node say so, and that objects of unknown chunks are left out.
func TestScoresOfNodesAreRough(t *testing.T) {
	var d partitionDictionary
	d.chunks.add(1, 7)
	of := func(chunk int64) object {
		return object{props: map[string]any{"_additional": map[string]any{"id": string(uuidOf("chunk", number(chunk))), "score": "1.5"}}}
	}
	hits, err := d.hits([]object{of(1), of(2)}, 2, nil)
	require.NoError(t, err)
	assert.Equal(t, []backend.Hit{{Chunk: 1, Source: 7, Score: 3, Rough: true}}, hits)
}
