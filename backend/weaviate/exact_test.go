package weaviate

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// requireExact compares searches with the exhaustive index: for the question, and for other common words. The 10 best must be among
// the hits, and all others unless their scores are at most 5 % above that of the last. Scores are those of the exhaustive index up to what
// removed chunks that are still counted make of them. Where they are not, the statistics of the words are logged, and the search
// must be exact once what the process has read is dropped. The same holds for a chunk that is missing as a node has it in parts.
func (l *largeFeed) requireExact(t *testing.T, set backend.IndexSet, msg string) {
	t.Helper()
	texts := []string{question}
	for range 4 {
		texts = append(texts, fmt.Sprintf("word0 word1 word%d word%d word%d", 2+l.rng.IntN(40), 2+l.rng.IntN(40), 2+l.rng.IntN(40)))
	}
	for _, text := range texts {
		q := backend.KeywordQuery{Part: l.part, Text: text, K: 100}
		want := must(t)(l.oracle.Keywords().SearchKeywords(t.Context(), q))
		off := l.requireFinds(t, set, q, want, msg)
		if len(off) == 0 {
			continue
		}
		for _, w := range strings.Fields(text) {
			df, docs, _, err := set.Keywords().Terms(t.Context(), l.part, w)
			wantDf, wantDocs, _, _ := l.oracle.Keywords().Terms(t.Context(), l.part, w)
			t.Logf("%s: %s is in %v of %d chunks, want %v of %d, %v", msg, w, df, docs, wantDf, wantDocs, err)
		}
		t.Log(msg, text, "scores are off", off)
		set.Indexes()[0].(*index).forget()
		require.Empty(t, l.requireFinds(t, set, q, want, msg), "%s: scores of %q stay off", msg, text)
	}
}

// requireFinds compares a search with the hits of the exhaustive index. It returns the scores of its hits by those that they should have, where they differ by more than 3 %.
func (l *largeFeed) requireFinds(t *testing.T, set backend.IndexSet, q backend.KeywordQuery, want []backend.Hit, msg string) map[int64]float32 {
	t.Helper()
	got := must(t)(set.Keywords().SearchKeywords(t.Context(), q))
	require.Len(t, got, len(want), msg)
	have, off := map[int64]backend.Hit{}, map[int64]float32{}
	for _, h := range got {
		have[h.Chunk] = h
	}
	for i, h := range want {
		g, ok := have[h.Chunk]
		if !ok {
			if l.storedInParts(t, set, q, h.Chunk) {
				off[h.Chunk] = 0
				continue
			}
			require.GreaterOrEqual(t, i, 10, "%s: chunk %d at place %d of %q was not found, %v, want %v", msg, h.Chunk, i, q.Text, got[:12], want[:12])
			require.LessOrEqual(t, h.Score, want[len(want)-1].Score*1.05, "%s: chunk %d at place %d of %q was not found", msg, h.Chunk, i, q.Text)
			continue
		}
		if by := g.Score / h.Score; math.Abs(float64(by)-1) > .03 {
			off[h.Chunk] = by
		}
	}
	return off
}

// storedInParts reports whether the cluster, asked for a chunk alone, scores it by fewer terms than it has. A node of 1.35.2 that begins a new segment while it stores a
// chunk keeps some terms of it in one segment and some in the next, and scores the parts as if each was the chunk, until it has compacted these segments.
func (l *largeFeed) storedInParts(t *testing.T, set backend.IndexSet, q backend.KeywordQuery, chunk int64) bool {
	t.Helper()
	ix, query := set.Indexes()[0].(*index), parse(&q)
	c, err := ix.counts(t.Context(), l.part, query.names())
	require.NoError(t, err)
	terms, _ := query.asked(c, ix.objects(t.Context(), query.space), 1)
	alone := allOf(equal(propSpace, string(query.space)), equal(propChunk, number(chunk)))
	found, err := ix.get(t.Context(), searchRequest{collection: ix.x.schema.chunks(), tenant: ix.uid, where: alone, words: query.text(terms), limit: 1, fields: propBag + explainedFields})
	require.NoError(t, err)
	if len(found) == 0 {
		return false
	}
	scored := found[0].explanation(query.space)
	want := map[string]bool{}
	for _, term := range scoringOf(terms) {
		want[term.name] = true
	}
	has, err := readBag(found[0].text(propBag), want, false)
	require.NoError(t, err)
	t.Logf("chunk %d is scored by %d terms of %d that it has", chunk, len(scored.tf), len(has.tf))
	for term := range has.tf {
		if scored.tf[term] == 0 {
			return true
		}
	}
	return false
}
