package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// asked generates n questions. The hits that rank first under the weights truth are relevant.
func asked(set string, n int, seed uint64, truth weights) (out []question) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for range n {
		q := question{Set: set, Lane: "memory", Grades: []float64{1}}
		for range 20 {
			h := hit{}
			for k := range h.Parts {
				h.Parts[k] = rng.Float64()
				h.Score += h.Parts[k]
			}
			q.Hits = append(q.Hits, h)
		}
		q.Hits[q.order(&truth)[0]].Grade = 1
		out = append(out, q)
	}
	return out
}

func TestLearnsWhatHolds(t *testing.T) {
	t.Parallel()
	truth := weights{2, .5, 1, 1, 1, 0}
	questions := append(asked("a", 150, 1, truth), asked("b", 150, 2, truth)...)
	w := learn(questions, 0)
	assert.Greater(t, w[0]/w[1], 2.5, "%v", w)
	assert.Less(t, w[5], .4*w[2], "%v", w)
	fresh := asked("c", 200, 3, truth)
	before, after := measure(fresh, &today), measure(fresh, &w)
	assert.Greater(t, after.ndcg, before.ndcg+.1)
	assert.Equal(t, w, learn(questions, 0), "the same each time")
	kept := learn(questions, 100)
	for k := range kept {
		assert.InDelta(t, 1, kept[k], .05, "held near 1")
	}
}

// TestLeavesOut checks that a set that contradicts the others is evaluated with weights learnt on the others alone.
func TestLeavesOut(t *testing.T) {
	t.Parallel()
	agree, contrary := weights{3, 1, 1, 1, 1, 0}, weights{0, 1, 1, 1, 1, 3}
	questions := append(append(asked("a", 120, 1, agree), asked("b", 120, 2, agree)...), asked("c", 120, 3, contrary)...)
	rows := leaveOneOut(questions, 0)
	require.Len(t, rows, 3)
	assert.Equal(t, learn(append(asked("a", 120, 1, agree), asked("b", 120, 2, agree)...), 0), rows[2].learnt)
	assert.Less(t, rows[2].after.ndcg, rows[2].before.ndcg)
	assert.Nil(t, leaveOneOut(asked("a", 3, 1, agree), 0), "one set says nothing")
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	q := question{Set: "s", Lane: "memory", Grades: []float64{1, 2}, Hits: []hit{{Score: 3}, {Score: 2, Grade: 2}, {Score: 1, Parts: [numParts]float64{1}}}}
	m := measure([]question{q}, &today)
	assert.Zero(t, m.r1)
	assert.InDelta(t, .5, m.r5, 1e-9, "one of two was not found")
	assert.InDelta(t, 2*discount(1)/(2+discount(1)), m.ndcg, 1e-9)
	w := weights{5}
	assert.Equal(t, []int{2, 0, 1}, q.order(&w), "by the weighed parts")
}

func TestRead(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "rows.jsonl")
	for content, fault := range map[string]string{
		`{"set":"a","lane":"memory","grades":[1],"hits":[{"grade":1,"score":2,"parts":[1,0,0,0,0,0]}]}`: "",
		`{"set":"a","lane":"memory","grades":[]}`:                                                       "line 1",
		`nonsense`: "line 1",
	} {
		require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
		rows, err := read(name)
		if fault != "" {
			require.ErrorContains(t, err, fault)
			continue
		}
		require.NoError(t, err)
		assert.Len(t, rows, 1)
	}
	require.Error(t, run(t.Context(), nil))
	require.ErrorContains(t, run(t.Context(), []string{"-keep", "-1", name}), "-keep")
}
