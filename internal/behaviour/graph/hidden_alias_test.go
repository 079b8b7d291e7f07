package graph_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// TestHiddenAliases checks that a document hidden from a principal reveals no other name and no type of an entity.
func TestHiddenAliases(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		s := tn.Sub("a")
		servicetest.AddDocuments(t, s, contextmem.File{ID: "open", Data: []byte("Bob Lind works at Zorblax Industries."), Time: servicetest.OnDay("2020-01-01")},
			contextmem.File{ID: "hidden", Data: []byte("Robert Kilimanjaro, also known as Bob Lind, lives in Oslo."), Time: servicetest.OnDay("2021-01-01"), ACL: []string{"boss"}})
		for _, who := range [][]string{{"guest"}, {"boss"}} {
			page, err := s.GraphRelations(t.Context(), contextmem.GraphRelationsRequest{Principals: who})
			require.NoError(t, err)
			res, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassKnowledge, Query: "Where does Bob Lind work?", GraphContext: true, Principals: who})
			require.NoError(t, err)
			for what, x := range map[string]any{"relations": page, "recall": res} {
				b, err := json.Marshal(x)
				require.NoError(t, err)
				require.Equal(t, who[0] == "boss", strings.Contains(strings.ToLower(string(b)), "kilimanjaro"), "%s of %v: %s", what, who, b)
			}
		}
	})
}
