package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/servicetest"
)

func TestMergesCanBeUndone(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		c := servicetest.NewStory(t, tn, contextmem.Memory{Text: "Bob lives in Lisbon.", Time: servicetest.OnDay("2020-03-01")}, contextmem.Memory{Text: "Robert Smith moved to Porto.", Time: servicetest.OnDay("2022-03-01")})
		ctx := t.Context()
		names := func(names ...string) []string {
			es, err := c.Entities(ctx, facts.LookupRequest{Class: contextmem.ClassMemory, Names: names})
			require.NoError(t, err)
			out := make([]string, len(es))
			for i, e := range es {
				if e != nil {
					out[i] = e.Name
				}
			}
			return out
		}
		apart := []string{"bob lisbon", "robert smith porto"}
		require.Equal(t, apart, c.GraphStates("lives_in", nil))
		require.Equal(t, []string{"bob", "robert smith", ""}, names("BOB", "Robert Smith", "nobody"))
		m, err := c.MergeEntities(ctx, contextmem.MergeEntitiesRequest{Class: contextmem.ClassMemory, From: "Bob", Into: "Robert Smith", Reason: "one person"})
		require.NoError(t, err)
		require.Equal(t, []any{"bob", "robert smith", "one person", false}, []any{m.From, m.Into, m.Reason, m.Undone})
		require.Equal(t, []string{"robert smith porto"}, c.GraphStates("lives_in", nil), "facts of one person retire one another")
		require.Equal(t, []string{"robert smith", "robert smith"}, names("Bob", "Robert Smith"))
		servicetest.Remember(t, c.Sub, contextmem.Memory{ID: "later", Text: "Bob works at Acme.", Time: servicetest.OnDay("2022-04-01")})
		c.Text += "Bob works at Acme."
		require.Equal(t, []string{"robert smith acme"}, c.GraphStates("works_at", nil), "later mentions follow")

		_, err = c.MergeEntities(ctx, contextmem.MergeEntitiesRequest{Class: contextmem.ClassMemory, From: "Robert Smith", Into: "Bob"})
		require.ErrorIs(t, err, contextmem.ErrConflict)
		_, err = c.MergeEntities(ctx, contextmem.MergeEntitiesRequest{Class: contextmem.ClassMemory, From: "nobody", Into: "Bob"})
		require.ErrorIs(t, err, contextmem.ErrNotFound)
		_, err = c.MergeEntities(ctx, contextmem.MergeEntitiesRequest{Class: contextmem.ClassMemory, Into: "Bob"})
		require.ErrorIs(t, err, contextmem.ErrInvalid)
		_, err = c.Entities(ctx, facts.LookupRequest{Class: contextmem.ClassAll, Names: []string{"Bob"}})
		require.ErrorIs(t, err, contextmem.ErrInvalid)
		require.ErrorIs(t, tn.Sub("other").UndoMerge(ctx, contextmem.ClassMemory, m.ID), contextmem.ErrNotFound, "another sub-tenant")
		require.ErrorIs(t, c.UndoMerge(ctx, contextmem.ClassKnowledge, m.ID), contextmem.ErrNotFound, "another graph")

		require.NoError(t, c.UndoMerge(ctx, contextmem.ClassMemory, m.ID))
		require.Equal(t, apart, c.GraphStates("lives_in", nil))
		require.Equal(t, []string{"bob acme"}, c.GraphStates("works_at", nil))
		require.ErrorIs(t, c.UndoMerge(ctx, contextmem.ClassMemory, m.ID), contextmem.ErrConflict)
		page, err := c.Merges(ctx, facts.MergesRequest{Class: contextmem.ClassMemory})
		require.NoError(t, err)
		ms := page.Merges
		require.Len(t, ms, 1)
		require.True(t, ms[0].Undone)
		page, err = c.Merges(ctx, facts.MergesRequest{Class: contextmem.ClassMemory, After: ms[0].ID})
		require.NoError(t, err)
		ms = page.Merges
		require.Empty(t, ms)
	})
}

func TestSharedEntitiesSurvive(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		c := servicetest.NewStory(t, tn, contextmem.Memory{Text: "Anna works at Acme Inc."}, contextmem.Memory{Text: "Boris works at Acme Inc."})
		_, err := c.DeleteItems(t.Context(), contextmem.DeleteItemsRequest{IDs: []string{"m1"}})
		require.NoError(t, err)
		es, err := c.Entities(t.Context(), facts.LookupRequest{Class: contextmem.ClassMemory, Names: []string{"Anna", "Boris", "Acme Inc"}})
		require.NoError(t, err)
		require.Nil(t, es[0], "nothing mentions her any more")
		require.NotNil(t, es[1])
		require.NotNil(t, es[2])
		require.Equal(t, []string{"boris acme inc"}, c.GraphStates("works_at", nil))
	})
}

// TestEqualStatementsAreOneResult checks that the statement inferred from two memories in the same words is recalled
// once, names both, and can be read beside each.
func TestEqualStatementsAreOneResult(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		s := tn.Sub("a")
		servicetest.Remember(t, s, contextmem.Memory{ID: "one", Text: "Well, I like green tea!", Infer: true}, contextmem.Memory{ID: "two", Text: "As I said: I like green tea.", Infer: true})
		servicetest.Remember(t, s, contextmem.Memory{ID: "pair", Infer: true, Pairs: []contextmem.Pair{{User: "Hello.", Assistant: "Do you like green tea?"}, {User: "Yes.", Assistant: "Good."}}})
		read := func(max int) (inferred []contextmem.Chunk, originals int) {
			res, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "Which tea does the user like?", PerSource: 2, MaxResults: max})
			require.NoError(t, err)
			for _, c := range res.Chunks {
				if c.Inferred {
					inferred = append(inferred, c)
				} else {
					originals++
					require.Empty(t, c.AlsoFrom)
				}
			}
			return inferred, originals
		}
		said, originals := read(10)
		require.Equal(t, 3, originals)
		require.Len(t, said, 1)
		require.Equal(t, "User likes green tea.", said[0].Text)
		require.ElementsMatch(t, []string{"one", "two", "pair"}, append(said[0].AlsoFrom, said[0].SourceID))
		for _, id := range []string{"one", "two", "pair"} {
			f, err := s.Fetch(t.Context(), contextmem.FetchRequest{ID: id})
			require.NoError(t, err)
			require.Equal(t, "User likes green tea.", f.Inferred)
			require.NotEqual(t, f.Text, f.Inferred)
		}
		said, originals = read(2)
		require.Equal(t, 2, len(said)+originals, "what is left out makes room")
		_, err := s.DeleteItems(t.Context(), contextmem.DeleteItemsRequest{IDs: []string{"one", "pair"}})
		require.NoError(t, err)
		said, _ = read(10)
		require.Len(t, said, 1)
		require.Equal(t, "two", said[0].SourceID)
		require.Empty(t, said[0].AlsoFrom)
	})
}

// TestEqualFactsHaveOneEntryWithTheirSources checks that equal statements of two memories are one statement with two
// pieces of evidence, which lasts as long as either memory.
func TestEqualFactsHaveOneEntryWithTheirSources(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		c := servicetest.NewStory(t, tn, contextmem.Memory{Text: "My favourite color is green.", Infer: true}, contextmem.Memory{Text: "Hello! My favorite colour is Green.", Infer: true})
		evidence := func() int {
			p, err := c.GraphRelations(t.Context(), contextmem.GraphRelationsRequest{Class: contextmem.ClassMemory})
			require.NoError(t, err)
			if len(p.Groups) == 0 {
				return 0
			}
			require.Len(t, p.Groups, 1)
			require.Equal(t, "green", p.Groups[0].Target.Name)
			seen := map[string]bool{}
			for _, e := range p.Groups[0].Relations {
				require.Equal(t, "favorite_color", e.Canonical)
				seen[e.ChunkID] = true
			}
			return len(seen)
		}
		require.Equal(t, 2, evidence())
		for i, id := range []string{"m2", "m1"} {
			_, err := c.DeleteItems(t.Context(), contextmem.DeleteItemsRequest{IDs: []string{id}})
			require.NoError(t, err)
			require.Equal(t, 1-i, evidence())
		}
	})
}
