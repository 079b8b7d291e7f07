package weaviate

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
		_, ok := weighingOf(terms, 20, d.found)
		assert.Equal(t, d.want, ok, what)
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
		all[i].bag = of
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
			terms = append(terms, askedTerm{term: name, name: name, weight: .5 + 2*rng.Float64(), once: 1 + 2*rng.Float64()})
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
			terms = append(terms, askedTerm{name: everyTerm, once: .5 * float64(seed%7)})
		}
		setRepeats(terms)
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
			w, ok := weighingOf(terms, 25, found)
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
			if !w.finds(terms, found, k) {
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
