package rank

import (
	"cmp"
	"context"
	"fmt"
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

var (
	memories  = backend.Partition{Class: backend.Memory}
	knowledge = backend.Partition{Class: backend.Knowledge}
	balanced  = Alpha{Value: DefaultAlpha}
)

func same(t *testing.T, want map[int64]float64, a *Answer) {
	t.Helper()
	got := scores(a)
	require.Len(t, got, len(want), "%v", got)
	for c, v := range want {
		assert.InDelta(t, v, got[c], 1e-6, "chunk %d", c)
	}
}

// TestFusion compares scores with (1-w)B + wD, for keyword scores B of 10 and 5 and dense scores D of .8 and .4.
func TestFusion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		alpha    Alpha
		coverage float64
		off      bool
		dense    float64
		want     map[int64]float64
	}{
		"keywords alone":     {Alpha{Value: 0}, 1, false, 0, map[int64]float64{1: 1, 2: .5}},
		"half the default":   {Alpha{Value: .4}, 1, false, .1, map[int64]float64{1: .9, 2: .55, 3: .05}},
		"default":            {balanced, 1, false, .2, map[int64]float64{1: .8, 2: .6, 3: .1}},
		"above":              {Alpha{Value: .9}, 1, false, .6, map[int64]float64{1: .4, 2: .8, 3: .3}},
		"semantics alone":    {Alpha{Value: 1}, 1, false, 1, map[int64]float64{2: 1, 3: .5}},
		"alone, unknown":     {Alpha{Value: 1}, 0, false, 1, map[int64]float64{2: 1, 3: .5}},
		"half understood":    {balanced, .3, false, .1, map[int64]float64{1: .9, 2: .55, 3: .05}},
		"not understood":     {balanced, 0, false, 0, map[int64]float64{1: 1, 2: .5}},
		"auto":               {Alpha{Auto: true}, 1, false, .2, map[int64]float64{1: .8, 2: .6, 3: .1}},
		"vectors of another": {balanced, 1, true, 0, map[int64]float64{1: 1, 2: .5}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &world{avg: 10, memos: []memo{{chunk: 1, source: 1, keyword: 10}, {chunk: 2, source: 2, keyword: 5, dense: .8}, {chunk: 3, source: 3, dense: .4}}}
			e := engine()
			e.Coverage = func(string) float64 { return c.coverage }
			sp := w.space()
			sp.DenseOff = c.off
			a, err := e.Search(t.Context(), sp, Request{Part: knowledge, Question: e.Ask("plain words", time.Time{}, language.AllCues), K: 10, Alpha: c.alpha})
			require.NoError(t, err)
			same(t, c.want, a)
			assert.InDelta(t, c.dense, a.Dense, 1e-9)
			assert.Equal(t, c.dense < 1, w.asked.keywords == 1, "keywords are asked only where they count")
			assert.Equal(t, c.dense > 0, w.asked.vectors == 1, "vectors are asked only where they count")
		})
	}
}

// TestScoresAllCandidates checks that the chunk with the best keyword score gets its dense score, although the vector search does not return it.
func TestScoresAllCandidates(t *testing.T) {
	t.Parallel()
	w := &world{avg: 10, docs: 5000, most: 10, memos: []memo{{chunk: 1, source: 1, keyword: 10, far: .3}, {chunk: 2, source: 2, keyword: 10, far: -.3}, {chunk: 3, source: 3, keyword: 10}}}
	for i := range int64(256) {
		w.memos = append(w.memos, memo{chunk: 10 + i, source: 10 + i, dense: .6})
	}
	ask := func(v backend.Vectors, docs int) map[int64]float64 {
		sp, e := w.space(), engine()
		sp.Vectors, w.docs = v, docs
		a, err := e.Search(t.Context(), sp, Request{Part: knowledge, Question: e.Ask("plain words", time.Time{}, language.AllCues), K: 10, Alpha: balanced})
		require.NoError(t, err)
		return scores(a)
	}
	got := ask(scorers{vectors{world: w}}, 5000)
	assert.InDelta(t, .8+.2*.3/.6, got[1], 1e-6)
	assert.InDelta(t, .8, got[2], 1e-6, "one that is unlike the question loses nothing")
	assert.InDelta(t, .8, got[3], 1e-6, "one without a vector")
	assert.InDelta(t, .2, got[10], 1e-6)
	assert.InDelta(t, .8, ask(vectors{world: w}, 5000)[1], 1e-6, "an index that cannot")
	assert.InDelta(t, .8, ask(scorers{vectors{world: w}}, 259)[1], 1e-6, "a whole list names all that have a score")
}

// TestLate checks late interaction with two words of the weights 3 and 1. Chunk 2 has neither word,
// but it follows chunk 1, which has "red" and "bridge", and gets .6 of both. Chunk 3 has
// "bridge", and chunk 4 has "raft", whose vector equals that of "red".
func TestLate(t *testing.T) {
	t.Parallel()
	w := conversation()
	w.memos[3].text = "raft"
	w.terms = []backend.TermInfo{term("red", 3), term("bridge", 1), term("ann", 2)}
	e := engine()
	e.Words = twinWords()
	late := func(thinking bool) map[int64]float64 {
		m := map[int64]float64{}
		a := search(t, e, w, Request{Part: memories, Question: e.Ask("Ann red bridge", time.Time{}, language.AllCues), K: 10, Thinking: thinking, Alpha: balanced})
		for _, h := range hitsOf(a) {
			m[h.Chunk] = a.Parts(&h).Late
		}
		return m
	}
	for c, v := range late(false) {
		assert.Zero(t, v, "chunk %d: fast has no late interaction", c)
	}
	got := late(true)
	assert.InDelta(t, .4, got[1], 1e-6)
	assert.InDelta(t, .4*.6, got[2], 1e-6)
	assert.InDelta(t, .4*(1+.0)/4, got[3], 1e-6) // only its own word counts
	assert.InDelta(t, .4*3/4, got[4], 1e-6)
	r := Request{Part: memories, Question: e.Ask("Ann red bridge", time.Time{}, language.AllCues), K: 10, Thinking: true, Alpha: balanced}
	sp := w.space()
	sp.Store = textsOnly{of: storeOf{w.Store, w}} // panics if chunks are read
	a, err := e.Search(t.Context(), sp, r)
	require.NoError(t, err)
	assert.Equal(t, hitsOf(search(t, e, w, r)), hitsOf(a), "from the texts alone")
	w.avg = 100 // four times as long: a quarter
	assert.InDelta(t, .1, late(true)[1], 1e-6)
	w.memos[3].speaker = "assistant"
	assert.Zero(t, late(true)[1], "an assistant takes part")
	w.memos[3].speaker, e.Words = "", nil
	assert.Zero(t, late(true)[1])
}

// TestParts checks with random conversations that parts add up to scores, that answers are
// sorted by score and then by chunk, and that repeated searches give equal answers.
func TestParts(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		w := randomWorld(rng)
		e := engine()
		e.Words = twinWords()
		for _, thinking := range []bool{false, true} {
			r := Request{Part: memories, Question: engine().Ask("Ann red bridge", time.Time{}, language.AllCues), K: 10, Thinking: thinking, Alpha: balanced}
			a := search(t, e, w, r)
			for _, h := range hitsOf(a) {
				p := a.Parts(&h)
				sum := p.Keyword + p.Semantic + p.Context + p.Speaker + p.Time + p.Late
				require.InDelta(t, h.Score, sum, 1e-9)
			}
			require.True(t, slices.IsSortedFunc(hitsOf(a), func(x, y Scored) int {
				return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(x.Chunk, y.Chunk))
			}))
			require.Equal(t, hitsOf(a), hitsOf(search(t, e, w, r)))
		}
	}
}

func randomWorld(rng *rand.Rand) *world {
	w := &world{avg: float32(1 + rng.IntN(200)), sessions: map[int64]float32{1: 1 + rng.Float32(), 2: rng.Float32()},
		terms: []backend.TermInfo{term("red", 3), term("bridge", 1)}}
	text := []string{"red", "bridge", "raft", "boat", "nothing at all"}
	for i := range 2 + rng.IntN(30) {
		m := memo{chunk: int64(i + 1), source: int64(i/2 + 1), session: int64(rng.IntN(2)), question: rng.IntN(2) == 0, asks: rng.IntN(3) == 0, time: rng.IntN(2) == 0,
			speaker: []string{"Ann", "Bob", ""}[rng.IntN(3)], text: text[rng.IntN(len(text))]}
		if rng.IntN(3) > 0 {
			m.keyword = float32(1+rng.IntN(8)) / 4
		}
		if rng.IntN(3) > 0 {
			m.dense = float32(rng.IntN(9)-1) / 8
		}
		w.memos = append(w.memos, m)
	}
	return w
}

// TestPureAlpha checks that alpha 0 and 1 give the order and the relative scores of one search,
// without any influence of the context.
func TestPureAlpha(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		w := randomWorld(rng)
		for alpha, score := range map[float64]func(*memo) float32{
			0: func(m *memo) float32 { return m.keyword },
			1: func(m *memo) float32 { return max(m.dense, 0) },
		} {
			want := hits(w.memos, score)
			for _, thinking := range []bool{false, true} {
				a := search(t, engine(), w, Request{Part: memories, K: 10, Thinking: thinking, Alpha: Alpha{Value: alpha}})
				require.Len(t, hitsOf(a), len(want))
				for i, h := range hitsOf(a) {
					require.Equal(t, want[i].Chunk, h.Chunk)
					require.InDelta(t, float64(want[i].Score/want[0].Score), h.Score, 1e-6)
				}
			}
		}
	}
}

// TestDegrades checks that a failing embedder and an exceeded deadline are reported, and that there is still a ranking.
func TestDegrades(t *testing.T) {
	t.Parallel()
	e := engine()
	e.Embedder = oneWay{fails: true}
	a := search(t, e, conversation(), Request{Part: memories, K: 10, Alpha: balanced})
	assert.Equal(t, []string{"the embedder failed: keywords alone were searched"}, a.Degraded)
	assert.InDelta(t, 2.14, scores(a)[1], 1e-6)
	_, err := e.Search(t.Context(), conversation().space(), Request{Part: memories, Question: e.Ask("x", time.Time{}, language.AllCues), K: 10, Alpha: Alpha{Value: 1}})
	require.Error(t, err, "without keywords nothing is left")

	e = engine()
	e.Words = twinWords()
	fast := search(t, e, conversation(), Request{Part: memories, K: 10, Alpha: balanced})
	a = search(t, e, conversation(), Request{Part: memories, K: 10, Alpha: balanced, Thinking: true, Deadline: time.Now().Add(-time.Second)})
	assert.Equal(t, []string{"the time budget ended before late interaction"}, a.Degraded)
	assert.Equal(t, hitsOf(fast), hitsOf(a))
}

// aimed wraps the vectors of an index and records the queries.
type aimed struct {
	vectors
	asked [][]float32
}

func (a *aimed) SearchVectors(ctx context.Context, q backend.VectorQuery) ([]backend.Hit, error) {
	a.asked = append(a.asked, q.Vector)
	return a.vectors.SearchVectors(ctx, q)
}

// TestMemoryQuery checks that memories are searched with the vector of MemoryQuery, and knowledge with that of the question.
func TestMemoryQuery(t *testing.T) {
	t.Parallel()
	e := engine()
	own, err := e.Embedder.EmbedQuery(t.Context(), "bridge")
	require.NoError(t, err)
	other := []float32{7}
	e.MemoryQuery = func(q []float32) []float32 {
		require.Equal(t, own, q)
		return other
	}
	for class, want := range map[backend.Class][]float32{backend.Memory: other, backend.Knowledge: own} {
		t.Run(fmt.Sprint(class), func(t *testing.T) {
			w := conversation()
			sp := w.space()
			v := &aimed{vectors: vectors{world: w}}
			sp.Vectors = v
			_, err := e.Search(t.Context(), sp, Request{Part: backend.Partition{Class: class}, Question: e.Ask("bridge", time.Time{}, language.AllCues), K: 10, Alpha: balanced})
			require.NoError(t, err)
			require.NotEmpty(t, v.asked)
			assert.Equal(t, want, v.asked[0], class)
		})
	}
}

// TestRead checks that a question read with Engine.Read is ranked like one read without it, and that its context can still be cancelled.
func TestRead(t *testing.T) {
	t.Parallel()
	apart := engine()
	apart.Coverage = func(string) float64 { return .3 }
	once := engine()
	once.Embedder, once.Coverage = oneWay{fails: true}, apart.Coverage
	once.Read = func(_ []float32, text string) ([]float32, float64) {
		vec, err := apart.Embedder.EmbedQuery(t.Context(), text)
		require.NoError(t, err)
		return vec, .3
	}
	r := Request{Part: memories, K: 10, Alpha: balanced}
	want, got := search(t, apart, conversation(), r), search(t, once, conversation(), r)
	assert.Equal(t, hitsOf(want), hitsOf(got))
	assert.Equal(t, []any{want.Dense, want.Degraded}, []any{got.Dense, got.Degraded})
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err := once.Ask("bridge", time.Time{}, language.AllCues).embed(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

func TestAuto(t *testing.T) {
	t.Parallel()
	w := conversation()
	for query, thinks := range map[string]bool{"bridge": false, "Did Ann Lee or Bob Ray see it?": true} {
		t.Run(query, func(t *testing.T) {
			assert.Equal(t, thinks, search(t, engine(), w, Request{Part: memories, Question: engine().Ask(query, time.Time{}, language.AllCues), K: 5, Auto: true, Alpha: balanced}).Thinking, query)
		})
	}
	assert.Equal(t, .4, search(t, engine(), w, Request{Part: memories, Question: engine().Ask(`the word "bridge"`, time.Time{}, language.AllCues), K: 5, Alpha: Alpha{Auto: true}}).Alpha)
}

// TestFirst compares the selection with a full sort.
func TestFirst(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		all := make([]place, rng.IntN(400))
		values := 1 + rng.IntN(300)
		for i := range all {
			all[i] = place{float64(1 + rng.IntN(values)), rng.Int64N(1 << 40), int32(i)}
			switch rng.IntN(40) * (rng.IntN(3) + 1) {
			case 0:
				all[i].v = math.SmallestNonzeroFloat64
			case 1:
				all[i].v = 1e300
			}
		}
		n := rng.IntN(len(all) + 1)
		want := slices.Clone(all)
		slices.SortFunc(want, func(a, b place) int { return cmp.Or(cmp.Compare(b.v, a.v), cmp.Compare(a.chunk, b.chunk)) })
		got := first(all, n, make([]place, len(all)))
		if n == 0 {
			require.Empty(t, got)
			continue
		}
		require.Equal(t, want[:n], got)
	}
}

// TestBest checks that best returns the first candidates of a full sort, for any values.
func TestBest(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(6, 7))
	q := &work{}
	for range 1000 {
		values, odd := 1+rng.IntN(300), rng.IntN(3) == 0
		q.cand, q.rows = q.cand[:0], q.rows[:0]
		for range rng.IntN(600) {
			c := cand{in: rng.IntN(8) > 0, Score: float64(rng.IntN(values)), s0: float64(rng.IntN(values)) - 1}
			if odd {
				c.Score = []float64{0, math.NaN(), -1, math.SmallestNonzeroFloat64, 1e-300, 1e-3, 1, 1.5, 2, 1e300}[rng.IntN(10)]
			}
			q.cand, q.rows = append(q.cand, c), append(q.rows, backend.Surveyed{Chunk: rng.Int64N(1 << 40)})
		}
		by, n := measure(rng.IntN(2)), rng.IntN(700)
		if rng.IntN(2) == 0 {
			n = rng.IntN(fewPlaces)
		}
		var all []place
		for i := range q.cand {
			if v := by.of(&q.cand[i]); v > 0 {
				all = append(all, place{v, q.rows[i].Chunk, int32(i)})
			}
		}
		slices.SortFunc(all, func(a, b place) int { return cmp.Or(cmp.Compare(b.v, a.v), cmp.Compare(a.chunk, b.chunk)) })
		require.True(t, slices.Equal(all[:min(n, len(all))], q.best(n, by)))
	}
}
