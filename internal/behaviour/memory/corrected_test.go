package memory_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// TestCorrectionIsOfTheMessageBefore checks that a corrected day is that of the message before in the session, and of no other message.
func TestCorrectionIsOfTheMessageBefore(t *testing.T) {
	t.Parallel()
	at := servicetest.OnDay("2026-02-19")
	sub := rememberCompared(t, nil,
		contextmem.Memory{ID: "gallery", Text: "the gallery night is on 20 march", Time: at.Add(-48 * time.Hour), Session: "a"},
		contextmem.Memory{ID: "told", Text: "copenhagen is booked, we fly on 14 march", Time: at, Session: "b"},
		contextmem.Memory{ID: "corrected", Text: "wait no. it's the 13th", Time: at.Add(time.Minute), Session: "b"},
		contextmem.Memory{ID: "later", Text: "we fly home on 18 march", Time: at.Add(2 * time.Minute), Session: "b"})
	page, err := sub.Conflicts(t.Context(), facts.ConflictsRequest{})
	require.NoError(t, err)
	require.Len(t, page.Conflicts, 1)
	assert.Equal(t, "told", page.Conflicts[0].Earlier)
	assert.Equal(t, "corrected", page.Conflicts[0].Later)
	assert.Equal(t, "rules: corrected", page.Conflicts[0].Decider)
	ids, by := recallMemories(t, sub, contextmem.Recall{Query: "when do we fly to copenhagen?"})
	require.GreaterOrEqual(t, len(ids), 2)
	assert.Equal(t, "corrected", ids[0])
	assert.Nil(t, by["told"].SupersededBy, "what only orders is not shown")
}
