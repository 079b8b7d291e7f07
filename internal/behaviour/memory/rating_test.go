package memory_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/embed/static"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// ratingJudge is a judge that rates what a search found apart from passages by themselves.
type ratingJudge struct {
	fixedJudge
	ratings fixedJudge
}

func (j ratingJudge) Rate(ctx context.Context, question string, passages []string) ([]float64, error) {
	return j.ratings.Answers(ctx, question, passages)
}

// TestRelevanceIsTheRating checks that relevance is what a judge's Rate says, if it has one.
func TestRelevanceIsTheRating(t *testing.T) {
	t.Parallel()
	j := ratingJudge{fixedJudge{answers: map[string]float64{"tea": .9}}, fixedJudge{answers: map[string]float64{"Lisbon": .7}}}
	sub := rememberCompared(t, j, homeMemories()...)
	_, by := recallMemories(t, sub, contextmem.Recall{Query: "where do I live near the river"})
	assert.InDelta(t, .7, by["lisbon"].Relevance, .01)
	assert.Zero(t, by["tea"].Relevance)
}

// readingJudge is a judge that keeps the texts that it rates.
type readingJudge struct {
	fixedJudge
	mu   sync.Mutex
	read []string
}

func (j *readingJudge) Rate(ctx context.Context, question string, passages []string) ([]float64, error) {
	j.mu.Lock()
	j.read = slices.Clone(passages)
	j.mu.Unlock()
	return j.Answers(ctx, question, passages)
}

// TestRelevanceIsOfExchanges checks that in a chat stored message by message, the judge rates exchanges. In English it reads both sides as one text,
// wherever the answer stands, and in other languages each side alone.
func TestRelevanceIsOfExchanges(t *testing.T) {
	t.Parallel()
	said := func(id, session, day, who, text string) contextmem.Memory {
		return contextmem.Memory{ID: id, Session: session, Text: who + ": " + text, Time: servicetest.OnDay(day), UserName: "Ana"}
	}
	j := &readingJudge{fixedJudge: fixedJudge{answers: map[string]float64{"Lisbon": .6, "third": .2}}}
	_, acme := servicetest.Open(t, &contextmem.Options{Judge: j, Embedder: calibratedEmbedder{static.New()}})
	sub := acme.Sub("ana")
	servicetest.Remember(t, sub, said("lisbon", "a", "2024-01-01", "Ana", "I live in Lisbon near the river"), said("lisbon+", "a", "2024-01-01", "Assistant", "Which floor?"),
		said("third", "a", "2024-01-01", "Ana", "the third"), said("walk", "c", "2024-02-11", "Ana", "a walk along the river"), said("walk+", "c", "2024-02-11", "Assistant", "The river is fine in spring."),
		said("vivo", "d", "2024-02-12", "Ana", "vivo en una calle sin coches"), said("vivo+", "d", "2024-02-12", "Assistant", "En tu calle se duerme bien."))
	require.NoError(t, sub.WaitRefined(t.Context()))

	_, by := recallMemories(t, sub, contextmem.Recall{Query: "where do I live near the river", MinRelevance: 1e-6})
	assert.Contains(t, j.read, "user: I live in Lisbon near the river", "an answer that says nothing is not read")
	assert.Contains(t, j.read, "user: a walk along the river\nassistant: The river is fine in spring.")
	assert.Contains(t, j.read, "user: the third", "a message without an answer is read alone")
	assert.NotContains(t, j.read, "Assistant: Which floor?")
	assert.Equal(t, by["lisbon"].Relevance, by["lisbon+"].Relevance)
	assert.InDelta(t, .6, by["lisbon"].Relevance, .1)

	_, by = recallMemories(t, sub, contextmem.Recall{Query: "¿en qué calle vivo sin coches?", MinRelevance: 1e-6})
	assert.Contains(t, j.read, "Ana: vivo en una calle sin coches", "in other languages each side is read alone")
	assert.Contains(t, j.read, "Assistant: En tu calle se duerme bien.")
	assert.Equal(t, by["vivo"].Relevance, by["vivo+"].Relevance)
}
