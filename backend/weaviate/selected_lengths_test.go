package weaviate

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// TestNodeHasToWeighLengths checks which scores show that a node weighs the lengths of chunks.
func TestNodeHasToWeighLengths(t *testing.T) {
	t.Parallel()
	terms := []askedTerm{{name: "anna", weight: 1, once: 1, times: 1}, {name: "oslo", weight: 2, once: 1, times: 2}}
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
		for _, before := range []float64{0, 4, 20, 21, 100} {
			_, ok := weighingOf(terms, 20, before, d.found)
			assert.Equal(t, d.want, ok, "%s, %v before", what, before)
		}
	}
}

// ranking is a node that scores chunks of which it counts more than there are.
type ranking struct {
	chunks []bag
	once   map[string]float64 // what a term weighs that is not repeated
}

// ask returns the n best chunks by the node, and the chunks that it leaves out.
func (r *ranking) ask(terms []askedTerm, n int) (found []candidate, rest []bag) {
	const average = 30
	all := make([]candidate, len(r.chunks))
	for i, of := range r.chunks {
		all[i].chunk, all[i].bag = int64(i), of
		for _, t := range terms {
			all[i].own += float64(t.times) * r.once[t.name] * saturation(of.tf[t.name], of.tokens, average)
		}
		all[i].own = float64(float32(all[i].own))
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.own, a.own) })
	for _, f := range all[n:] {
		rest = append(rest, f.bag)
	}
	return all[:n], rest
}

// TestNodesWeightsAreFound checks what a node's scores show of its weights. An answer may leave out chunks that are much better than the last hit only if it does not pass. With repeats by
// the weights that were found it passes, unless the node takes off for a term.
func TestNodesWeightsAreFound(t *testing.T) {
	t.Parallel()
	const selected, k = 128, 100
	passed, corrected, wrong := 0, 0, 0
	for seed := range uint64(120) {
		rng := rand.New(rand.NewPCG(seed, 1))
		r := &ranking{once: map[string]float64{}}
		var terms []askedTerm
		for i := range 2 + rng.IntN(5) {
			name := fmt.Sprint("term", i)
			terms = append(terms, askedTerm{term: name, name: name, df: 2000, weight: .5 + 2*rng.Float64(), once: 1 + 2*rng.Float64()})
			r.once[name] = terms[i].once
			if seed%3 > 0 { // the node counts chunks that are gone
				r.once[name] = terms[i].once - .8*rng.Float64()
			}
		}
		scoring := terms
		if seed >= 60 { // all chunks have a term in common
			r.once[everyTerm] = .5 * float64(seed%7)
			if seed%3 > 0 {
				r.once[everyTerm] -= .5
			}
			terms = append(terms, askedTerm{name: everyTerm, inAll: true, once: .5 * float64(seed%7)})
		}
		setRepeats(terms, 0)
		for range 2000 {
			of := bag{tf: map[string]int{}, tokens: 10 + rng.IntN(60)}
			if len(terms) > len(scoring) {
				of.tf[everyTerm] = 1
			}
			for _, term := range scoring {
				if rng.IntN(3) == 0 {
					of.tf[term.name] = 1 + rng.IntN(3)
				}
			}
			r.chunks = append(r.chunks, of)
		}
		for again := false; ; again = true {
			found, rest := r.ask(terms, selected)
			w, ok := weighingOf(terms, 25, []float64{0, 4, 27, 30, 33, 36, 300}[seed%7], found)
			require.True(t, ok)
			assert.InEpsilon(t, 30, w.average, .05)
			for i, term := range terms {
				assert.InDelta(t, r.once[term.name]*float64(term.times), w.terms[i], .01*slices.Max(w.terms), "seed %d: %s", seed, term.name)
			}
			score := func(of *bag) (sum float64) {
				for _, term := range terms {
					sum += term.weight * saturation(of.tf[term.name], of.tokens, 30)
				}
				return sum
			}
			var best, left []float64
			for i := range found {
				best = append(best, score(&found[i].bag))
			}
			for i := range rest {
				left = append(left, score(&rest[i]))
			}
			slices.Sort(best)
			misses := slices.Max(left) > 1.05*best[selected-k]
			if w.leftOut(terms, found, k) > leftOutShare {
				require.False(t, again, "seed %d: the repeats do not help", seed)
				require.True(t, w.correct(terms), "seed %d", seed)
				corrected++
				if misses {
					wrong++
				}
				continue
			}
			require.False(t, misses, "seed %d", seed)
			passed++
			break
		}
	}
	t.Logf("%d answers passed, %d did not, %d of which lacked some of the best", passed, corrected, wrong)
	assert.Positive(t, wrong)
	assert.Less(t, corrected, passed, "each passes without gone chunks")

	terms := []askedTerm{{name: "a", weight: 1, times: 1}, {name: "b", weight: 2, times: 1}}
	assert.False(t, (&weighing{average: 20, terms: []float64{-.1, 1}}).correct(terms), "the node takes off for a term")
	terms[0].weight = .001
	assert.True(t, (&weighing{average: 20, terms: []float64{-.1, 1}}).correct(terms), "that hardly matters")
}

// TestRareAndCommonTerms checks that questions with terms that few chunks have, and with one that all have, pass with few repeats of the others, where other
// partitions make all terms rarer. All of the best must be found.
func TestRareAndCommonTerms(t *testing.T) {
	t.Parallel()
	const docs, objects, selected, k = 2500, 20_000, 160, 128
	q := parse(&backend.KeywordQuery{Part: testPart, Text: "elena teapot near kyoto zebra violin quartz"})
	frequent := map[string]int{"elena": 1794, "teapot": 1653, "near": docs, "kyoto": 2111, "violin": 1600}
	words, again := 0, 0
	for _, rare := range []int{1, 3, 70} {
		for seed := range uint64(3) {
			rng := rand.New(rand.NewPCG(seed, uint64(rare)))
			df := map[string]int{"zebra": rare, "quartz": rng.IntN(2)}
			maps.Copy(df, frequent)
			r := &ranking{chunks: make([]bag, docs), once: map[string]float64{}}
			c := &counts{docs: docs, df: df}
			for i := range r.chunks {
				r.chunks[i] = bag{tf: map[string]int{}, tokens: 40 + rng.IntN(60)}
				r.chunks[i].length = r.chunks[i].tokens
				c.length += float64(r.chunks[i].length)
			}
			for term, n := range df {
				for _, i := range rng.Perm(docs)[:n] {
					r.chunks[i].tf[term] = 1 + rng.IntN(2)
				}
				r.once[term] = (&counts{docs: objects, df: df}).idf(term)
			}
			of := objectCounts{all: objects}
			if seed > 0 {
				of.every, r.once[everyTerm] = docs, (&counts{docs: objects, df: map[string]int{everyTerm: docs}}).idf(everyTerm)
				for i := range r.chunks {
					r.chunks[i].tf[everyTerm] = 1
				}
			}
			terms, _ := q.asked(c, of, selected)
			require.Equal(t, seed > 0, terms[len(terms)-1].name == everyTerm)
			for _, term := range terms {
				words += term.times
			}
			found, rest := r.ask(terms, selected)
			w, ok := weighingOf(terms, c.average(), 0, found)
			require.True(t, ok)
			if w.leftOut(terms, found, k) > leftOutShare {
				again++
				require.True(t, w.correct(terms))
				found, rest = r.ask(terms, selected)
				w, ok = weighingOf(terms, c.average(), 0, found)
				require.True(t, ok && w.leftOut(terms, found, k) <= leftOutShare, "%d chunks have a rare term, seed %d", rare, seed)
			}
			weights := c.weigh(q.terms)
			var best []float64
			for i := range found {
				best = append(best, weights.score(&found[i].bag))
			}
			slices.Sort(best)
			for i := range rest {
				require.Less(t, weights.score(&rest[i]), 1.05*best[selected-k])
			}
			if rare > 1 {
				continue
			}
			zebra := slices.IndexFunc(terms, func(t askedTerm) bool { return t.name == "zebra" })
			w.terms[zebra] /= 10 // as if the node counted chunks that are gone
			require.LessOrEqual(t, w.leftOut(terms, found, k), leftOutShare, "the chunk is there")
			for i := range found {
				delete(found[i].tf, "zebra")
			}
			require.Greater(t, w.leftOut(terms, found, k), leftOutShare, "the chunk may be left out")
			terms[zebra].recent = []int64{docs}
			require.LessOrEqual(t, w.leftOut(terms, found, k), leftOutShare, "a recent chunk has the term")
		}
	}
	t.Logf("%d words a question, %d were asked again", words/9, again)
	assert.Less(t, words/9, 400)
}
