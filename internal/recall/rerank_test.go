package recall

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/contextmem/contextmem/backend"
)

// english is a Reranker for English that returns fixed scores and records the texts that it gets.
type english struct {
	scores map[string]float64
	asked  []string
}

func (e *english) Languages() []string { return []string{"en"} }

func (e *english) Rerank(_ context.Context, _ string, texts []string) ([]float64, error) {
	e.asked = texts
	var out []float64
	for _, t := range texts {
		out = append(out, e.scores[t])
	}
	return out, nil
}

func runWith(r Reranker, mode Mode, thinking bool, query string) *run {
	x := &run{Engine: &Engine{Reranker: r, Budget: time.Minute, Logger: slog.New(slog.DiscardHandler)}, ctx: context.Background()}
	x.Request = &Request{Query: query, Mode: mode, Now: time.Now()}
	x.res = Result{Thinking: thinking}
	return x
}

func hitsOf(scored map[string]float64, order ...string) []*Hit {
	var out []*Hit
	for _, t := range order {
		out = append(out, &Hit{Row: &backend.Hydrated{Chunk: backend.Chunk{Text: t}}, Score: scored[t], Parts: &Parts{}})
	}
	return out
}

func TestRerankReadsItsLanguagesOnly(t *testing.T) {
	t.Parallel()
	scored := map[string]float64{"the cat is in the garden": 1, "der Hund ist im Haus": .99, "the dog is in the house": .98}
	order := []string{"the cat is in the garden", "der Hund ist im Haus", "the dog is in the house"}
	e := &english{scores: map[string]float64{order[0]: .01, order[2]: .99}}
	hits := hitsOf(scored, order...)
	assert.NoError(t, runWith(e, Thinking, true, "where is the dog?").rerank(hits))
	assert.Equal(t, []string{order[0], order[2]}, e.asked)
	assert.Greater(t, hits[2].Score, hits[0].Score)
	assert.Zero(t, hits[1].Parts.Rerank)
	assert.InDelta(t, scored[order[2]]+hits[2].Parts.Rerank, hits[2].Score, 1e-12)

	e.asked = nil
	assert.NoError(t, runWith(e, Thinking, true, "wo ist der Hund?").rerank(hits))
	assert.Empty(t, e.asked, "the question is not English")
}

func TestRerankWhereAutoIsNotSure(t *testing.T) {
	t.Parallel()
	near := map[string]float64{"the cat is here": 1, "the dog is there": .95}
	far := map[string]float64{"the cat is here": 1, "the dog is there": .5}
	for what, c := range map[string]struct {
		mode   Mode
		scores map[string]float64
		asked  bool
	}{"near": {Auto, near, true}, "far": {Auto, far, false}, "fast": {Fast, near, false}} {
		t.Run(what, func(t *testing.T) {
			e := &english{scores: map[string]float64{"the dog is there": .9}}
			assert.NoError(t, runWith(e, c.mode, false, "where is the dog?").rerank(hitsOf(c.scores, "the cat is here", "the dog is there")))
			assert.Equal(t, c.asked, e.asked != nil, what)
		})
	}
}

// TestRerankSaysLittleWhereNothingFits checks that scores that are all close to 0 hardly change the order.
func TestRerankSaysLittleWhereNothingFits(t *testing.T) {
	t.Parallel()
	e := &english{scores: map[string]float64{"the cat is here": 1e-5, "the dog is there": 1.3e-5}}
	hits := hitsOf(map[string]float64{"the cat is here": 1, "the dog is there": .9}, "the cat is here", "the dog is there")
	assert.NoError(t, runWith(e, Thinking, true, "where is the boat?").rerank(hits))
	assert.Greater(t, hits[0].Score, hits[1].Score)
}

// TestRerankLeavesWhatHopsFound checks that the reranker counts less for passages found over second hops.
func TestRerankLeavesWhatHopsFound(t *testing.T) {
	t.Parallel()
	for hops, asked := range map[float64]bool{0: true, .2: true, .7: false} {
		t.Run(fmt.Sprint(hops), func(t *testing.T) {
			e := &english{scores: map[string]float64{"the dog is there": .9}}
			hits := hitsOf(map[string]float64{"the cat is here": 1, "the dog is there": .95}, "the cat is here", "the dog is there")
			for _, h := range hits {
				h.Parts.Bridge, h.Parts.Expansion = hops/2, hops/2
			}
			assert.NoError(t, runWith(e, Thinking, true, "where is the dog?").rerank(hits))
			assert.Equal(t, asked, e.asked != nil)
		})
	}
}

// TestRerankLeavesWhatContextFound checks that the reranker counts less for memories found by their context.
func TestRerankLeavesWhatContextFound(t *testing.T) {
	t.Parallel()
	for context, asked := range map[float64]bool{0: true, .9: false} {
		t.Run(fmt.Sprint(context), func(t *testing.T) {
			e := &english{scores: map[string]float64{"the dog is there": .9}}
			hits := hitsOf(map[string]float64{"the cat is here": 1, "the dog is there": .95}, "the cat is here", "the dog is there")
			for _, h := range hits {
				h.Parts.Context = context
			}
			assert.NoError(t, runWith(e, Thinking, true, "where is the dog?").rerank(hits))
			assert.Equal(t, asked, e.asked != nil)
		})
	}
}
