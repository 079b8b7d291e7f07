package recall

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/judge"
)

// rater is a judge that gives each text the probability that it has in the map.
type rater struct {
	judge.Judge
	of map[string]float64
}

func (j rater) Answers(_ context.Context, _ string, texts []string) ([]float64, error) {
	out := make([]float64, len(texts))
	for i, t := range texts {
		out[i] = j.of[t]
	}
	return out, nil
}

// TestDoubt checks that hits are no more relevant than the best one would be if uncertain hints counted, and that hits of other scopes keep their relevance.
func TestDoubt(t *testing.T) {
	t.Parallel()
	sc, other := &scope{}, &scope{}
	said := func(num int64, text string, in *scope) *Hit {
		return &Hit{Row: &backend.Hydrated{Chunk: backend.Chunk{Num: num, Text: text}, Src: &backend.Source{Num: num}}, scope: in}
	}
	plan, off, note := said(1, "we go to the fair in March", sc), said(2, "the fair is nothing, his father is ill", sc), said(3, "the fair of 2019", other)
	hits := []*Hit{plan, off, note}
	of := map[string]float64{plan.Row.Text: .5, off.Row.Text: .02, note.Row.Text: .3}
	inOrder := probability(odds(.5) + .4*(odds(.02)+odds(.3)))
	for _, c := range []struct {
		name   string
		hinted []*Hit
		want   float64
	}{
		{"no hints", nil, inOrder}, {"the same order", []*Hit{plan, off}, inOrder}, {"called off", []*Hit{off, plan}, probability(odds(.02) + .4*odds(.5))},
	} {
		sc.hinted = c.hinted
		r := &run{Engine: &Engine{Judge: rater{of: of}}, Workspace: &Workspace{}, Request: &Request{Query: "what did the fair cost me?", Now: time.Now()}, ctx: t.Context()}
		require.NoError(t, r.judge(hits))
		assert.InDelta(t, c.want, plan.Relevance, 1e-9, c.name)
		assert.InDelta(t, .3, note.Relevance, 1e-9, c.name)
	}
}

// TestHinted checks that hints count for what doubt rates and not for the order, and that a memory is there once.
func TestHinted(t *testing.T) {
	t.Parallel()
	told := func(num int64, day int, score float64) weighed {
		src := &backend.Source{Num: num, Time: time.Date(2024, 1, day, 0, 0, 0, 0, time.UTC), Part: backend.Partition{Class: backend.Memory}}
		return weighed{Hit: &Hit{Row: &backend.Hydrated{Src: src}, Score: score}, own: true}
	}
	all := []weighed{told(1, 1, 1), told(1, 1, .95), told(2, 5, .9)}
	of := map[int64][]*weighed{1: {&all[0], &all[1]}, 2: {&all[2]}}
	s := &succession{run: &run{Request: &Request{}}, happened: true, hints: []backend.Succession{{Earlier: 1, Later: 2, EarlierChunk: -1, LaterChunk: -1, Confidence: .3}}}
	assert.Equal(t, []*Hit{all[2].Hit, all[0].Hit}, s.hinted(of, all, 0))
	assert.True(t, s.happened)
	assert.True(t, s.value(of, all, 0, func(h *Hit) float64 { return h.Score }))
	assert.Zero(t, all[2].gains)
	assert.Greater(t, all[0].value, all[2].value)
}
