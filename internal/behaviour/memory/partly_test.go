package memory_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/servicetest"
	"github.com/contextmem/contextmem/judge"
)

// TestMessageOfTwoMattersKeepsTheOther: a later message ends one of two matters that a message tells. A question about the other finds the message first,
// not shown as superseded; a question about the one that ended finds the later message first, and the result says that only a part is superseded.
func TestMessageOfTwoMattersKeepsTheOther(t *testing.T) {
	t.Parallel()
	const told, later = "I'm vegetarian and allergic to hazelnuts.", "I'm not vegetarian any more."
	_, acme := servicetest.Open(t, &contextmem.Options{Judge: judge.None, Reranker: contextmem.NoReranker})
	sub := acme.Sub("me")
	day := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for i, m := range []contextmem.Memory{{ID: "told", Text: told}, {ID: "other", Text: "Our book club meets at Dee's."}, {ID: "later", Text: later}} {
		m.Time = day.AddDate(0, i, 0)
		_, err := sub.Remember(t.Context(), m)
		require.NoError(t, err)
		require.NoError(t, sub.WaitRefined(t.Context()))
	}
	ask := func(query string, what contextmem.Superseded) (*contextmem.Result, map[string]contextmem.Chunk) {
		r, err := sub.Recall(t.Context(), contextmem.Recall{Query: query, Class: contextmem.ClassMemory, Superseded: what})
		require.NoError(t, err)
		require.NotEmpty(t, r.Chunks)
		by := map[string]contextmem.Chunk{}
		for _, c := range r.Chunks {
			by[c.SourceID] = c
		}
		return r, by
	}
	r, by := ask("what am I allergic to?", "")
	assert.Equal(t, "told", r.Chunks[0].SourceID)
	assert.Nil(t, by["told"].SupersededBy)
	assert.Zero(t, by["told"].ValidTo)

	r, by = ask("am I vegetarian?", "")
	assert.Equal(t, "later", r.Chunks[0].SourceID)
	c := by["told"]
	require.NotNil(t, c.SupersededBy)
	assert.True(t, c.SupersededBy.Partly)
	assert.Equal(t, "I'm vegetarian", c.SupersededBy.Matter)
	assert.Equal(t, day.AddDate(0, 2, 0), c.SupersededBy.Time)
	assert.Zero(t, c.ValidTo, "the rest of it holds")
	assert.Contains(t, r.ContextBlock(500).Text, `superseded 2026-05-01 by later, only "I'm vegetarian"`)

	for _, query := range []string{"am I vegetarian?", "what am I allergic to?", "anything about me?"} {
		r, by = ask(query, contextmem.SupersededDrop)
		if assert.Contains(t, by, "told", "%s: the allergy still holds", query) && by["told"].SupersededBy != nil {
			assert.True(t, by["told"].SupersededBy.Partly, query)
			assert.Contains(t, r.ContextBlock(500).Text, `only "I'm vegetarian"`, query)
		}
	}
	assert.Equal(t, "later", first(ask("am I vegetarian?", contextmem.SupersededDrop)))
	whole, err := sub.Superseded(t.Context(), "told")
	require.NoError(t, err)
	require.NotNil(t, whole[0])
	assert.True(t, whole[0].Partly)

	// What supersedes the whole memory counts more than what supersedes a part of it.
	_, err = sub.Remember(t.Context(), contextmem.Memory{ID: "list", Text: "What I eat and react to is on the list on the fridge.", Time: day.AddDate(0, 3, 0)})
	require.NoError(t, err)
	require.NoError(t, sub.Supersede(t.Context(), "told", "list", "kept elsewhere"))
	_, by = ask("am I vegetarian?", "")
	require.NotNil(t, by["told"].SupersededBy)
	assert.False(t, by["told"].SupersededBy.Partly)
	assert.Equal(t, "list", by["told"].SupersededBy.ID)
	_, by = ask("am I vegetarian?", contextmem.SupersededDrop)
	assert.NotContains(t, by, "told")
	whole, err = sub.Superseded(t.Context(), "told")
	require.NoError(t, err)
	assert.False(t, whole[0].Partly)
}

func first(r *contextmem.Result, _ map[string]contextmem.Chunk) string { return r.Chunks[0].SourceID }

// TestEveryPartSuperseded checks that a memory whose parts were superseded one by one is superseded as a whole.
func TestEveryPartSuperseded(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, &contextmem.Options{Judge: judge.None, Reranker: contextmem.NoReranker})
	sub := acme.Sub("me")
	day := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for i, m := range []contextmem.Memory{{ID: "told", Text: "I'm vegetarian and I drive a Skoda."}, {ID: "diet", Text: "I'm not vegetarian any more."}, {ID: "car", Text: "I don't drive a Skoda any more."}} {
		m.Time = day.AddDate(0, i, 0)
		_, err := sub.Remember(t.Context(), m)
		require.NoError(t, err)
		require.NoError(t, sub.WaitRefined(t.Context()))
		for _, query := range []string{"am I vegetarian?", "what car do I drive?"} {
			r, err := sub.Recall(t.Context(), contextmem.Recall{Query: query, Class: contextmem.ClassMemory, Superseded: contextmem.SupersededDrop})
			require.NoError(t, err)
			held := false
			for _, c := range r.Chunks {
				held = held || c.SourceID == "told"
			}
			assert.Equal(t, m.ID != "car", held, "%s after %s", query, m.ID)
		}
	}
}

// TestDroppedStatementOfEndedPart checks that of a memory of which a part holds, what was inferred from the part that ended is dropped.
func TestDroppedStatementOfEndedPart(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, &contextmem.Options{Judge: judge.None, Reranker: contextmem.NoReranker})
	sub := acme.Sub("me")
	day := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for i, m := range []contextmem.Memory{{ID: "told", Text: "I'm vegetarian and allergic to hazelnuts.", Infer: true}, {ID: "later", Text: "I'm not vegetarian any more."}} {
		m.Time = day.AddDate(0, i, 0)
		_, err := sub.Remember(t.Context(), m)
		require.NoError(t, err)
		require.NoError(t, sub.WaitRefined(t.Context()))
	}
	for _, most := range []int{0, 3} {
		r, err := sub.Recall(t.Context(), contextmem.Recall{Query: "am I vegetarian?", Class: contextmem.ClassMemory, Superseded: contextmem.SupersededDrop, PerSource: most})
		require.NoError(t, err)
		var told []string
		for _, c := range r.Chunks {
			if c.SourceID == "told" {
				told = append(append(told, c.Text), c.Statements...)
			}
		}
		assert.Contains(t, told, "I'm vegetarian and allergic to hazelnuts.", most)
		for _, text := range told {
			assert.True(t, !strings.Contains(text, "egetarian") || strings.Contains(text, "hazelnuts"), "%d: %s", most, text)
		}
	}
}
