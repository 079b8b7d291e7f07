package memory_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/servicetest"
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

// TestQuestionsForAPastTime: a question for the state of a past time is answered by what had been told by then, also where it is not sure that a later memory
// took its place. What nothing replaced keeps its place although it was told later.
func TestQuestionsForAPastTime(t *testing.T) {
	t.Parallel()
	s := rememberCompared(t, fixedJudge{replaces: homeMoves}, homeMemories()...)
	first := func(s contextmem.Sub, q contextmem.Recall) string {
		ids, _ := recallMemories(t, s, q)
		require.NotEmpty(t, ids)
		return ids[0]
	}
	assert.Equal(t, "lisbon", first(s, contextmem.Recall{Query: "near which river did I live on 15 January 2024, by the boxes and the gulls?"}))
	assert.Equal(t, "porto", first(s, contextmem.Recall{Query: "which town had the first loud gulls on 15 February 2024?"}), "no word of it is in the question")
	assert.Equal(t, "faro", first(s, contextmem.Recall{Query: "which town had the first loud gulls in March 2024?"}))
	assert.Equal(t, "faro", first(s, contextmem.Recall{Query: "which town had the first loud gulls on 15 February 2024?", Superseded: contextmem.SupersededMark}))
	assert.Equal(t, "faro", first(s, contextmem.Recall{Query: "did I hear the first loud gulls of Faro on 15 February 2024?"}), "what happened may be told later")
	assert.Equal(t, "tea", first(s, contextmem.Recall{Query: "which green tea did I like on 1 January 2024?"}))

	unsure := rememberCompared(t, fixedJudge{replaces: map[[2]string]float64{{"green", "black"}: .6}},
		contextmem.Memory{ID: "green", Text: "green tea for breakfast, two cups", Time: servicetest.OnDay("2024-01-02")},
		contextmem.Memory{ID: "black", Text: "black tea for breakfast and lunch, one cup", Time: servicetest.OnDay("2024-06-02")})
	assert.Equal(t, "black", first(unsure, contextmem.Recall{Query: "which tea do I drink for breakfast and lunch?"}))
	assert.Equal(t, "green", first(unsure, contextmem.Recall{Query: "which tea did I drink for breakfast and lunch in March 2024?"}))
	assert.Equal(t, "black", first(unsure, contextmem.Recall{Query: "which tea did I drink for breakfast and lunch in July 2024?"}))
}

// TestRelevanceOfWhatDidNotHappen: a question for what happened finds the plan first, and the plan is no more relevant than the memory that may have called it off
// would be.
func TestRelevanceOfWhatDidNotHappen(t *testing.T) {
	t.Parallel()
	j := fixedJudge{replaces: map[[2]string]float64{{"stall", "flooded"}: .3}, answers: map[string]float64{"stall": .6, "flooded": .02}}
	s := rememberCompared(t, j,
		contextmem.Memory{ID: "plan", Text: "I rent a stall at the spring fair, it costs me forty", Time: servicetest.OnDay("2024-01-02")},
		contextmem.Memory{ID: "off", Text: "the spring fair ground flooded, nobody goes", Time: servicetest.OnDay("2024-02-02")})
	ids, by := recallMemories(t, s, contextmem.Recall{Query: "what did the stall at the spring fair cost me?"})
	require.Equal(t, []string{"plan", "off"}, ids)
	assert.Less(t, by["plan"].Relevance, .5, "the judge says .6")
}
