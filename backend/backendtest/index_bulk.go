package backendtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// testBulk fills one partition with more chunks than fit into a block or page of an index,
// and drops half of them. It compares the answers with the oracle's before and after a restart.
func testBulk(t *testing.T, e *indexEnv) {
	ctx := t.Context()
	sources := 400
	if testing.Short() {
		sources = 80
	}
	rng := newRand(5)
	var feed []backend.Change
	for i := range sources {
		e.source++
		c := backend.Change{Kind: backend.PutChunks, Part: notes, Source: e.source, Title: Sentence(rng), Tags: randomTags(rng), Time: at(0).Add(time.Duration(i) * 7 * time.Minute)}
		graph := backend.Change{Kind: backend.PutGraph, Part: notes, Source: e.source}
		for j := range 1 + rng.IntN(9) {
			e.chunk++
			text := Text(rng, 1)
			c.Rows = append(c.Rows, backend.Row{Chunk: e.chunk, Ordinal: j, Text: text, Vector: Vector(text, dim)})
			graph.Mentions = append(graph.Mentions, backend.MentionRef{Chunk: e.chunk, Entity: 1 + rng.Int64N(6), Key: fmt.Sprint("k", rng.IntN(6)), Weight: 1})
		}
		feed = append(feed, c, graph)
	}
	for _, i := range rng.Perm(sources)[:sources/2] {
		feed = append(feed, backend.Change{Kind: backend.Drop, Part: notes, Source: int64(i + 1)})
	}
	for i := range feed {
		e.seq++
		feed[i].Seq = e.seq
	}
	const step = 250
	for from := 0; from < len(feed); from += step {
		e.apply(feed[from:min(from+step, len(feed))]...)
		if from%(2*step) == 0 {
			for _, sh := range e.Indexes() {
				require.NoError(t, sh.Flush(ctx))
			}
		}
	}
	bulk := querySet{parts: []backend.Partition{notes}, texts: modelQueries.texts[:2], keys: modelKeys, filters: modelQueries.filters}
	oracle := e.oracle()
	compareIndexes(t, e.IndexSet, oracle.IndexSet, bulk, same(e.chunk, e.source), "bulk")
	e.reopen()
	e.replay()
	compareIndexes(t, e.IndexSet, oracle.IndexSet, bulk, same(e.chunk, e.source), "bulk after a restart")
}
