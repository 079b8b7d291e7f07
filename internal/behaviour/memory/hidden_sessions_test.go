package memory_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// TestHiddenSessions checks that memories hidden from a principal are in no session shown to them and do not count.
func TestHiddenSessions(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		s := tn.Sub("a")
		servicetest.Remember(t, s, contextmem.Memory{ID: "open", Text: "The kettle is on the shelf.", Session: "shared", Time: servicetest.OnDay("2020-01-01")},
			contextmem.Memory{ID: "hidden", Text: "The safe is behind the painting.", Session: "shared", Time: servicetest.OnDay("2021-01-01")},
			contextmem.Memory{ID: "secret", Text: "The code is 1234.", Session: "a secret session", Time: servicetest.OnDay("2021-01-01")},
			contextmem.Memory{ID: "other", Text: "The cat sleeps.", Session: "third", Time: servicetest.OnDay("2021-01-01")})
		for _, id := range []string{"hidden", "secret"} {
			_, err := s.EditMetadata(t.Context(), contextmem.EditMetadataRequest{Class: contextmem.ClassMemory, ID: id, ACL: &[]string{"boss"}})
			require.NoError(t, err)
		}
		sessions := func(limit int, who ...string) (out []content.Session) {
			r := content.SessionsRequest{Principals: who, Limit: limit}
			for {
				page, err := s.Sessions(t.Context(), r)
				require.NoError(t, err)
				out = append(out, page.Sessions...)
				if r.Cursor = page.Next; r.Cursor == "" {
					return out
				}
				if len(who) > 0 && who[0] == "guest" {
					require.NotContains(t, r.Cursor, "secret", "a cursor names nothing hidden")
				}
			}
		}
		texts := func(session string, who ...string) (out []string) {
			page, err := s.SessionMessages(t.Context(), content.SessionMessagesRequest{Session: session, Principals: who})
			require.NoError(t, err)
			for _, m := range page.Messages {
				out = append(out, m.Text)
			}
			return out
		}
		for _, limit := range []int{1, 100} {
			require.Equal(t, []content.Session{{Name: "shared", Memories: 1, First: servicetest.OnDay("2020-01-01"), Last: servicetest.OnDay("2020-01-01")},
				{Name: "third", Memories: 1, First: servicetest.OnDay("2021-01-01"), Last: servicetest.OnDay("2021-01-01")}}, sessions(limit, "guest"))
			require.Equal(t, sessions(limit), sessions(limit, "boss"))
			require.Len(t, sessions(limit), 3)
		}
		require.Equal(t, []string{"The kettle is on the shelf."}, texts("shared", "guest"))
		require.Empty(t, texts("a secret session", "guest"))
		require.Len(t, texts("shared"), 2)
		require.Equal(t, texts("shared"), texts("shared", "boss"))
	})
}

// TestHiddenConflicts checks that an undecided pair of memories is shown only to principals who may see both.
func TestHiddenConflicts(t *testing.T) {
	t.Parallel()
	sub := rememberCompared(t, fixedJudge{replaces: map[[2]string]float64{{"Lisbon", "Porto"}: .95, {"Lisbon", "Faro"}: .6}}, homeMemories()...)
	list := func(who ...string) int {
		page, err := sub.Conflicts(t.Context(), facts.ConflictsRequest{Principals: who})
		require.NoError(t, err)
		found := page.Conflicts
		return len(found)
	}
	require.Equal(t, []int{1, 1}, []int{list(), list("guest")})
	for _, id := range []string{"faro", "lisbon"} {
		t.Run(id, func(t *testing.T) {
			_, err := sub.EditMetadata(t.Context(), contextmem.EditMetadataRequest{Class: contextmem.ClassMemory, ID: id, ACL: &[]string{"boss"}})
			require.NoError(t, err)
			require.Equal(t, []int{1, 1, 0}, []int{list(), list("boss"), list("guest")})
			_, err = sub.EditMetadata(t.Context(), contextmem.EditMetadataRequest{Class: contextmem.ClassMemory, ID: id, ACL: &[]string{}})
			require.NoError(t, err)
		})
	}
}
