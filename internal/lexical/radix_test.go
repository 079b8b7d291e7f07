package lexical

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSortTerms(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(5, 6))
	var small []uint32
	var large []uint64
	for n := range 400 {
		numbers := rnd.Perm(1 << (1 + n%17))
		mask := uint32(1)<<(n%32) - 1 // some digits are the same in all numbers
		var terms []uint32
		var pairs []uint64
		for _, x := range numbers[:min(n, len(numbers))] {
			v := uint32(x)*2654435761&^mask | uint32(x)
			if slices.Contains(terms, v) {
				continue
			}
			terms, pairs = append(terms, v), append(pairs, uint64(v)<<32|uint64(rnd.Uint32()))
		}
		wantTerms, wantPairs := slices.Sorted(slices.Values(terms)), slices.Sorted(slices.Values(pairs))
		small, large = sortTerms(terms, small, 0), sortTerms(pairs, large, 32)
		require.Equal(t, wantTerms, terms, n)
		require.Equal(t, wantPairs, pairs, n)
	}
}

// TestNumbersOfManyTerms adds more terms than the table of recent ones has places, in several orders.
func TestNumbersOfManyTerms(t *testing.T) {
	t.Parallel()
	m := NewMem()
	rnd := rand.New(rand.NewPCG(7, 8))
	want := map[string]uint32{}
	cached := map[string]*cachedTerm{}
	word := func(term string) *docWord {
		c := cached[term]
		switch rnd.IntN(3) {
		case 0:
			c = nil
		case 1: // the cache has lost the term meanwhile
			c = &cachedTerm{term}
			cached[term] = c
		}
		return &docWord{term: term, cached: c}
	}
	for range 100_000 {
		term := make([]byte, rnd.IntN(20))
		for i := range term {
			term[i] = 'a' + byte(rnd.IntN(2))
		}
		id, known := want[string(term)]
		got := m.number(word(string(term)))
		if !known {
			id = uint32(len(want))
			want[string(term)] = id
		}
		require.Equal(t, id, got, "%s", term)
	}
	require.Greater(t, len(want), 2*recentTerms)

	require.NoError(t, m.Add(1, Doc{Fields: []Field{{Text: "aab abb"}}}))
	m.compact() // only the terms of documents stay
	require.Less(t, len(m.terms), 10)
	for range 2 {
		for term := range want {
			require.Equal(t, term, m.terms[m.number(word(term))].text)
		}
	}
}
