package graph

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/lexical"
)

// plainWords returns the words of texts.
func plainWords(texts ...string) map[string]bool {
	words := map[string]bool{}
	for _, text := range texts {
		for _, t := range lexical.Analyze(nil, text) {
			words[t.Term] = true
		}
	}
	return words
}

// TestQuestionWords checks that the count equals that of comparing all words, whether or not a Store caches the words
// of a relation.
func TestQuestionWords(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	some := strings.Fields("Anna works worked at the mill in Oslo since May 2023 and_so_on likes tea, teas café Müller err_1042 v1.2 北京 is not Grey grey")
	text := func(n int) string {
		var b strings.Builder
		for range rng.IntN(n + 1) {
			fmt.Fprint(&b, some[rng.IntN(len(some))], " ")
		}
		return b.String()
	}
	var w questionWords
	for range 300 {
		question := text(12)
		w.ask(question)
		left := plainWords(question)
		require.Len(t, w.left, len(left), question)
		var last *backend.Relation
		for range 20 {
			if rng.IntN(8) == 0 {
				name := text(3)
				w.drop(name)
				for word := range plainWords(name) {
					delete(left, word)
				}
				require.Len(t, w.left, len(left), question)
			}
			rel := &backend.Relation{Predicate: strings.ReplaceAll(strings.TrimSpace(text(3)), " ", "_"), Context: text(15)}
			if last != nil && rng.IntN(3) == 0 {
				rel.Context = last.Context
			}
			last = rel
			want := 0
			for word := range plainWords(strings.ReplaceAll(rel.Predicate, "_", " "), rel.Context) {
				if left[word] {
					want++
				}
			}
			require.Equal(t, want, w.count(rel), "%q in %q %q", question, rel.Predicate, rel.Context)
			rel.Words = RelationWords(rel.Predicate, rel.Context)
			require.Equal(t, want, w.count(rel), "remembered: %q in %q %q", question, rel.Predicate, rel.Context)
		}
	}
}
