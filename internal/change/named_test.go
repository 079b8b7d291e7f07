package change

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/pipeline"
)

// topics is an embedder with a dimension for each topic: a text lies along those whose words it has.
type topics struct {
	pipeline.Embedder
	words [][]string
}

func (e topics) EmbedDocuments(_ context.Context, texts []string) (out [][]float32, err error) {
	for _, text := range texts {
		v := make([]float32, len(e.words)+1)
		v[len(e.words)] = .3
		for i, words := range e.words {
			if slices.ContainsFunc(words, func(w string) bool {
				return slices.Contains(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r == ' ' || r == '.' }), w)
			}) {
				v[i] = 1
			}
		}
		out = append(out, v)
	}
	return out, nil
}

// TestCancelledInOtherWords checks that a cancellation is about the plan that its noun names better than other nouns do, and about no plan if two
// may be meant or its noun says more than the plan.
func TestCancelledInOtherWords(t *testing.T) {
	t.Parallel()
	e := topics{words: [][]string{{"trip", "flying", "drive"}, {"wedding", "married"}, {"dinner", "eating"}}}
	for _, c := range []struct {
		name, said string
		earlier    []string
		want       int // index of the cancelled plan; -1: none
	}{
		{"the plan of its kind", "The trip is off.", []string{"We're flying to Lisbon on 9 June.", "I'm getting married on 3 October."}, 0},
		{"in another order", "We had to cancel the trip.", []string{"I'm getting married on 3 October.", "We're flying to Lisbon on 9 June."}, 1},
		{"a word that the plan has too", "The Lisbon trip is off.", []string{"We're flying to Lisbon on 9 June."}, 0},
		{"a word that it has not", "The school trip is off.", []string{"We're flying to Lisbon on 9 June."}, -1},
		{"two plans", "The trip is off.", []string{"We're flying to Lisbon on 9 June.", "Dad and I drive to Skye on 3 May."}, -1},
		{"a plan of another kind", "The wedding is off.", []string{"We're flying to Lisbon on 9 June."}, -1},
		{"no noun for an event", "The milk is off.", []string{"We're eating at Luigi's on 3 May."}, -1},
		{"no plan", "The trip is off.", []string{"I hate flying."}, -1},
		{"somebody else's", "My sister's trip is off.", []string{"We're flying to Lisbon on 9 June."}, -1},
		{"a question", "Is the trip off?", []string{"We're flying to Lisbon on 9 June."}, -1},
		{"another meaning", "The trip is off to a good start.", []string{"We're flying to Lisbon on 9 June."}, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &run{Engine: &Engine{}, Space: &Space{Embedder: e}, ctx: t.Context()}
			s := &statement{src: &backend.Source{Num: 9}, text: c.said}
			var near []*statement
			for i, text := range c.earlier {
				near = append(near, &statement{src: &backend.Source{Num: int64(i + 1)}, text: text})
			}
			out := make([]verdict, len(near))
			require.NoError(t, r.byName(s, near, out))
			for i := range near {
				assert.Equal(t, i == c.want, out[i].confidence > 0, c.earlier[i])
				assert.Less(t, out[i].confidence, Shown, "another word is too little to say that a plan is cancelled")
			}
		})
	}
}

// counting counts the texts that are embedded.
type counting struct {
	topics
	texts *int
}

func (e counting) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	*e.texts += len(texts)
	return e.topics.EmbedDocuments(ctx, texts)
}

// TestNounsAreEmbeddedOnce checks that a second cancellation embeds its plans alone, and that another model embeds the nouns again.
func TestNounsAreEmbeddedOnce(t *testing.T) {
	t.Parallel()
	var texts int
	e := counting{topics{words: [][]string{{"trip", "flying"}, {"wedding", "married"}}}, &texts}
	engine := &Engine{}
	cancel := func(model string) int {
		texts = 0
		r := &run{Engine: engine, Space: &Space{Embedder: e, Model: model}, ctx: t.Context()}
		out := make([]verdict, 1)
		plan := &statement{src: &backend.Source{Num: 1}, text: "We're flying to Lisbon on 9 June."}
		require.NoError(t, r.byName(&statement{src: &backend.Source{Num: 9}, text: "The trip is off."}, []*statement{plan}, out))
		require.Positive(t, out[0].confidence)
		return texts
	}
	first := cancel("one")
	require.Equal(t, len(slices.Concat(eventNouns...))+len(ordinary)+1, first)
	require.Equal(t, 1, cancel("one"))
	require.Equal(t, first, cancel("another"))
}
