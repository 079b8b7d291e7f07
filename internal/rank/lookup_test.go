package rank

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/language"
)

// kilns is a partition in which chunk 1 has a rare and a common word, and eleven chunks are about the common one.
func kilns() *world {
	w := &world{docs: 1000, avg: 50, terms: []backend.TermInfo{{Term: "kiln", DF: 90, IDF: 2.4}, {Term: "zorbailmz", DF: 1, IDF: 6.5}}}
	w.memos = append(w.memos, memo{chunk: 1, source: 1, keyword: 4.3, dense: .15})
	for i := range int64(11) {
		w.memos = append(w.memos, memo{chunk: 2 + i, source: 2 + i, keyword: 1.3, dense: .6 - float32(i)*.01})
	}
	return w
}

// TestLookupOfRareWord checks that for a list of words with a rare one keywords get nine tenths of the dense weight, so that the chunk with
// the rare word is first, with each kind of embedder and in both classes. Sentences and common words leave the weights as they are.
func TestLookupOfRareWord(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]*Engine{
		"calibrated": {Embedder: oneWay{}, Unrelated: &Spread{Mean: .1, Std: .1}},
		"other":      {Embedder: oneWay{}, MemoryStrength: .75, KnowledgeStrength: .75},
	} {
		for _, class := range []backend.Class{backend.Memory, backend.Knowledge} {
			t.Run(name+" "+map[backend.Class]string{backend.Memory: "memory", backend.Knowledge: "knowledge"}[class], func(t *testing.T) {
				t.Parallel()
				// weight returns the keyword part of chunk 1, and whether the chunk is first.
				weight := func(w *world, question string) (float64, bool) {
					now := time.Now()
					a := search(t, e, w, Request{Part: backend.Partition{Class: class}, Question: e.Ask(question, now, language.AllCues), Now: now, K: 10, Alpha: Alpha{Value: DefaultAlpha}})
					all := hitsOf(a)
					at := slices.IndexFunc(all, func(h Scored) bool { return h.Chunk == 1 })
					return a.Parts(&all[at]).Keyword, at == 0
				}
				sentence, _ := weight(kilns(), "what did they say of the kiln in zorbailmz?")
				require.LessOrEqual(t, sentence, .45)
				got, first := weight(kilns(), "kiln zorbailmz")
				require.True(t, first)
				require.InDelta(t, sentence+.9*(1-sentence), got, 1e-9)
				common := kilns()
				common.terms[1] = backend.TermInfo{Term: "zorbailmz", DF: 60, IDF: 2.8}
				got, _ = weight(common, "kiln zorbailmz")
				require.Equal(t, sentence, got, "no rare word")
				near := kilns()
				for i := range near.memos {
					near.memos[i].keyword = 4.3
				}
				got, _ = weight(near, "kiln zorbailmz")
				require.Equal(t, sentence, got, "many match as well")
			})
		}
	}
}

func TestCountWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 1, " ": 1, "kiln": 1, " kiln  zorbailmz\n": 2, "窯 は": 2} {
		require.Equal(t, want, countWords(text), "%q", text)
	}
}
