package recall

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// TestWrite checks what the judge reads of exchanges, and how the ratings of their sides count.
func TestWrite(t *testing.T) {
	t.Parallel()
	said := func(text string) *Hit { return &Hit{Row: &backend.Hydrated{Chunk: backend.Chunk{Text: text}}} }
	ann, bob, reply, lost, note := said("Ann: the third floor"), said("Bob: no lift"), said("Assistant: The third, so mind the stairs."), &Hit{}, said("Door: code 7")
	thanks, asks := said("Assistant: Thanks, noted."), said("Assistant: The third? Who carries your bike?")
	for _, c := range []struct {
		name   string
		found  []exchange
		whole  bool
		texts  []string
		sides  [][]int
		behind float64
	}{
		{"hits", []exchange{{message: ann}, {message: note}}, true, []string{"Ann: the third floor", "Door: code 7"}, [][]int{{0}, {1}}, behindShare},
		{"one text", []exchange{{ann, reply, true}, {message: ann, talk: true}}, true, []string{"user: the third floor\nassistant: The third, so mind the stairs.", "user: the third floor"}, [][]int{{0}, {1}}, behindShare},
		{"two people", []exchange{{ann, reply, true}, {bob, nil, true}}, true, []string{"Ann: the third floor\nassistant: The third, so mind the stairs.", "Bob: no lift"}, [][]int{{0}, {1}}, behindShare},
		{"sides of their own", []exchange{{ann, reply, true}, {bob, nil, true}}, false, []string{"Ann: the third floor", "Assistant: The third, so mind the stairs.", "Bob: no lift"}, [][]int{{0, 1}, {2}}, exchangeShare},
		{"answers that say nothing", []exchange{{ann, thanks, true}, {ann, asks, true}}, true, []string{"user: the third floor", "user: the third floor"}, [][]int{{0}, {1}}, behindShare},
		{"a side that cannot be read", []exchange{{lost, reply, true}, {ann, lost, true}}, true, []string{"assistant: The third, so mind the stairs.", "user: the third floor"}, [][]int{{0}, {1}}, behindShare},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := judged{behind: behindShare}
			g.write(c.found, c.whole)
			require.Equal(t, c.texts, g.texts)
			require.Equal(t, c.sides, g.sides)
			require.Equal(t, c.behind, g.behind)
		})
	}
	g := judged{sides: [][]int{{0, 1}, {2}}}
	require.InDeltaSlice(t, []float64{1 + .4*.25, 1. / 3}, g.odds([]float64{.5, .2, .25}), 1e-9)
}
