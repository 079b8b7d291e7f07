package memory_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// TestToldLater checks that what was told after AsOf is marked in chunks, facts, paths and texts for prompts, and that KnownAt leaves it out.
func TestToldLater(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		told, before := servicetest.OnDay("2024-05-01"), servicetest.OnDay("2024-01-01")
		c := servicetest.NewStory(t, tn, contextmem.Memory{ID: "lisbon", Text: "Clara lives in Lisbon.", Infer: true, Time: told})
		ask := func(asOf, knownAt time.Time) *contextmem.Result {
			res, err := c.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "Where does Clara live?", GraphContext: true, AsOf: asOf, KnownAt: knownAt})
			require.NoError(t, err)
			return res
		}
		marks := func(asOf time.Time) []bool {
			res := ask(asOf, time.Time{})
			require.NotEmpty(t, res.Chunks)
			require.Len(t, res.Graph.QueryPaths, 1)
			page, err := c.Facts(t.Context(), facts.Request{Subject: "Clara", Predicate: "lives_in", AsOf: asOf})
			require.NoError(t, err)
			require.Len(t, page.Facts, 1)
			require.Equal(t, facts.Current, page.Facts[0].Status)
			noted := len(res.ContextBlock(200).Text) > len("[1] 2024-05-01\nClara lives in Lisbon.\n")
			return []bool{res.Chunks[0].ToldLater, res.Graph.QueryPaths[0].Triplets[0].Relation.ToldLater, page.Facts[0].ToldLater, noted}
		}
		require.Equal(t, []bool{true, true, true, true}, marks(before))
		for _, asOf := range []time.Time{{}, told, told.AddDate(0, 1, 0)} {
			require.Equal(t, []bool{false, false, false, false}, marks(asOf), "as of %s", asOf)
		}
		w := ask(before, time.Time{}).Warnings
		require.Len(t, w, 1)
		require.Equal(t, []string{"told_later", "AsOf"}, []string{w[0].Code, w[0].Field})
		require.Contains(t, w[0].Message, "2024-01-01T00:00:00Z")

		res := ask(time.Time{}, before)
		require.Empty(t, res.Chunks)
		require.Empty(t, res.Graph.QueryPaths)
		page, err := c.Facts(t.Context(), facts.Request{Subject: "Clara", KnownAt: before})
		require.NoError(t, err)
		require.Empty(t, page.Facts)

		servicetest.Remember(t, c.Sub, contextmem.Memory{ID: "porto", Text: "Clara lived with her aunt in Porto.", Time: servicetest.OnDay("2023-06-01")})
		res = ask(before, time.Time{})
		require.Equal(t, "porto", res.Chunks[0].SourceID, "it had been told by then")
		require.False(t, res.Chunks[0].ToldLater)
		require.Empty(t, res.Warnings)
	})
}
