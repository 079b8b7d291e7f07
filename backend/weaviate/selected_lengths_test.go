package weaviate

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/testtool"
)

// TestNodeHasToWeighLengths checks which scores show that a node weighs the lengths of chunks.
func TestNodeHasToWeighLengths(t *testing.T) {
	terms := []backend.WeightedTerm{{Term: "anna", Weight: 1}, {Term: "oslo", Weight: 2}}
	of := func(words string, more int, score func(of *bag) float64) candidate {
		f := candidate{bag: bag{tf: map[string]int{}, tokens: len(strings.Fields(words)) + more}}
		for _, w := range strings.Fields(words) {
			f.tf[w]++
		}
		f.own = score(&f.bag)
		return f
	}
	by := func(average, off float64) func(of *bag) float64 {
		return func(of *bag) (sum float64) {
			for t, w := range map[string]float64{"anna": 1, "oslo": 2 * (1 + off)} {
				if tf := of.tf[t]; tf > 0 {
					sum += 3 * w * saturation(tf, of.tokens, average)
				}
			}
			return float64(float32(sum))
		}
	}
	all := func(least, step int, score func(of *bag) float64) (out []candidate) {
		for i, words := range strings.Split("anna,anna oslo,oslo oslo,anna anna oslo,oslo,oslo anna anna anna", ",") {
			out = append(out, of(words, least+step*(i*i%5), score))
		}
		return out
	}
	once := func(length, step int, score func(of *bag) float64) (out []candidate) {
		for i := range 20 {
			words := []string{"anna", "oslo", "anna oslo"}[i%3]
			out = append(out, of(words, length+step*(i%4)-len(strings.Fields(words)), score))
		}
		return out
	}
	for what, d := range map[string]struct {
		found []candidate
		want  bool
	}{
		"its average":                 {all(10, 5, by(20, 0)), true},
		"other counts":                {all(10, 5, by(20, .5)), true},
		"counts below 0":              {all(10, 5, by(20, -1.2)), true},
		"average of other partitions": {all(10, 5, by(100, 0)), true},
		"shorter other partitions":    {all(10, 5, by(4, 0)), true},
		"about as long":               {once(40, 1, by(23, 0)), true},
		"equally long":                {all(40, 0, by(23, 0)), true},
		"no lengths":                  {all(10, 5, by(math.Inf(1), 0)), false},
		"no lengths, other counts":    {all(10, 5, by(math.Inf(1), .5)), false},
		"no average":                  {all(10, 5, by(0, 0)), false},
		"no numbers":                  {all(10, 5, func(*bag) float64 { return math.NaN() }), false},
		"no lengths, about as long":   {all(40, 0, by(math.Inf(1), .05)), false},
		"equally long, each once":     {once(40, 0, by(23, 0)), false}, // shows nothing
		"one":                         {all(10, 5, by(20, 0))[:1], false},
	} {
		assert.Equal(t, d.want, weighsLengths(terms, 20, d.found), what)
	}
}

// TestNodeThatStoredDeletionsAlone lets a node write segments of deletions alone. What is put later is found as before,
// though the node's own search leaves out the best from then on. Deletions that the process applies are seldom alone, since it records them with a word.
func TestNodeThatStoredDeletionsAlone(t *testing.T) {
	t.Parallel()
	w, err := testtool.StartWeaviate(serverProgram(t), t.TempDir(), 1, flushesSoon)
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	set, ix := openLarge(t, prefixOf(t.Name()), w.URLs(), true, nil)
	ix.x.partitions.settle = 3 * time.Second
	l := newLargeFeed(t)
	l.fill(t, 2000)
	l.apply(t, set, true)
	requireSelects(t, set, l.part)
	l.requireExact(t, set, "before")

	q := parse(&backend.KeywordQuery{Part: l.part, Text: question})
	own := func(limit int) []object { // what the node finds by its own scores
		c, err := ix.counts(t.Context(), l.part, q.names())
		require.NoError(t, err)
		words := q.query(c, ix.objects(t.Context()))
		a := searchRequest{collection: ix.x.schema.chunks(), tenant: ix.uid, words: words, limit: limit, fields: candidateFields}
		found, err := ix.x.cluster.get(t.Context(), route{}, a)
		require.NoError(t, err)
		return found
	}
	first, _ := own(1)[0].score()
	score := first
	for i := int64(1); i < 6 && score <= 1.2*first; i++ {
		l.add(t, backend.Change{Kind: backend.Drop, Source: i})
		l.apply(t, set, true)
		time.Sleep(2 * time.Second)
		score, _ = own(1)[0].score()
	}
	if score > 1.2*first {
		t.Log("the node wrote a segment between a deletion and the state behind it")
	}
	n := ix.x.cluster.nodes[0]
	for i := int64(6); i < 36 && score <= 1.2*first; i++ { // as repairs between replicas delete; what else is written may come into the same segment
		l.add(t, backend.Change{Kind: backend.Drop, Source: i})
		require.NoError(t, n.Data().Deleter().WithClassName(ix.x.schema.chunks()).WithTenant(ix.uid).WithID(string(uuidOf("chunk", number(i)))).Do(t.Context()))
		time.Sleep(2 * time.Second)
		score, _ = own(1)[0].score()
	}
	l.apply(t, set, true)
	require.Greater(t, score, 1.2*first, "the node weighs lengths")
	misses := func() bool { // reports whether the node itself leaves out the best
		found := map[int64]bool{}
		for _, o := range own(minCandidates) {
			source, err := o.number(propSource)
			require.NoError(t, err)
			found[source] = true
		}
		best := must(t)(l.oracle.Keywords().SearchKeywords(t.Context(), backend.KeywordQuery{Part: l.part, Text: question, K: 10}))
		return slices.ContainsFunc(best, func(h backend.Hit) bool { return !found[h.Source] })
	}
	for next := int64(10_000); next < 11_500; next += 300 {
		for i := range int64(300) { // a segment with all of these has the best ones last
			text := "word0 " + l.sentence(20)
			if i >= 200 {
				text = strings.Repeat(question+" ", 1+int(next-10_000)/300) + l.sentence(5)
			}
			l.put(t, next+i, text)
		}
		l.apply(t, set, true)
		for range 2 { // the chunks are recent no more
			time.Sleep(ix.x.partitions.settle + time.Second)
			l.put(t, 5000+int64(len(l.feed)), l.sentence(25))
			l.apply(t, set, true)
		}
		requireSelects(t, set, l.part)
		l.requireExact(t, set, "after")
		if misses() {
			return
		}
	}
	t.Log("the node left out nothing, so that only its unit test shows that its answers are refused") // when it wrote its segments at other times
}
