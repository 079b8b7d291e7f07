package local_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/embed/static"
	"github.com/contextmem/contextmem/rerank/local"
)

var _ contextmem.Reranker = (*local.Reranker)(nil)

// table has words as points: the cosine of car and auto is .8.
type table map[string][]float32

func (t table) AppendWord(dst []float32, w string) ([]float32, bool) {
	v, ok := t[w]
	return append(dst, v...), ok
}

var points = table{"car": {1, 0}, "auto": {.8, .6}, "tree": {0, 1}, "odd": {1}, "anti": {-1, 0}}

func TestScore(t *testing.T) {
	t.Parallel()
	terms := []local.Term{{Word: "Cars", Weight: 1}, {Word: "car", Weight: 3}, {Word: "paint", Weight: 1}} // one stem: the first counts
	for name, c := range map[string]struct {
		terms        []local.Term
		text, before string
		want         float64
	}{
		"same word":        {terms[1:], "A car!", "", .75},
		"same stem":        {terms[1:], "two CARS, painted", "", 1},
		"near word":        {terms[1:], "an auto", "", .75 * .512},
		"best counts":      {terms[1:], "auto, auto, car", "", .75},
		"nothing":          {terms[1:], "tree", "", 0},
		"opposite":         {terms[1:], "anti", "", 0},
		"another length":   {terms[1:], "odd", "", 0},
		"empty":            {terms[1:], "", "", 0},
		"said before":      {terms[1:], "Yes.", "Is the car painted?", .6},
		"own beats before": {terms[1:], "car", "Is the car painted?", .75 + .25*.6},
		"repeated stem":    {terms[:2], "car", "", 1},
		"no terms":         {nil, "car", "car", 0},
		"no weight":        {[]local.Term{{Word: "car"}, {Word: "paint", Weight: math.NaN()}, {Word: "x", Weight: math.Inf(1)}}, "car paint x", "", 0},
		"together":         {terms[1:], strings.Repeat("word ", 40) + "car paint", "", 1},
		"far apart":        {terms[1:], "car " + strings.Repeat("word ", 60) + "paint", "", .75},
		"across windows":   {terms[1:], strings.Repeat("word ", 29) + "car paint" + strings.Repeat(" word", 50), "", 1},
		"long ago":         {terms[1:], "yes", "car " + strings.Repeat("word ", 60) + "paint", .25 * .6},
	} {
		t.Run(name, func(t *testing.T) {
			assert.InDelta(t, c.want, local.NewScorer(points, c.terms).Score(c.text, c.before), 1e-6, name)
		})
	}
	assert.InDelta(t, .75, local.NewScorer(nil, terms[1:]).Score("car auto", ""), 1e-9, "without vectors stems count")
	assert.Zero(t, local.NewScorer(nil, terms[1:]).Score("auto", ""))
}

func TestContent(t *testing.T) {
	t.Parallel()
	got := local.Content("What did Ann's brother buy in 2023?", func(stem string) float64 { return float64(len(stem)) })
	assert.Equal(t, []local.Term{{Word: "Ann", Weight: 3}, {Word: "brother", Weight: 7}, {Word: "buy", Weight: 3}, {Word: "2023", Weight: 4}}, got)
}

func TestRerank(t *testing.T) {
	t.Parallel()
	r := local.New(static.New())
	texts := []string{"We went for a walk.", "I bought a puppy last week.", "The dog ran away.", ""}
	scores, err := r.Rerank(t.Context(), "When did she buy the dog?", texts)
	require.NoError(t, err)
	require.Len(t, scores, 4)
	for _, s := range scores {
		assert.GreaterOrEqual(t, s, 0.0)
		assert.LessOrEqual(t, s, 1.0)
	}
	assert.Greater(t, scores[1], scores[0], "a puppy is like a dog, and bought is buy")
	assert.Greater(t, scores[2], scores[0])
	assert.Zero(t, scores[3])
	empty, err := r.Rerank(t.Context(), "dog", nil)
	require.NoError(t, err)
	assert.Empty(t, empty)
	for _, odd := range []string{"", "what is it", "\xff\xfe", "狗在哪里"} {
		t.Run(odd, func(t *testing.T) {
			scores, err := r.Rerank(t.Context(), odd, texts)
			require.NoError(t, err)
			require.Len(t, scores, 4)
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = r.Rerank(ctx, "dog", texts)
	require.ErrorIs(t, err, context.Canceled)
}

// TestConcurrent checks under the race detector that one Reranker can be used by several goroutines.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	r := local.New(static.New())
	want, err := r.Rerank(t.Context(), "red dog", []string{"a red puppy", "rain"})
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got, err := r.Rerank(t.Context(), "red dog", []string{"a red puppy", "rain"})
			assert.NoError(t, err)
			assert.Equal(t, want, got)
		})
	}
	wg.Wait()
}

func Example() {
	r := local.New(static.New())
	scores, err := r.Rerank(context.Background(), "Where is the cat?", []string{"It rains.", "The kitten sleeps on the sofa."})
	fmt.Println(scores[1] > scores[0], err)
	// Output: true <nil>
}
