package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/servicetest"
)

func TestStatedAliasesFoldByThemselves(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		ctx := t.Context()
		c := servicetest.NewStory(t, tn, contextmem.Memory{Text: "Bob lives in Lisbon.", Time: servicetest.OnDay("2020-03-01")}, contextmem.Memory{Text: "Robert Smith moved to Porto.", Time: servicetest.OnDay("2022-03-01")})
		apart := []string{"bob lisbon", "robert smith porto"}
		require.Equal(t, apart, c.GraphStates("lives_in", nil))
		c.Add(contextmem.Memory{ID: "says", Text: "Robert Smith, also known as Bob, met Clara."})
		require.Equal(t, []string{"robert smith porto"}, c.GraphStates("lives_in", nil), "facts of one person retire one another")
		require.Equal(t, []string{"robert smith", "robert smith"}, c.Resolve("Bob", "Robert Smith"))
		page, err := c.Merges(ctx, facts.MergesRequest{Class: contextmem.ClassMemory})
		require.NoError(t, err)
		ms := page.Merges
		require.Len(t, ms, 1)
		require.Equal(t, []any{"bob", "robert smith", "Robert Smith, also known as Bob, met Clara.", true, false}, []any{ms[0].From, ms[0].Into, ms[0].Reason, ms[0].Stated, ms[0].Undone})

		c.Remove("says")
		require.Equal(t, apart, c.GraphStates("lives_in", nil), "the source that stated it is gone")
		page, err = c.Merges(ctx, facts.MergesRequest{Class: contextmem.ClassMemory})
		require.NoError(t, err)
		ms = page.Merges
		require.True(t, ms[0].Undone)

		c.Add(contextmem.Memory{ID: "again", Text: "I had lunch with Bob (Robert Smith)."})
		require.Equal(t, []string{"robert smith"}, c.Resolve("Bob"))
		page, err = c.Merges(ctx, facts.MergesRequest{Class: contextmem.ClassMemory, After: ms[0].ID})
		require.NoError(t, err)
		ms = page.Merges
		require.Len(t, ms, 1)
		require.NoError(t, c.UndoMerge(ctx, contextmem.ClassMemory, ms[0].ID))
		require.Equal(t, apart, c.GraphStates("lives_in", nil))
		c.Add(contextmem.Memory{ID: "once more", Text: "Robert Smith, aka Bob, called."})
		require.Equal(t, []string{"bob"}, c.Resolve("Bob"), "who took it back knows better")
	})
}

func TestAmbiguousAliasesFoldNothing(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		c := servicetest.NewStory(t, tn, contextmem.Memory{ID: "one", Text: "I met Robert Smith (Bob)."}, contextmem.Memory{Text: "Bob lives in Lisbon."})
		require.Equal(t, []string{"robert smith"}, c.Resolve("bob"))
		c.Add(contextmem.Memory{ID: "two", Text: "I met Robert Jones (Bob)."})
		require.Equal(t, []string{"bob"}, c.Resolve("bob"), "two of that name")
		require.Equal(t, []string{"bob lisbon"}, c.GraphStates("lives_in", nil))
		c.Remove("one")
		require.Equal(t, []string{"robert jones"}, c.Resolve("bob"))
	})
}

func TestFirstNamesFollowTheOnlyFullName(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		c := servicetest.NewStory(t, tn, contextmem.Memory{Text: "Clara Berg works at Zorblax."}, contextmem.Memory{Text: "Clara lives in Oslo."})
		require.Equal(t, []string{"clara berg", "clara berg"}, c.Resolve("Clara", "Clara Berg"))
		require.Equal(t, []string{"clara berg oslo"}, c.GraphStates("lives_in", nil))
		c.Add(contextmem.Memory{ID: "other", Text: "Clara Roth called me."})
		require.Equal(t, []string{"clara oslo"}, c.GraphStates("lives_in", nil), "there are two")
		c.Remove("other")
		require.Equal(t, []string{"clara berg oslo"}, c.GraphStates("lives_in", nil))
		c.Add(contextmem.Memory{ID: "m1", Text: "The kettle is blue."})
		require.Equal(t, []string{"clara oslo"}, c.GraphStates("lives_in", nil), "nobody has the full name any more")
	})
}

func TestAcronymsFoldInKnowledge(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		s := tn.Sub("k")
		servicetest.AddDocuments(t, s, contextmem.File{ID: "one", Data: []byte("International Business Machines (IBM) was founded in Endicott.")}, contextmem.File{ID: "two", Data: []byte("Anna Lind works at IBM.")},
			contextmem.File{ID: "three", Data: []byte("Anna lives in Porto.")})
		es, err := s.Entities(t.Context(), facts.LookupRequest{Class: contextmem.ClassKnowledge, Names: []string{"IBM", "Anna", "Anna Lind"}})
		require.NoError(t, err)
		require.Equal(t, "international business machines", es[0].Name)
		require.Equal(t, "anna", es[1].Name, "documents speak of many people")
		require.Equal(t, "anna lind", es[2].Name)
		res, err := s.Recall(t.Context(), contextmem.Recall{Query: "Who works at International Business Machines?", GraphContext: true})
		require.NoError(t, err)
		require.Equal(t, "anna lind works_at international business machines", servicetest.PathText(res.Graph.QueryPaths[0]))
	})
}
