package recall_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// TestConditionalStatementsRankLower checks that a statement under a condition ranks below one that happened, only for
// questions about what happened. Explain has the difference.
func TestConditionalStatementsRankLower(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		s := tn.Sub("a")
		res, err := s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{
			{ID: "condition", Text: "Mia: The shop at the harbour opens in May, if the fire brigade agrees to the opening.", Time: servicetest.OnDay("2026-03-01")},
			{ID: "event", Text: "Mia: We opened the shop with a small party for friends last weekend.", Time: servicetest.OnDay("2026-06-02")},
		}})
		require.NoError(t, err)
		_, err = s.Wait(t.Context(), res.IDs()...)
		require.NoError(t, err)
		for question, first := range map[string]string{
			"When did the opening of the shop at the harbour happen?": "event",
			"When would the shop at the harbour open?":                "condition",
		} {
			res, err := s.Recall(t.Context(), contextmem.Recall{Query: question, Class: contextmem.ClassMemory})
			require.NoError(t, err)
			require.Len(t, res.Chunks, 2)
			for _, c := range res.Chunks {
				lost := c.SourceID == "condition" && first == "event"
				assert.Equal(t, lost, c.Explain.Time < 0, c.SourceID)
			}
			assert.Equal(t, first, res.Chunks[0].SourceID, question)
		}
	})
}
