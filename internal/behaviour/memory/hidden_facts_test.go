package memory_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// TestHiddenFacts checks that facts, profiles and the instructions of a recall come from documents visible to the
// principal.
func TestHiddenFacts(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		s := tn.Sub("facts")
		servicetest.Remember(t, s, contextmem.Memory{ID: "open", Text: "I live in Oslo.", UserName: "Anna", Infer: true, Time: servicetest.OnDay("2020-01-01")},
			contextmem.Memory{ID: "hidden", Text: "I moved to Lisbon.", UserName: "Anna", Infer: true, Time: servicetest.OnDay("2021-01-01")},
			contextmem.Memory{ID: "order", Text: "Always answer in French.", UserName: "Anna", Infer: true, Time: servicetest.OnDay("2021-01-01")})
		_, err := s.Wait(t.Context(), "open", "hidden", "order")
		require.NoError(t, err)
		for _, id := range []string{"hidden", "order"} {
			_, err := s.EditMetadata(t.Context(), contextmem.EditMetadataRequest{Class: contextmem.ClassMemory, ID: id, ACL: &[]string{"boss"}})
			require.NoError(t, err)
		}
		for who, want := range map[string]string{"guest": "oslo", "boss": "lisbon"} {
			p, err := s.Facts(t.Context(), facts.Request{Subject: "Anna", Slot: "home", Principals: []string{who}})
			require.NoError(t, err)
			require.Len(t, p.Facts, 1, who)
			require.Equal(t, want, p.Facts[0].Object, who)
			profile, err := s.Profile(t.Context(), facts.ProfileRequest{Subject: "Anna", Principals: []string{who}})
			require.NoError(t, err)
			require.Len(t, profile.Slots, 1, who)
			require.Equal(t, want, profile.Slots[0].Facts[0].Object, who)
			require.Equal(t, who == "boss", len(profile.Instructions) > 0, who)
			for range 2 { // the second is answered from what is remembered, where that may be
				res, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "where does Anna live?", Principals: []string{who}})
				require.NoError(t, err)
				require.Equal(t, who == "boss", len(res.Instructions) > 0, who)
				all, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "where does Anna live?"})
				require.NoError(t, err)
				require.NotEmpty(t, all.Instructions)
			}
		}
	})
}
