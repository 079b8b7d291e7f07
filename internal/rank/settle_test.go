package rank

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/language"
)

// flatWorld is a large partition of knowledge. The vector search returns the depth nearest chunks, and the keyword search some more, half of which are not among those. Many
// scores are equal.
func flatWorld(rng *rand.Rand, depth int) *world {
	w := &world{avg: 10, docs: 5000, most: 10, keys: map[string]int64{"red bridge": 7}, terms: []backend.TermInfo{term("red", 3), term("bridge", 3), term("Ann", 3)}}
	least, steps := float32(.1+.8*rng.Float64()), 4+rng.IntN(100)
	some := func() float32 { return float32(rng.IntN(steps)) / float32(steps) }
	for i, chunk := range rng.Perm(5 * depth / 2) {
		m := memo{chunk: int64(chunk + 1), source: int64(chunk + 1)}
		if i < depth {
			m.dense = least + some()/2
		} else if m.far = least - least*some(); rng.IntN(10) == 0 {
			m.far = -.1 // 0: it has no vector
		}
		if i >= depth/2 && i < 7*depth/4 {
			m.keyword = 1 + 4*some()
		}
		if rng.IntN(20) == 0 {
			m.entities = []int64{7}
		}
		w.memos = append(w.memos, m)
	}
	return w
}

// TestSettleEqualsScoringAll compares answers over a vector index that is exact with those over one that is not, whose candidates all get their dense scores at once.
func TestSettleEqualsScoringAll(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 1))
	asked, without, open := 0, 0, 0
	const rounds = 500
	for round := range rounds {
		depth, e := 128, engine()
		if round%3 == 0 {
			depth, e.Unrelated = 256, &Spread{Mean: .2, Std: .1}
		}
		w := flatWorld(rng, depth)
		e.KnowledgeStrength = []float64{.1, .2, .5, .8}[rng.IntN(4)]
		r := Request{Part: knowledge, Question: e.Ask("Ann red bridge", time.Time{}, language.AllCues), K: 50, First: 1 + rng.IntN(60), Alpha: balanced, Thinking: round%10 == 0}
		ask := func(v backend.Vectors) *Answer {
			sp := w.space()
			sp.Vectors, w.asked.chunks, w.asked.scores = v, nil, 0
			a, err := e.Search(t.Context(), sp, r)
			require.NoError(t, err)
			return a
		}
		type hit struct {
			Scored
			Parts
		}
		hits := func(a *Answer, n int) (out []hit) {
			require.NoError(t, a.Settle(n))
			for _, h := range a.Best(n) {
				p := a.Parts(&h)
				h.at = 0
				out = append(out, hit{h, p})
			}
			return out
		}
		all := ask(scorers{vectors{world: w}})
		every := len(w.asked.chunks)
		some := ask(exact{scorers{vectors{world: w}}, 5000})
		first := len(w.asked.chunks)
		require.Equal(t, hits(all, r.First), hits(some, r.First), "round %d: the first %d", round, r.First)
		assert.Equal(t, first, len(w.asked.chunks), "the search has settled the first")
		if r.Thinking {
			assert.Equal(t, every, first, "thinking needs all scores")
		} else {
			asked, open = asked+first, open+every
			if first == 0 {
				without++
			}
		}
		for _, n := range []int{r.First + 1 + rng.IntN(40), 500} {
			require.Equal(t, hits(all, n), hits(some, n), "round %d: then %d", round, n)
		}
		require.Equal(t, every, len(w.asked.chunks), "in the end all are scored, each once")
		slices.Sort(w.asked.chunks)
		require.Len(t, slices.Compact(w.asked.chunks), every)
	}
	t.Logf("%d of %d scores were asked for at first, %d of %d times none", asked, open, without, rounds)
	assert.Less(t, 2*asked, open)
	assert.Greater(t, without, rounds/50)
}

// TestSettlesOnlyExact checks that all candidates get their dense scores where a vector search may have missed near chunks.
func TestSettlesOnlyExact(t *testing.T) {
	t.Parallel()
	w, e := flatWorld(rand.New(rand.NewPCG(1, 1)), 128), engine()
	ask := func(v backend.Vectors) int {
		sp := w.space()
		sp.Vectors, w.asked.chunks, w.asked.scores = v, nil, 0
		_, err := e.Search(t.Context(), sp, Request{Part: knowledge, Question: e.Ask("plain words", time.Time{}, language.AllCues), K: 50, First: 5, Alpha: balanced})
		require.NoError(t, err)
		return len(w.asked.chunks)
	}
	every := ask(scorers{vectors{world: w}})
	assert.Less(t, ask(exact{scorers{vectors{world: w}}, 5000}), every)
	assert.Equal(t, every, ask(exact{scorers{vectors{world: w}}, 4999}))
}

// TestSettleFails checks that an answer passes on the error of a search for scores, and that it can be asked again.
func TestSettleFails(t *testing.T) {
	t.Parallel()
	w, e := flatWorld(rand.New(rand.NewPCG(1, 1)), 128), engine()
	sp := w.space()
	sp.Vectors = exact{scorers{vectors{world: w}}, 5000}
	r := Request{Part: knowledge, Question: e.Ask("plain words", time.Time{}, language.AllCues), K: 50, First: 60, Alpha: balanced}
	w.most = 0
	_, err := e.Search(t.Context(), sp, r)
	require.Error(t, err)
	w.most, w.asked.scores = 1, 0
	a, err := e.Search(t.Context(), sp, r)
	require.NoError(t, err)
	require.Error(t, a.Settle(500))
	w.most = 10
	require.NoError(t, a.Settle(500))
	want, err := e.Search(t.Context(), Space{Store: sp.Store, Graph: sp.Graph, Keywords: sp.Keywords, Vectors: scorers{vectors{world: w}}}, r)
	require.NoError(t, err)
	assert.Equal(t, scores(want), scores(a))
}
