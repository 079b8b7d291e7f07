package memory_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/judge"
)

// TestOwnSlotsSayWhatAQuestionConcerns: a memory tells of a home, which changed, and of a matter that only a slot of the caller knows. A question
// in the words of that slot finds the memory, and not the one with the new home.
func TestOwnSlotsSayWhatAQuestionConcerns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		slots []facts.Slot
		first string
	}{
		{"own slot", []facts.Slot{{Name: "band", Predicates: []string{"plays_in"}, Asks: []string{"which outfit"}}}, "told"},
		{"standard slots", nil, "moved"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			svc, err := contextmem.Open(t.Context(), t.TempDir(), &contextmem.Options{Judge: judge.None, Reranker: contextmem.NoReranker, Slots: c.slots})
			require.NoError(t, err)
			defer svc.Close()
			_, err = svc.EnsureTenant(t.Context(), contextmem.TenantSpec{ID: "t"})
			require.NoError(t, err)
			sub := svc.Tenant("t").Sub("me")
			for _, m := range []contextmem.Memory{{ID: "told", Text: "I live in Leeds and I drum with The Owls."}, {ID: "moved", Text: "I moved to York."}, {ID: "other", Text: "My sister is a vet."}} {
				_, err := sub.Remember(t.Context(), m)
				require.NoError(t, err)
				require.NoError(t, sub.WaitRefined(t.Context()))
			}
			r, err := sub.Recall(t.Context(), contextmem.Recall{Query: "Which outfit am I with in Leeds?", Class: contextmem.ClassMemory})
			require.NoError(t, err)
			require.NotEmpty(t, r.Chunks)
			assert.Equal(t, c.first, r.Chunks[0].SourceID)
		})
	}
}
