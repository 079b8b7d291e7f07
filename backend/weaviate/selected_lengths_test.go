package weaviate

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/contextmem/contextmem/backend"
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
