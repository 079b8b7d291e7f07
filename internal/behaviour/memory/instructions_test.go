package memory_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// TestInstructionsForOccasions checks that an instruction for one occasion does not take the place of one for another, and that a later
// one for the same occasion does.
func TestInstructionsForOccasions(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	anna := acme.Sub("anna")
	rememberStatements(t, anna, "Always give short answers when I ask about recipes.", "Always give detailed answers when I ask about taxes.", "Always give detailed answers when I ask about recipes.")
	res, err := anna.Recall(t.Context(), contextmem.Recall{Query: "what sport?", Class: contextmem.ClassMemory})
	require.NoError(t, err)
	var got []string
	for _, x := range res.Instructions {
		got = append(got, x.SourceID)
	}
	assert.Equal(t, []string{"m2", "m1"}, got)
}
