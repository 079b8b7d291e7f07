package lexical

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAnalyzeSome: of the terms that are asked for, AnalyzeSome finds the same tokens as Analyze, irregular forms, compounds, capitals
// and other scripts included, and it finds few others.
func TestAnalyzeSome(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("computes in one goroutine: left out with -short")
	}
	words := strings.Fields(`dying lying skies ugly early only yearly youth's Youths YES generate generously foo.bar err_1042 iPhone15 getUserName École ecole naïve
		a@b.de I i'm we're 12 1,024 x1 42nd zzz 東京都 คน caféteria's don’t O'Neill C# well-being`)
	for form, base := range irregular {
		words = append(words, form, base, strings.ToUpper(form))
	}
	for w := range stopWords {
		words = append(words, w)
	}
	for w := range questionWords {
		words = append(words, w)
	}
	words = append(words, strings.Fields(strings.Repeat(irregularForms, 1))...)
	docs, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	for _, name := range docs {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		words = append(words, strings.Fields(string(text))...)
	}
	slices.Sort(words)
	words = slices.Compact(words)
	require.Greater(t, len(words), 5000)
	rng := rand.New(rand.NewPCG(3, 4))
	rng.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	text := strings.Join(words, " ")
	all := Analyze(nil, text)
	changed := 0
	for _, tok := range all { // each term alone
		word := []byte(strings.ToLower(text[tok.Start:tok.End]))
		if slices.ContainsFunc(word, func(c byte) bool { return c < 'a' || c > 'z' }) {
			continue
		}
		var b Beginnings
		if b.Add(tok.Term); tok.Term[0] != word[0] {
			changed++
		}
		require.True(t, b.has(word), "%s, of which %s is made", word, tok.Term)
	}
	require.Positive(t, changed, "terms that begin with another letter than their word")
	for range 60 {
		asked := map[string]bool{}
		var b Beginnings
		for range 1 + rng.IntN(4) {
			term := all[rng.IntN(len(all))].Term
			asked[term] = true
			b.Add(term)
		}
		other := func(tok Token) bool { return !asked[tok.Term] }
		got := AnalyzeSome(nil, text, &b)
		require.Less(t, len(got), len(all))
		require.Equal(t, slices.DeleteFunc(slices.Clone(all), other), slices.DeleteFunc(got, other), "%v", asked)
	}
	require.Empty(t, AnalyzeSome(nil, "plain words of letters", new(Beginnings)))
}
