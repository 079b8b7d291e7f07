package recall_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// TestOneChunkPerSource checks that ten results have ten memories: an inferred statement is part of its memory's
// result.
func TestOneChunkPerSource(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	sub := acme.Sub("a")
	var ms []contextmem.Memory
	for i := range 12 {
		ms = append(ms, contextmem.Memory{ID: fmt.Sprint("m", i), UserName: "Ann", Infer: true, Text: fmt.Sprintf("Honestly, I like tea number %d from shop %d.", i, i)})
	}
	servicetest.Remember(t, sub, ms...)
	recall := func(q contextmem.Recall) []contextmem.Chunk {
		q.Query, q.Class = "Ann likes tea", contextmem.ClassMemory
		res, err := sub.Recall(t.Context(), q)
		require.NoError(t, err)
		return res.Chunks
	}
	seen, statements := map[string]bool{}, 0
	for _, c := range recall(contextmem.Recall{}) {
		assert.False(t, c.Inferred)
		assert.Contains(t, c.Text, "Honestly")
		for _, s := range c.Statements {
			assert.NotContains(t, s, "Honestly")
			statements++
		}
		seen[c.SourceID] = true
	}
	assert.Len(t, seen, 10)
	assert.Positive(t, statements)
	count := map[string]int{}
	both := recall(contextmem.Recall{PerSource: 2, MaxResults: 24})
	for _, c := range both {
		count[c.SourceID]++
		assert.Empty(t, c.Statements)
	}
	assert.Len(t, count, 12)
	assert.Greater(t, len(both), 12)
	_, err := sub.Recall(t.Context(), contextmem.Recall{Query: "tea", PerSource: -1})
	require.ErrorIs(t, err, contextmem.ErrInvalid)
}

// TestPerSourceOfKnowledge checks that knowledge returns several chunks of a source unless fewer are requested.
func TestPerSourceOfKnowledge(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, &contextmem.Options{ChunkBytes: 200, ChunkMaxBytes: 300})
	sub := acme.Sub("a")
	text := ""
	for i := range 12 {
		text += fmt.Sprintf("# Part %d\n\nThe turbine of hall %d was serviced and the turbine blades were measured by team %d in the spring of that year.\n\n", i, i, i)
	}
	servicetest.AddDocuments(t, sub, contextmem.File{ID: "f", Name: "f.md", Data: []byte(text)})
	for most, want := range map[int]int{0: 8, 1: 1, 3: 3} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			res, err := sub.Recall(t.Context(), contextmem.Recall{Query: "turbine blades", MaxResults: 8, PerSource: most})
			require.NoError(t, err)
			assert.Len(t, res.Chunks, want)
		})
	}
}

// TestOneChunkPerSourceInEveryMode checks that each kind of recall returns a source once.
func TestOneChunkPerSourceInEveryMode(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	sub := acme.Sub("a")
	var ms []contextmem.Memory
	for i := range 6 {
		ms = append(ms, contextmem.Memory{ID: fmt.Sprint("m", i), UserName: "Ann", Infer: true, Text: fmt.Sprintf("I like green tea number %d. I work at shop %d, which sells tea.", i, i)})
	}
	servicetest.Remember(t, sub, ms...)
	check := func(res *contextmem.Result, err error) {
		t.Helper()
		require.NoError(t, err)
		seen, statements := map[string]bool{}, 0
		for _, c := range res.Chunks {
			require.False(t, seen[c.SourceID], "%s twice", c.SourceID)
			require.False(t, c.Inferred)
			seen[c.SourceID] = true
			statements += len(c.Statements)
		}
		require.Len(t, seen, 5)
		require.Positive(t, statements)
	}
	for name, q := range map[string]contextmem.Recall{
		"fast": {Mode: contextmem.ModeFast}, "thinking": {Mode: contextmem.ModeThinking}, "auto": {Mode: contextmem.ModeAuto}, "keywords": {Alpha: contextmem.FixedAlpha(0)}, "meaning": {Alpha: contextmem.FixedAlpha(1)},
		"both classes": {Class: contextmem.ClassAll}, "recency": {RecencyBias: .5}, "relevance": {MinRelevance: 1e-9},
	} {
		t.Run(name, func(t *testing.T) {
			if q.Query, q.MaxResults = "Ann likes tea", 5; q.Class == 0 {
				q.Class = contextmem.ClassMemory
			}
			check(sub.Recall(t.Context(), q))
		})
	}
	for name, op := range map[string]contextmem.Operator{"or": contextmem.OperatorOr, "and": contextmem.OperatorAnd, "phrase": contextmem.OperatorPhrase} {
		t.Run("boolean "+name, func(t *testing.T) {
			check(sub.BooleanRecall(t.Context(), contextmem.BooleanRecallRequest{Query: "green tea", Class: contextmem.ClassMemory, Operator: op, MaxResults: 5}))
		})
	}
}
