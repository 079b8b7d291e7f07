package rank

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/language"
)

// twoHops returns a partition for a question that names Kestrel (entity 1). Chunk 1 is about it and
// names Norwich (entity 2). Chunk 2 describes Norwich, and its only word of the question is "county".
func twoHops() *world {
	return &world{avg: 20, docs: 1000, keys: map[string]int64{"kestrel": 1},
		terms: []backend.TermInfo{term("Kestrel", 6), term("county", 4), term("built", 3)},
		rest:  []backend.Hit{{Chunk: 2, Source: 2, Score: 3.5}, {Chunk: 4, Source: 4, Score: 3}},
		memos: []memo{
			{chunk: 1, source: 1, keyword: 9, text: "The Kestrel was built in Norwich.", entities: []int64{1, 2}},
			{chunk: 2, source: 2, keyword: 2, text: "Norwich is in the county of Norfolk.", entities: []int64{2}},
			{chunk: 3, source: 3, keyword: 6, text: "A Kestrel is a bird.", entities: []int64{1}},
			{chunk: 4, source: 4, keyword: 5, text: "A county is a region.", entities: []int64{3}},
		}}
}

const whereBuilt = "In which county was the Kestrel built?"

// TestEntities has gamma 1, since the entity has 6/13 of the question's weight and passages
// share entities. Each passage that mentions the entity gets .7.
func TestEntities(t *testing.T) {
	t.Parallel()
	w := twoHops()
	sp := w.space()
	sp.DenseOff = true
	a, err := engine().Search(t.Context(), sp, Request{Part: knowledge, Question: engine().Ask(whereBuilt, time.Time{}, language.AllCues), K: 10, Alpha: balanced})
	require.NoError(t, err)
	same(t, map[int64]float64{1: 1 + .7, 2: 2. / 9, 3: 6./9 + .7, 4: 5. / 9}, a)
	assert.Equal(t, []int64{1}, a.Entities)
}

// TestSecondHop checks that the passage that completes the first hop comes right behind it, and before
// a passage that only has words in common.
func TestSecondHop(t *testing.T) {
	t.Parallel()
	w := twoHops()
	a := search(t, engine(), w, Request{Part: knowledge, Question: engine().Ask(whereBuilt, time.Time{}, language.AllCues), K: 10, Alpha: balanced, Thinking: true})
	require.GreaterOrEqual(t, len(hitsOf(a)), 4)
	assert.Equal(t, []int64{1, 2}, []int64{hitsOf(a)[0].Chunk, hitsOf(a)[1].Chunk})
	assert.Positive(t, a.Parts(&hitsOf(a)[1]).Bridge)
	for _, h := range hitsOf(a) {
		p := a.Parts(&h)
		assert.InDelta(t, h.Score, p.Keyword+p.Semantic+p.Entity+p.Graph+p.Bridge+p.Expansion, 1e-9, "the parts explain chunk %d", h.Chunk)
	}
	filtered := search(t, engine(), w, Request{Part: knowledge, Question: engine().Ask(whereBuilt, time.Time{}, language.AllCues), K: 10, Alpha: balanced, Thinking: true, Filter: backend.Filter{All: [][]uint64{{9}}}})
	assert.Len(t, hitsOf(filtered), 4, "a walk under a filter brings nothing new in")
}

// TestYearsLinkNothing checks that chunk 2, which shares only a year with the first hop, is no second hop.
func TestYearsLinkNothing(t *testing.T) {
	t.Parallel()
	for key, links := range map[string]bool{"norwich": true, "1899": false, "2099": false, "9999": true, "18 9": true} {
		t.Run(key, func(t *testing.T) {
			w := twoHops()
			w.keys[key] = 2
			w.memos[0].text = "The Kestrel was built in Norwich, " + key + "."
			a := search(t, engine(), w, Request{Part: knowledge, Question: engine().Ask(whereBuilt, time.Time{}, language.AllCues), K: 10, Alpha: balanced, Thinking: true})
			for _, h := range hitsOf(a) {
				if h.Chunk == 2 {
					assert.Equal(t, links, a.Parts(&h).Bridge > 0, key)
				}
			}
		})
	}
}

// TestThin checks that the second passage through entity 7 counts by .85, the third by .85 squared,
// and the best one through another entity in full.
func TestThin(t *testing.T) {
	t.Parallel()
	got := map[int64]float64{}
	for _, h := range thin(map[int64]hop{1: {1, 7, .5}, 2: {2, 7, 1}, 3: {3, 7, .5}, 4: {4, 8, .4}}) {
		got[h.chunk] = h.value
	}
	require.Len(t, got, 4)
	for chunk, want := range map[int64]float64{2: 1, 1: .5 * .85, 3: .5 * .85 * .85, 4: .4} {
		t.Run(fmt.Sprint(chunk), func(t *testing.T) {
			assert.InDelta(t, want, got[chunk], 1e-12, chunk)
		})
	}
}

// TestPageRank has one entity with the whole restart probability, and two passages. In equilibrium
// e = .4 + .6(p+p) and p = .6 e/2, so p = .1875.
func TestPageRank(t *testing.T) {
	t.Parallel()
	g := newGraph(nil)
	defer g.release()
	for _, c := range []int64{10, 20} {
		g.edges = append(g.edges, edge{chunk: int32(g.chunks.add(c)), entity: int32(g.entities.add(1)), toEntity: 2, toChunk: 1})
	}
	p := g.pagerank(nil, []float64{1})
	require.Len(t, p, 2)
	assert.InDelta(t, .1875, p[0], .003)
	assert.Equal(t, p[0], p[1])
	total := 0.0
	for _, v := range g.pagerank([]float64{.5, 0}, []float64{.5}) {
		total += v
	}
	assert.Less(t, total, 1.0, "rank is shared out, never made")
}

func TestOverlaps(t *testing.T) {
	t.Parallel()
	spans := [][2]int{{4, 8}}
	for span, want := range map[[2]int]bool{{0, 4}: false, {0, 5}: true, {5, 6}: true, {7, 9}: true, {8, 9}: false} {
		t.Run(fmt.Sprint(span), func(t *testing.T) {
			assert.Equal(t, want, overlaps(spans, span[0], span[1]), span)
		})
	}
}
