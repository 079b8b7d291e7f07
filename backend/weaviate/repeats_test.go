package weaviate

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/contextmem/contextmem/backend"
)

// TestRepeatsHaveTheRatiosOfWeights checks the numbers of repeats: as few as have about the ratios of the weights.
func TestRepeatsHaveTheRatiosOfWeights(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		weights, matter []float64
		want            []int
	}{
		{nil, nil, nil},
		{[]float64{.3}, []float64{1}, []int{1}},
		{[]float64{2, 2, 2}, []float64{1, 2, 3}, []int{1, 1, 1}},
		{[]float64{1, .995, 1}, []float64{1, 1, 1}, []int{1, 1, 1}},
		{[]float64{.5, 1}, []float64{1, 1}, []int{1, 2}},
		{[]float64{3, 1, 2}, []float64{1, 1, 1}, []int{3, 1, 2}},
		{[]float64{.9, .37}, []float64{1, .9}, []int{17, 7}},
		{[]float64{.9, .37}, []float64{1, .001}, []int{1, 1}},
		{[]float64{1, .001}, []float64{1, 1}, []int{maxRepeats, 1}},
	} {
		times := repeats(c.weights, c.matter)
		assert.Equal(t, c.want, times, c.weights)
		for i, n := range times {
			if c.weights[i] > .1 && c.matter[i] > .1 {
				assert.InEpsilon(t, c.weights[i]/slices.Max(c.weights), float64(n)/float64(slices.Max(times)), 2*repeatError)
			}
		}
	}
}

// TestQueryWeighsTermsByTheirPartition checks that the query for the cluster's BM25 repeats terms so that they weigh as much as by the
// statistics of the partition, whatever other partitions there are, and leaves out terms that cannot score.
func TestQueryWeighsTermsByTheirPartition(t *testing.T) {
	t.Parallel()
	part := backend.Partition{Class: backend.Knowledge, Sub: "a"}
	q := parse(&backend.KeywordQuery{Part: part, Text: "the lantern kyoto violin"})
	c := &counts{docs: 1000, df: map[string]int{"lantern": 700, "kyoto": 5, "the": 900}}
	count := func(objects int) (lantern, kyoto int) {
		text := q.query(c, objects)
		words := strings.Fields(text)
		for _, w := range words {
			switch w {
			case wordOf(q.space, "lantern"):
				lantern++
			case wordOf(q.space, "kyoto"):
				kyoto++
			default:
				t.Errorf("the query has %q", w)
			}
		}
		return lantern, kyoto
	}
	for _, objects := range []int{0, 900, 1000} {
		lantern, kyoto := count(objects)
		assert.Equal(t, []int{1, 1}, []int{lantern, kyoto})
	}
	for _, objects := range []int{2000, 20_000} {
		lantern, kyoto := count(objects)
		all := &counts{docs: objects, df: c.df}
		want := (c.idf("kyoto") / all.idf("kyoto")) / (c.idf("lantern") / all.idf("lantern"))
		assert.InEpsilon(t, want, float64(kyoto)/float64(lantern), 2*repeatError)
		assert.Greater(t, kyoto, lantern)
	}
}
