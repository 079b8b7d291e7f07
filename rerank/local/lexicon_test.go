package local

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/viterin/vek/vek32"

	"github.com/contextmem/contextmem/embed/static"
	"github.com/contextmem/contextmem/internal/lexical"
)

// plainScore computes the same as Scorer.Score, without any caching.
func plainScore(words Words, terms []Term, text, before string) float64 {
	var asked []term
	total := 0.0
	for _, t := range terms {
		lower := strings.ToLower(t.Word)
		x := term{stem: lexical.Stem(lower), weight: t.Weight}
		if t.Weight <= 0 || strings.Contains(stems(asked), " "+x.stem+" ") {
			continue
		}
		x.vec, _ = words.AppendWord(nil, lower)
		asked, total = append(asked, x), total+t.Weight
	}
	read := func(text string) (out [][]float32) {
		for _, t := range lexical.Analyze(nil, text) {
			vec, _ := words.AppendWord(nil, strings.ToLower(text[t.Start:t.End]))
			sim := make([]float32, len(asked))
			for i, a := range asked {
				if a.stem == t.Term {
					sim[i] = 1
				} else if len(vec) > 0 && len(a.vec) > 0 {
					d := max(0, min(vek32.Dot(vec, a.vec), 1))
					sim[i] = d * d * d
				}
			}
			out = append(out, sim)
		}
		return out
	}
	carried, sims := make([]float32, len(asked)), read(before)
	for _, sim := range sims[max(0, len(sims)-beforeWords):] {
		for i, v := range sim {
			carried[i] = max(carried[i], beforeShare*v)
		}
	}
	sims = read(text)
	most := 0.0
	for start := 0; start == 0 || start+windowWords < len(sims)+windowStep; start += windowStep {
		sum := 0.0
		for i := range asked {
			best := carried[i]
			for _, sim := range sims[min(start, len(sims)):min(start+windowWords, len(sims))] {
				best = max(best, sim[i])
			}
			sum += asked[i].weight * float64(best)
		}
		most = max(most, sum)
	}
	return most / total
}

func stems(ts []term) string {
	s := " "
	for _, t := range ts {
		s += t.stem + " "
	}
	return s
}

// TestLexicon checks that caching texts and words changes no score: while others fill the lexicon, and when it is full and is emptied.
func TestLexicon(t *testing.T) {
	t.Parallel()
	words := static.New()
	some := strings.Fields("Anna's anna works worked at the mill in Oslo since May 2023 likes tea teas café Müller err_1042 v1.2 北京 dog puppy dogs car auto iPhone15 the grey Grey gray bought buy don't")
	for name, most := range map[string]int{"large": maxLexicon, "small": 20 << 10, "none": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := NewLexicon(words)
			l.most = most
			var wg sync.WaitGroup
			for seed := range uint64(4) {
				wg.Go(func() {
					rng := rand.New(rand.NewPCG(seed, 7))
					text := func(n int) string {
						var b strings.Builder
						for range rng.IntN(n + 1) {
							b.WriteString(some[rng.IntN(len(some))] + " ")
						}
						return b.String()
					}
					var s *Scorer
					for range 8 {
						var terms []Term
						for _, w := range strings.Fields("x " + text(6)) {
							terms = append(terms, Term{w, rng.Float64() + .1})
						}
						s = l.Scorer(s, terms)
						for range 3 {
							said, before := text(90), text(80)
							if want, got := plainScore(words, terms, said, before), s.Score(said, before); want-got > 1e-6 || got-want > 1e-6 {
								t.Errorf("%v in %q after %q: %v, want %v", terms, said, before, got, want)
							}
						}
						if rng.IntN(2) == 0 {
							s.Forget()
						}
					}
				})
			}
			wg.Wait()
			require.Less(t, l.now().bytes, most+(96<<10), "one text more than fits for each who reads")
		})
	}
}
