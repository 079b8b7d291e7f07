package recall_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// TestClassLeftOut checks that without a class knowledge is searched, or memories if the sub-tenant has nothing else.
func TestClassLeftOut(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		s := tn.Sub("c")
		servicetest.Remember(t, s, contextmem.Memory{ID: "m", Text: "The kettle is blue."})
		ask := func() []*contextmem.Result {
			one, err := s.Recall(t.Context(), contextmem.Recall{Query: "blue kettle"})
			require.NoError(t, err)
			two, err := s.BooleanRecall(t.Context(), contextmem.BooleanRecallRequest{Query: "kettle"})
			require.NoError(t, err)
			return []*contextmem.Result{one, two}
		}
		for _, res := range ask() {
			require.Equal(t, []string{"m"}, sourceIDs(res))
			require.Len(t, res.Warnings, 1)
			require.Equal(t, "resolved", res.Warnings[0].Code)
		}
		servicetest.AddDocuments(t, s, contextmem.File{ID: "k", Data: []byte("The lamp is green.")})
		for _, res := range ask() {
			require.NotContains(t, sourceIDs(res), "m", "there is knowledge")
			require.Empty(t, res.Warnings)
		}
	})
}
