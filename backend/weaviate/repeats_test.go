package weaviate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
		text := q.query(c, objectCounts{all: objects, every: 1000})
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

// TestQueriesAskForTheTermOfAllChunks checks when the text of a query has everyTerm: once at its end, if it has three other terms and most chunks have it. The
// others are then repeated so often that it hardly matters, with the same ratios.
func TestQueriesAskForTheTermOfAllChunks(t *testing.T) {
	t.Parallel()
	part := backend.Partition{Class: backend.Knowledge, Sub: "a"}
	c := &counts{docs: 1000, df: map[string]int{"lantern": 700, "kyoto": 5, "violin": 40, "anna": 300}}
	every := tokenOf(spaceOf(part), everyTerm)
	for _, k := range []struct {
		text string
		have int
		want bool
	}{
		{"lantern kyoto violin", 1000, true},
		{"lantern kyoto violin anna", 990, true},
		{"lantern kyoto violin unknown", 501, true},
		{"lantern kyoto violin", 500, false}, // most were stored by an earlier release
		{"lantern kyoto violin", 0, false},
		{"lantern kyoto", 1000, false},
		{"lantern kyoto unknown kyoto", 1000, false},
	} {
		q := parse(&backend.KeywordQuery{Part: part, Text: k.text})
		times := map[string]int{}
		words := strings.Fields(q.query(c, objectCounts{all: 20_000, every: k.have}))
		for _, w := range words {
			times[w]++
		}
		if !k.want {
			assert.Zero(t, times[every], k)
			continue
		}
		assert.Equal(t, every, words[len(words)-1], k)
		assert.Equal(t, 1, times[every], k)
		ratios := map[string]int{}
		for _, w := range strings.Fields(q.query(c, objectCounts{all: 20_000})) {
			ratios[w]++
		}
		assert.Len(t, times, len(ratios)+1, k)
		heaviest, all := 0.0, &counts{docs: 20_000, df: c.df}
		for w, n := range ratios {
			assert.Equal(t, n*times[words[0]]/ratios[words[0]], times[w], "%v: %s", k, w)
			assert.LessOrEqual(t, times[w], maxRepeats)
			_, term, _ := strings.Cut(w, "~")
			heaviest = max(heaviest, all.idf(term)*float64(times[w]))
		}
		all.df = map[string]int{"": k.have}
		assert.Greater(t, heaviest, .9*besideEvery*all.idf(""), k)
	}
}

// TestNodesAreAskedForFewTerms checks that a node that selects is asked for the terms that weigh most if there are many, and that the others count as what a chunk may have
// that it has left out.
func TestNodesAreAskedForFewTerms(t *testing.T) {
	t.Parallel()
	c := &counts{docs: 1000, df: map[string]int{}}
	q := keywordQuery{space: "s"}
	weights, all := 0.0, 0.0
	for i := range 15 {
		term := fmt.Sprint("term", i)
		c.df[term] = 500 - 30*i
		q.terms = append(q.terms, backend.WeightedTerm{Term: term, Weight: 1})
		if all += c.idf(term); i >= 4 {
			weights += c.idf(term)
		}
	}
	of := objectCounts{all: 20_000, every: 1000}
	terms, unasked := q.asked(c, of, 128)
	require.Len(t, terms, maxAsked)
	assert.Equal(t, everyTerm, terms[maxAsked-1].name)
	for _, term := range terms[:maxAsked-1] {
		assert.LessOrEqual(t, term.df, 500-30*4, term.term)
	}
	assert.InDelta(t, all-weights, unasked, 1e-9)
	every, none := q.asked(c, of, 0)
	assert.Len(t, every, 16, "the node ranks by itself")
	assert.Zero(t, none)

	found := []candidate{{bag: bag{tf: map[string]int{terms[0].name: 2, everyTerm: 1}, tokens: 10}, own: 1}}
	w := weighing{average: 10, terms: make([]float64, len(terms))}
	for i := range terms {
		w.terms[i] = 100
	}
	assert.LessOrEqual(t, w.leftOut(terms, found, 1), leftOutShare)
	w.unasked = unasked
	assert.Greater(t, w.leftOut(terms, found, 1), leftOutShare)
}

// TestAllChunksWithWordsHaveATermInCommon checks what chunks have everyTerm in the cluster's keyword index, last and once, and that it is neither counted nor in bags.
func TestAllChunksWithWordsHaveATermInCommon(t *testing.T) {
	t.Parallel()
	s := spaceOf(backend.Partition{Class: backend.Knowledge, Sub: "a"})
	for text, want := range map[string]bool{"Anna painted a lantern.": true, "% %25 100%": true, "": false, "the of": false} {
		fields := fieldsOf("", &backend.Row{Text: text}, nil)
		words, _, length := wordsOf(s, fields)
		tokens := strings.Fields(words)
		if !want {
			assert.Empty(t, tokens, text)
			continue
		}
		assert.Equal(t, tokenOf(s, everyTerm), tokens[len(tokens)-1], text)
		assert.NotContains(t, tokens[:len(tokens)-1], tokenOf(s, everyTerm), text)
		of, err := readBag(bagOf(fields), map[string]bool{everyTerm: true}, false)
		require.NoError(t, err)
		assert.Equal(t, len(tokens)-1, of.tokens, text)
		assert.Equal(t, length, of.length, text)
		assert.Empty(t, of.tf, text)
	}
	for _, term := range []string{"%", "%%", "\x00", "!", " ", "\x00%"} {
		assert.NotEqual(t, everyTerm, encodeTerm(term))
	}
}
