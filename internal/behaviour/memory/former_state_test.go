package memory_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
)

// TestQuestionsForFormerStates checks that the memory that a question names by "before" comes just below what it superseded, and that such
// words decide nothing in "mark" mode.
func TestQuestionsForFormerStates(t *testing.T) {
	t.Parallel()
	s := rememberCompared(t, fixedJudge{replaces: homeMoves}, homeMemories()...)
	first := func(q contextmem.Recall) []string {
		q.Class = contextmem.ClassMemory
		ids, _ := recallMemories(t, s, q)
		require.GreaterOrEqual(t, len(ids), 2)
		return ids[:2]
	}
	assert.Equal(t, []string{"porto", "faro"}, first(contextmem.Recall{Query: "where was I before the first night in Faro and the loud gulls?"}))
	assert.Equal(t, []string{"lisbon", "porto"}, first(contextmem.Recall{Query: "which town was it before the boxes were unpacked in Porto?"}))
	assert.Equal(t, "faro", first(contextmem.Recall{Query: "where was I before the first night in Faro and the loud gulls?", Superseded: contextmem.SupersededMark})[0])
	assert.Equal(t, "lisbon", first(contextmem.Recall{Query: "which river did I live near when we first talked?"})[0], "the first of several states")
	assert.Equal(t, "faro", first(contextmem.Recall{Query: "which river do I live near when we first talk?"})[0])
	assert.Equal(t, "faro", first(contextmem.Recall{Query: "where do I hear the first loud gulls of Faro?"})[0])
	ids, _ := recallMemories(t, s, contextmem.Recall{Class: contextmem.ClassMemory, Query: "what tea did I drink before the gulls?"})
	assert.Equal(t, "tea", ids[0], "what was not superseded keeps its place")
}
