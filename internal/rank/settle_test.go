package rank

import (
	"math"
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
// scores are equal. Some partitions have only a few vectors, of chunks that keywords find too.
func flatWorld(rng *rand.Rand, depth int) *world {
	w := &world{avg: 10, docs: 5000, most: 10, keys: map[string]int64{"red bridge": 7}, terms: []backend.TermInfo{term("red", 3), term("bridge", 3), term("Ann", 3)}}
	least, steps, steep := float32(.1+.8*rng.Float64()), 4+rng.IntN(100), 1+9*rng.Float64()
	names, few := rng.IntN(2) == 0, rng.IntN(5) == 0 // whether chunks mention what the question names, and few have vectors
	listed := depth/2 + depth*(3+rng.IntN(3))/4
	some := func() float32 { return float32(rng.IntN(steps)) / float32(steps) }
	for i, chunk := range rng.Perm(5 * depth / 2) {
		m := memo{chunk: int64(chunk + 1), source: int64(chunk + 1)}
		if few {
			if i >= depth/2 && i < depth/2+20 {
				m.dense, m.keyword = least+some()/2, 5
			}
		} else if i < depth {
			m.dense = least + some()/2
		} else if m.far = least - least*some(); rng.IntN(10) == 0 {
			m.far = -.1 // 0: it has no vector
		}
		if i >= depth/2 && i < listed && m.keyword == 0 {
			m.keyword = 1 + 4*float32(math.Pow(float64(some()), steep))
		}
		if names && rng.IntN(20) == 0 {
			m.entities = []int64{7}
		}
		w.memos = append(w.memos, m)
	}
	return w
}

// leavingOut returns hits without some of those that are hardly better than the last of k, if k is less than depth, and the score of the best of these.
func leavingOut(depth int) func(all []backend.Hit, k int) ([]backend.Hit, float32) {
	return func(all []backend.Hit, k int) (out []backend.Hit, unlisted float32) {
		if last := k + k/4; k < depth && len(all) > last {
			for i, h := range all {
				if h.Chunk%5 > 0 || h.Score > 1.1*all[last].Score || i+1-len(out) > k/4 {
					out = append(out, h)
				} else {
					unlisted = max(unlisted, h.Score)
				}
			}
			return out, unlisted
		}
		return all, 0
	}
}

// TestSettleEqualsScoringAll compares answers over a vector index that is exact with those over one that is not, whose candidates all get their dense scores at once, and
// for which the whole keyword list is asked for at once.
func TestSettleEqualsScoringAll(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 1))
	asked, without, open, half, whole := 0, 0, 0, 0, 0
	const rounds = 500
	for round := range rounds {
		depth, e := 128, engine()
		if round%3 == 0 {
			depth, e.Unrelated = 256, &Spread{Mean: .2, Std: .1}
		}
		w := flatWorld(rng, depth)
		e.KnowledgeStrength = []float64{.05, .1, .2, .3, .8}[rng.IntN(5)]
		if round%2 == 0 {
			w.leavesOut = leavingOut(depth)
		}
		r := Request{Part: knowledge, Question: e.Ask("Ann red bridge", time.Time{}, language.AllCues), K: 50, First: 1 + rng.IntN(60), Alpha: balanced, Thinking: round%10 == 0}
		if e.Unrelated != nil && rng.IntN(2) == 0 {
			r.Alpha.Value = .3
		}
		if rng.IntN(8) == 0 {
			r.Filter.Not = []uint64{1}
		}
		ask := func(v backend.Vectors) *Answer {
			sp := w.space()
			sp.Vectors, w.asked.chunks, w.asked.scores, w.asked.lists = v, nil, 0, nil
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
		first, lists := len(w.asked.chunks), len(w.asked.lists)
		switch {
		case lists > 1:
			require.Equal(t, []int{depth / 2, depth}, w.asked.lists)
			whole++
		case w.asked.lists[0] < depth:
			half++
		}
		require.Equal(t, hits(all, r.First), hits(some, r.First), "round %d: the first %d", round, r.First)
		assert.Equal(t, first, len(w.asked.chunks), "the search has settled the first")
		assert.Len(t, w.asked.lists, lists, "the search has settled the first")
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
		require.Equal(t, all.Cut, some.Cut)
		require.True(t, slices.Max(w.asked.lists) >= depth || len(hits(some, 500)) < depth, "in the end the list is whole")
		require.Equal(t, every, len(w.asked.chunks), "in the end all are scored, each once")
		slices.Sort(w.asked.chunks)
		require.Len(t, slices.Compact(w.asked.chunks), every)
	}
	t.Logf("%d of %d scores were asked for at first, %d of %d times none", asked, open, without, rounds)
	assert.Less(t, 2*asked, open)
	assert.Greater(t, without, rounds/50)
	t.Logf("half of the keyword list was enough %d times, and not enough %d times", half, whole)
	assert.Greater(t, half, rounds/20)
	assert.Greater(t, whole, rounds/20)
}

// TestSettleFindsWhatWasLeftOut checks that the rest of the keyword list is asked for if a chunk that the first half may lack, though it is a little better than its last
// one, may be among the best.
func TestSettleFindsWhatWasLeftOut(t *testing.T) {
	t.Parallel()
	const depth, lost = 128, 7
	w, e := &world{avg: 10, docs: 5000, most: 10, terms: []backend.TermInfo{term("plain", 3)}}, engine()
	for i := range int64(2 * depth) {
		m := memo{chunk: i + 1, source: i + 1, dense: .5, keyword: 4.9}
		switch {
		case i < 5:
			m.keyword, m.dense = 5, .95
		case m.chunk == lost:
			m.keyword, m.dense = 4.96, 1
		case i >= depth:
			m.dense, m.far = 0, .4
		}
		w.memos = append(w.memos, m)
	}
	w.leavesOut = func(all []backend.Hit, k int) ([]backend.Hit, float32) {
		return slices.DeleteFunc(all, func(h backend.Hit) bool { return h.Chunk == lost && k < depth }), 4.96
	}
	sp := w.space()
	sp.Vectors = exact{scorers{vectors{world: w}}, 5000}
	a, err := e.Search(t.Context(), sp, Request{Part: knowledge, Question: e.Ask("plain words of many", time.Time{}, language.AllCues), K: 50, First: 5, Alpha: balanced})
	require.NoError(t, err)
	assert.Equal(t, []int{depth / 2, depth}, w.asked.lists)
	assert.Equal(t, int64(lost), a.Best(1)[0].Chunk)
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
	w.asked.lists, w.listed = nil, 1
	r.First = 1
	a, err = e.Search(t.Context(), sp, r)
	require.NoError(t, err)
	require.Error(t, a.Settle(500), "the rest of the keyword list")
	w.listed = 0
	require.NoError(t, a.Settle(500))
	want, err := e.Search(t.Context(), Space{Store: sp.Store, Graph: sp.Graph, Keywords: sp.Keywords, Vectors: scorers{vectors{world: w}}}, r)
	require.NoError(t, err)
	assert.Equal(t, scores(want), scores(a))
}
