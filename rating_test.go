package contextmem_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/contextmem/contextmem"
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
